/** Computes answers, and keeps them with the version of the data that they were computed from. */
import type {
  AnalyticsQueryRequest,
  AnalyticsQueryResponse,
  AnswerSource,
} from '../../contract/api.js'
import type { Plan } from '../plan/plan.js'
import type { QueriedProject } from '../query-analytics.js'
import type { Query } from '../request/query.js'
import { isEmptyFrom, nameAnswer, type ProjectFacts } from './answer-name.js'
import type { AnswerStore } from './answer-store.js'
import type { NameCounter } from './name-counter.js'
import type { SharedWork } from './share-work.js'

export interface Question {
  readonly request: AnalyticsQueryRequest
  readonly project: QueriedProject
  /** Only questions with the same asker share their work, because it counts for the asker. */
  readonly asker: string
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal
  /** The moment at which the question is asked; the clock says it if left out. The computation knows the same. */
  readonly now?: Date | undefined
}

/** Computes the answer to a question. */
export type Compute = (options: {
  readonly signal: AbortSignal
  /** What is known about the data when the question is asked. The computation adds what it learns. */
  readonly facts: ProjectFacts
  /** To be called with the plan. */
  readonly onPlan: (plan: Plan) => void
}) => Promise<AnalyticsQueryResponse>

export interface AnswersOptions {
  /** The room for answers; 0 to keep none. Equal questions at the same time share their work in any case. */
  readonly maxBytes: number
  /** Returns the version of a project's data; undefined while it is changing or unknown. */
  readonly readVersion: (project: QueriedProject) => Promise<string | undefined>
  /** Returns the version that was seen last, without waiting; undefined if none was. It may be out of date. */
  readonly getLastVersion: (project: QueriedProject) => string | undefined
  /** Whether a version is still that of the project's data, as far as is known without waiting. */
  readonly isCurrent: (project: QueriedProject, version: string) => boolean
  /** Whether a project has events at a moment or later. */
  readonly hasEventsFrom: (project: QueriedProject, moment: Date) => Promise<boolean>
  /** Whether the rollups of a project may be read. */
  readonly readsRollups: (project: QueriedProject) => boolean
  readonly now: () => Date
  readonly onAnswer?: ((source: AnswerSource) => void) | undefined
}

/** A computed answer. */
export interface Computed {
  /** The response to the one that asked first. */
  readonly body: AnalyticsQueryResponse
  /** Its rows, as JSON. */
  readonly rows: string
  /** What was computed; undefined if the computation did not say so. */
  readonly query: Query | undefined
}

/** What answers are made with. */
export type Cache = AnswersOptions & {
  readonly store: AnswerStore
  readonly shared: SharedWork<Computed>
  /** The names of the answers that are being computed or waited for. */
  readonly underWay: NameCounter
}

/** A question, and what is known about the data when it is asked. */
export interface Work {
  readonly question: Question
  readonly compute: Compute
  /** The version of the data that was read, or seen, before; undefined if there was none. */
  readonly version: string | undefined
  /** Whether the version was read for this question; otherwise it is the last one that was seen. */
  readonly isVersionCurrent: boolean
  readonly facts: ProjectFacts
}

/** Computes an answer, and keeps it if the data has a version. */
export async function computeAndKeep(
  cache: Cache,
  work: Work,
  signal: AbortSignal,
): Promise<Computed> {
  const { project } = work.question
  const plans: Plan[] = []
  const isFromRollups = cache.readsRollups(project)
  const body = await work.compute({
    signal,
    facts: work.facts,
    onPlan: (plan) => plans.push(plan),
  })
  const query = plans[0]?.query
  const rows = writeRows(body)
  if (query !== undefined) {
    const name = (): string => nameAnswer(project, query, work.facts, isFromRollups)
    // Nobody waits for this. If it fails, the answer is computed again.
    void keep(cache, work, query, name, rows).catch(() => undefined)
  }
  return { body, rows, query }
}

/** Keeps the answer to a query, at once if its version of the data is known to be the current one. */
async function keep(
  { store, maxBytes, hasEventsFrom, readVersion, now }: Cache,
  { question: { project }, version, facts, isVersionCurrent }: Work,
  { period: { end } }: Query,
  name: () => string,
  rows: string,
): Promise<void> {
  if (version === undefined || maxBytes === 0) return
  if (!isVersionCurrent && (await readVersion(project)) !== version) return
  store.set(project.id, version, name(), rows)
  if (end <= now() || isEmptyFrom(facts, end)) return
  // Until this is known, the answer is kept for the rest of the second.
  if ((await hasEventsFrom(project, end)) || isEmptyFrom(facts, end)) return
  facts.emptyFrom = end
  store.set(project.id, version, name(), rows)
}

/** Writes the part of a response that does not repeat the question, as JSON. */
const writeRows = ({ pagination, data, totals }: AnalyticsQueryResponse): string =>
  JSON.stringify({ pagination, data, totals })
