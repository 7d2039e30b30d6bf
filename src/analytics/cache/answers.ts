/**
 * Answers questions, from memory where the answer is known to be the same as if it were computed now.
 *
 * An answer is kept with the version of the project's data that was seen before it was computed, and given while
 * that version is read. Nothing of a later version is visible before the version is unknown to every service, so an
 * answer that was given is the one that the store would give at that moment.
 */
import type {
  AnalyticsQueryRequest,
  AnalyticsQueryResponse,
  AnswerSource,
  FunnelRequest,
  FunnelResponse,
  RetentionRequest,
  RetentionResponse,
  ValuesRequest,
  ValuesResponse,
} from '../../contract/api.js'
import type { Query } from '../request/query.js'
import type { Grid } from '../retention/grid.js'
import { createAnswerStore, type AnswerStore } from './answer-store.js'
import {
  computeAndKeep,
  type AnswersOptions,
  type Cache,
  type Compute,
  type Computed,
  type Work,
} from './compute-answer.js'
import { createNameCounter } from './name-counter.js'
import type { DatedRequest, KeptOperation } from './operation.js'
import { FUNNELS, QUERIES, RETENTIONS, VALUES } from './operations.js'
import { listNames, nameQuestion, resolveKnown, type Question } from './question.js'
import { createSharedWork } from './share-work.js'

export interface Answer<Body> {
  readonly source: AnswerSource
  /** The body of the response, as JSON. */
  readonly text: string
  /** The same as an object, if it was computed for this question. */
  readonly body?: Body
}

/** Answers a question. @throws what `compute` rejects with, or the reason of the question's signal */
export type AnswerQuestion<Request, Resolved, Body> = (
  question: Question<Request>,
  compute: Compute<Resolved, Body>,
) => Promise<Answer<Body>>

/** The answers to each operation. All of them share one room. */
export interface Answers {
  readonly query: AnswerQuestion<AnalyticsQueryRequest, Query, AnalyticsQueryResponse>
  readonly values: AnswerQuestion<ValuesRequest, Query, ValuesResponse>
  readonly retention: AnswerQuestion<RetentionRequest, Grid, RetentionResponse>
  readonly funnel: AnswerQuestion<FunnelRequest, Query, FunnelResponse>
  /** Returns how many bytes the kept answers take. */
  readonly countBytes: () => number
}

export function createAnswers(options: AnswersOptions): Answers {
  const store = createAnswerStore(options.maxBytes)
  return {
    query: createAnswerer(options, store, QUERIES),
    values: createAnswerer(options, store, VALUES),
    retention: createAnswerer(options, store, RETENTIONS),
    funnel: createAnswerer(options, store, FUNNELS),
    countBytes: store.countBytes,
  }
}

function createAnswerer<Request extends DatedRequest, Resolved, Body>(
  options: AnswersOptions,
  store: AnswerStore,
  operation: KeptOperation<Request, Resolved, Body>,
): AnswerQuestion<Request, Resolved, Body> {
  const shared = createSharedWork<Computed<Resolved, Body>>()
  const cache = { ...options, operation, store, shared, underWay: createNameCounter() }
  return async (question, compute) => {
    const given = await answer(cache, question, compute)
    options.onAnswer?.(given.source)
    return given
  }
}

async function answer<Request extends DatedRequest, Resolved, Body>(
  cache: Cache<Request, Resolved, Body>,
  question: Question<Request>,
  compute: Compute<Resolved, Body>,
): Promise<Answer<Body>> {
  const { store, underWay, now } = cache
  const resolved = resolveKnown(cache.operation, question, {}, question.now ?? now())
  const isFromRollups = cache.readsRollups(question.project)
  const names =
    resolved === undefined ? [] : listNames(cache.operation, question, resolved, isFromRollups)
  // Only an answer that may be kept or on its way is worth waiting for the version of the data.
  const isNew = !names.some((name) => store.has(name) || underWay.has(name))
  const seen = isNew ? cache.getLastVersion(question.project) : undefined
  const leave = underWay.add(names)
  try {
    return resolved === undefined || seen === undefined
      ? await answerKnown(cache, question, compute)
      : await answerNew(cache, question, compute, resolved, seen)
  } finally {
    leave()
  }
}

/**
 * Answers a question to which no answer is kept or on its way, without waiting for the version of the data. The answer is
 * kept with the version that was seen before it was computed.
 */
async function answerNew<Request extends DatedRequest, Resolved, Body>(
  cache: Cache<Request, Resolved, Body>,
  question: Question<Request>,
  compute: Compute<Resolved, Body>,
  resolved: Resolved,
  version: string,
): Promise<Answer<Body>> {
  const { store, shared, readsRollups } = cache
  const { project, asker, signal } = question
  const facts = store.getFacts(project.id, version)
  const work = { question, compute, version, facts }
  const name = nameQuestion(cache.operation, question, resolved, facts, readsRollups(project))
  const { result } = await shared.share(nameWork(asker, version, name), signal, (whileWanted) =>
    computeAndKeep(cache, work, whileWanted),
  )
  return toMiss(result)
}

/** Answers a question from what is kept or on its way, if that is of the current version of the data. */
async function answerKnown<Request extends DatedRequest, Resolved, Body>(
  cache: Cache<Request, Resolved, Body>,
  question: Question<Request>,
  compute: Compute<Resolved, Body>,
): Promise<Answer<Body>> {
  const { operation, store, shared, now } = cache
  const { request, project, asker, signal } = question
  const version = await cache.readVersion(project)
  const facts = version === undefined ? {} : store.getFacts(project.id, version)
  const work: Work<Request, Resolved, Body> = { question, compute, version, facts }
  const resolved = resolveKnown(cache.operation, question, facts, question.now ?? now())
  if (version === undefined || resolved === undefined) {
    return toMiss(await computeAndKeep(cache, work, signal))
  }
  const isFromRollups = cache.readsRollups(project)
  const nameNow = (one: Resolved): string =>
    nameQuestion(cache.operation, question, one, facts, isFromRollups)
  const write = (rows: string): string => writeAnswer(operation.shapeEcho(request, resolved), rows)
  const name = nameNow(resolved)
  const kept = store.get(project.id, version, name)
  const text = kept === undefined ? undefined : write(kept)
  // Last of all, because the process may have been suspended. From here to the socket nothing is waited for.
  if (!cache.isCurrent(project, version)) {
    return toMiss(await computeAndKeep(cache, { ...work, version: undefined }, signal))
  }
  if (text !== undefined) return { source: 'hit', text }
  const { result, hasJoined } = await shared.share(
    nameWork(asker, version, name),
    signal,
    (whileWanted) => computeAndKeep(cache, work, whileWanted),
  )
  if (!hasJoined) return toMiss(result)
  // The one that asked first may have waited for its turn until the period that ends now was another one.
  const isSame = result.resolved !== undefined && nameNow(result.resolved) === nameNow(resolved)
  if (isSame) return { source: 'coalesced', text: write(result.rows) }
  return toMiss(await computeAndKeep(cache, work, signal))
}

/** Names the computation of an answer. Whoever joins it knows that the version is the current one. */
const nameWork = (asker: string, version: string, name: string): string =>
  JSON.stringify([asker, version, name])

const toMiss = <Resolved, Body>({ body }: Computed<Resolved, Body>): Answer<Body> => ({
  source: 'miss',
  body,
  text: JSON.stringify(body),
})

/** Writes a response as JSON.stringify does. @param echo the part that repeats the question */
const writeAnswer = (echo: object, rows: string): string =>
  `${JSON.stringify(echo).slice(0, -1)},${rows.slice(1)}`
