/**
 * Answers questions, from memory where the answer is known to be the same as if it were computed now.
 *
 * An answer is kept with the version of the project's data that was read before it was computed, and given while the
 * version is that one. Nothing of a later version is visible before the version is unknown to every service, so an
 * answer that was given is the one that the store would give at that moment.
 */
import type {
  AnalyticsQueryRequest,
  AnalyticsQueryResponse,
  AnswerSource,
} from '../../contract/api.js'
import { ApiError } from '../../contract/errors.js'
import type { Plan } from '../plan/plan.js'
import { resolveRequest, type QueriedProject } from '../query-analytics.js'
import type { Query } from '../request/query.js'
import { shapeEcho } from '../response.js'
import { isEmptyFrom, nameAnswer, type ProjectFacts } from './answer-name.js'
import { createAnswerStore, type AnswerStore } from './answer-store.js'
import { createSharedWork, type SharedWork } from './share-work.js'

export interface Answer {
  readonly source: AnswerSource
  /** The body of the response, as JSON. */
  readonly text: string
  /** The same as an object, if it was computed for this question. */
  readonly body?: AnalyticsQueryResponse
}

export interface Question {
  readonly request: AnalyticsQueryRequest
  readonly project: QueriedProject
  /** Only questions with the same asker share their work, because it counts for the asker. */
  readonly asker: string
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal
}

/** Computes the answer to a question. */
export type Compute = (options: {
  readonly signal: AbortSignal
  /** What is known about the data when the question is asked. The computation adds what it learns. */
  readonly facts: ProjectFacts
  /** To be called with the plan. */
  readonly onPlan: (plan: Plan) => void
}) => Promise<AnalyticsQueryResponse>

export interface Answers {
  /** @throws what `compute` rejects with, or the reason of the question's signal */
  readonly answer: (question: Question, compute: Compute) => Promise<Answer>
  /** Returns how many bytes the kept answers take. */
  readonly countBytes: () => number
}

export interface AnswersOptions {
  /** The room for answers; 0 to keep none. Equal questions at the same time share their work in any case. */
  readonly maxBytes: number
  /** Returns the version of a project's data; undefined while it is changing or unknown. */
  readonly readVersion: (projectId: string) => Promise<string | undefined>
  /** Whether a version is still that of the project's data, as far as is known without waiting. */
  readonly isCurrent: (projectId: string, version: string) => boolean
  /** Whether a project has events at a moment or later. */
  readonly hasEventsFrom: (projectId: string, moment: Date) => Promise<boolean>
  /** Whether the rollups may be read. */
  readonly readsRollups: () => boolean
  readonly now: () => Date
  readonly onAnswer?: ((source: AnswerSource) => void) | undefined
}

/** A computed answer. */
interface Computed {
  /** The response to the one that asked first. */
  readonly body: AnalyticsQueryResponse
  /** Its rows, as JSON. */
  readonly rows: string
  /** What was computed; undefined if the computation did not say so. */
  readonly query: Query | undefined
}

export function createAnswers(options: AnswersOptions): Answers {
  const store = createAnswerStore(options.maxBytes)
  const cache: Cache = { ...options, store, shared: createSharedWork<Computed>() }
  return {
    answer: async (question, compute) => {
      const given = await answer(cache, question, compute)
      options.onAnswer?.(given.source)
      return given
    },
    countBytes: store.countBytes,
  }
}

type Cache = AnswersOptions & {
  readonly store: AnswerStore
  readonly shared: SharedWork<Computed>
}

async function answer(cache: Cache, question: Question, compute: Compute): Promise<Answer> {
  const { store, shared, now } = cache
  const { request, project, asker, signal } = question
  const version = await cache.readVersion(project.id)
  const facts = version === undefined ? {} : store.getFacts(project.id, version)
  const work: Work = { question, compute, version, facts }
  const query = resolveKnown(question, facts, now())
  if (version === undefined || query === undefined) {
    return toMiss(await computeAndKeep(cache, work, signal))
  }
  const isFromRollups = cache.readsRollups()
  const nameNow = (one: Query): string => nameAnswer(project, one, facts, isFromRollups)
  const name = nameNow(query)
  const kept = store.get(project.id, version, name)
  const text = kept === undefined ? undefined : writeAnswer(request, query, kept)
  // Last of all, because the process may have been suspended. From here to the socket nothing is waited for.
  if (!cache.isCurrent(project.id, version)) {
    return toMiss(await computeAndKeep(cache, { ...work, version: undefined }, signal))
  }
  if (text !== undefined) return { source: 'hit', text }
  const { result, hasJoined } = await shared.share(
    JSON.stringify([asker, version, name]),
    signal,
    (whileWanted) => computeAndKeep(cache, work, whileWanted),
  )
  if (!hasJoined) return toMiss(result)
  // The one that asked first may have waited for its turn until the period that ends now was another one.
  const isSame = result.query !== undefined && nameNow(result.query) === nameNow(query)
  if (isSame) return { source: 'coalesced', text: writeAnswer(request, query, result.rows) }
  return toMiss(await computeAndKeep(cache, work, signal))
}

/** A question, and what is known about the data when it is asked. */
interface Work {
  readonly question: Question
  readonly compute: Compute
  readonly version: string | undefined
  readonly facts: ProjectFacts
}

/** Computes an answer, and keeps it if the data has a version. */
async function computeAndKeep(
  { store, hasEventsFrom, readsRollups, now }: Cache,
  { question: { project }, compute, version, facts }: Work,
  signal: AbortSignal,
): Promise<Computed> {
  const plans: Plan[] = []
  const isFromRollups = readsRollups()
  const body = await compute({ signal, facts, onPlan: (plan) => plans.push(plan) })
  const query = plans[0]?.query
  const rows = writeRows(body)
  if (version === undefined || query === undefined) return { body, rows, query }
  const keep = (): void =>
    store.set(project.id, version, nameAnswer(project, query, facts, isFromRollups), rows)
  keep()
  const { end } = query.period
  if (end > now() && !isEmptyFrom(facts, end)) {
    // Nobody waits for this. If it fails, the answer is kept until the next second.
    void hasEventsFrom(project.id, end).then(
      (hasEvents) => {
        if (hasEvents || isEmptyFrom(facts, end)) return
        facts.emptyFrom = end
        keep()
      },
      () => undefined,
    )
  }
  return { body, rows, query }
}

const toMiss = ({ body }: Computed): Answer => ({
  source: 'miss',
  body,
  text: JSON.stringify(body),
})

/**
 * Resolves a question without the store; returns undefined when that needs the first event, which is unknown, or the
 * question is refused: its computation refuses it in its turn.
 */
function resolveKnown(
  { request, project }: Question,
  { firstEventAt }: ProjectFacts,
  now: Date,
): Query | undefined {
  if (request.date_range === 'all' && firstEventAt === undefined) return undefined
  try {
    return resolveRequest(request, project, firstEventAt ?? null, now)
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/** Writes the part of a response that does not repeat the question, as JSON. */
const writeRows = ({ pagination, data }: AnalyticsQueryResponse): string =>
  JSON.stringify({ pagination, data })

/** Writes a response as JSON.stringify does. */
const writeAnswer = (request: AnalyticsQueryRequest, query: Query, rows: string): string =>
  `${JSON.stringify(shapeEcho(request, query)).slice(0, -1)},${rows.slice(1)}`
