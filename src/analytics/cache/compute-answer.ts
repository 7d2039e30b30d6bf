/** Computes answers, and keeps them with the version of the data that they were computed from. */
import type { AnswerSource } from '../../contract/api.js'
import type { QueriedProject } from '../query-analytics.js'
import { isEmptyFrom, type ProjectFacts } from './answer-name.js'
import type { AnswerStore } from './answer-store.js'
import type { NameCounter } from './name-counter.js'
import type { DatedRequest, KeptOperation } from './operation.js'
import { nameQuestion, type Question } from './question.js'
import type { SharedWork } from './share-work.js'

/** Computes the answer to a question. */
export type Compute<Resolved, Body> = (options: {
  readonly signal: AbortSignal
  /** What is known about the data when the question is asked. The computation adds what it learns. */
  readonly facts: ProjectFacts
  /** To be called with what the request is resolved to. */
  readonly onResolve: (resolved: Resolved) => void
}) => Promise<Body>

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
export interface Computed<Resolved, Body> {
  /** The response to the one that asked first. */
  readonly body: Body
  /** Its rows, as JSON. */
  readonly rows: string
  /** What was computed; undefined if the computation did not say so. */
  readonly resolved: Resolved | undefined
}

/** What the answers of an operation are made with. */
export type Cache<Request extends DatedRequest, Resolved, Body> = AnswersOptions & {
  readonly operation: KeptOperation<Request, Resolved, Body>
  readonly store: AnswerStore
  readonly shared: SharedWork<Computed<Resolved, Body>>
  /** The names of the answers that are being computed or waited for. */
  readonly underWay: NameCounter
}

/** A question, and what is known about the data when it is asked. */
export interface Work<Request, Resolved, Body> {
  readonly question: Question<Request>
  readonly compute: Compute<Resolved, Body>
  /** The version of the data that was read, or seen, before; undefined if there was none. */
  readonly version: string | undefined
  readonly facts: ProjectFacts
}

/** Computes an answer, and keeps it if the data has a version. */
export async function computeAndKeep<Request extends DatedRequest, Resolved, Body>(
  cache: Cache<Request, Resolved, Body>,
  work: Work<Request, Resolved, Body>,
  signal: AbortSignal,
): Promise<Computed<Resolved, Body>> {
  const { question, facts } = work
  const found: Resolved[] = []
  const isFromRollups = cache.readsRollups(question.project)
  const body = await work.compute({
    signal,
    facts,
    onResolve: (resolved) => found.push(resolved),
  })
  const [resolved] = found
  const rows = JSON.stringify(cache.operation.pickRows(body))
  if (resolved !== undefined) {
    const name = (): string =>
      nameQuestion(cache.operation, question, resolved, facts, isFromRollups)
    const end = cache.operation.listEnds(question.request, resolved).at(-1)
    // Nobody waits for this. If it fails, the answer is computed again.
    if (end !== undefined) void keep(cache, work, end, name, rows).catch(() => undefined)
  }
  return { body, rows, resolved }
}

/**
 * Keeps the rows of an answer with their version of the data, before anything is waited for: an equal question that waits for
 * the version finds them. If the data has changed, that version is never read again, so the rows are not given.
 *
 * @param end no event from there on was read
 */
async function keep<Request extends DatedRequest, Resolved, Body>(
  { store, maxBytes, hasEventsFrom, getLastVersion, now }: Cache<Request, Resolved, Body>,
  { question: { project }, version, facts }: Work<Request, Resolved, Body>,
  end: Date,
  name: () => string,
  rows: string,
): Promise<void> {
  if (version === undefined || maxBytes === 0) return
  // An answer to a later version may be kept by now.
  if (getLastVersion(project) !== version) return
  store.set(project.id, version, name(), rows)
  if (end <= now() || isEmptyFrom(facts, end)) return
  // Until this is known, the answer is kept for the rest of the second.
  if ((await hasEventsFrom(project, end)) || isEmptyFrom(facts, end)) return
  facts.emptyFrom = end
  store.set(project.id, version, name(), rows)
}
