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
import { resolveRequest } from '../query-analytics.js'
import type { Query } from '../request/query.js'
import { shapeEcho } from '../response.js'
import { listNames, nameAnswer, type ProjectFacts } from './answer-name.js'
import { createAnswerStore } from './answer-store.js'
import {
  computeAndKeep,
  type AnswersOptions,
  type Cache,
  type Compute,
  type Computed,
  type Question,
  type Work,
} from './compute-answer.js'
import { createNameCounter } from './name-counter.js'
import { createSharedWork } from './share-work.js'

export interface Answer {
  readonly source: AnswerSource
  /** The body of the response, as JSON. */
  readonly text: string
  /** The same as an object, if it was computed for this question. */
  readonly body?: AnalyticsQueryResponse
}

export interface Answers {
  /** @throws what `compute` rejects with, or the reason of the question's signal */
  readonly answer: (question: Question, compute: Compute) => Promise<Answer>
  /** Returns how many bytes the kept answers take. */
  readonly countBytes: () => number
}

export function createAnswers(options: AnswersOptions): Answers {
  const store = createAnswerStore(options.maxBytes)
  const shared = createSharedWork<Computed>()
  const cache: Cache = { ...options, store, shared, underWay: createNameCounter() }
  return {
    answer: async (question, compute) => {
      const given = await answer(cache, question, compute)
      options.onAnswer?.(given.source)
      return given
    },
    countBytes: store.countBytes,
  }
}

async function answer(cache: Cache, question: Question, compute: Compute): Promise<Answer> {
  const { store, underWay, readsRollups, now } = cache
  const { project } = question
  const query = resolveKnown(question, {}, question.now ?? now())
  const names = query === undefined ? [] : listNames(project, query, readsRollups(project))
  // Only an answer that may be kept or on its way is worth waiting for the version of the data.
  const isNew = !names.some((name) => store.has(name) || underWay.has(name))
  const seen = isNew ? cache.getLastVersion(project) : undefined
  const leave = underWay.add(names)
  try {
    return query === undefined || seen === undefined
      ? await answerKnown(cache, question, compute)
      : await answerNew(cache, question, compute, query, seen)
  } finally {
    leave()
  }
}

/**
 * Answers a question to which no answer is kept or on its way, without waiting for the version of the data. The answer is
 * kept if the version that was seen before it was computed is still the same afterwards.
 */
async function answerNew(
  cache: Cache,
  question: Question,
  compute: Compute,
  query: Query,
  version: string,
): Promise<Answer> {
  const { store, shared, readsRollups } = cache
  const { project, asker, signal } = question
  const facts = store.getFacts(project.id, version)
  const work = { question, compute, version, facts, isVersionCurrent: false }
  const name = nameAnswer(project, query, facts, readsRollups(project))
  const { result } = await shared.share(nameWork(asker, version, name), signal, (whileWanted) =>
    computeAndKeep(cache, work, whileWanted),
  )
  return toMiss(result)
}

/** Answers a question from what is kept or on its way, if that is of the current version of the data. */
async function answerKnown(cache: Cache, question: Question, compute: Compute): Promise<Answer> {
  const { store, shared, now } = cache
  const { request, project, asker, signal } = question
  const version = await cache.readVersion(project)
  const facts = version === undefined ? {} : store.getFacts(project.id, version)
  const work: Work = { question, compute, version, facts, isVersionCurrent: true }
  const query = resolveKnown(question, facts, question.now ?? now())
  if (version === undefined || query === undefined) {
    return toMiss(await computeAndKeep(cache, work, signal))
  }
  const isFromRollups = cache.readsRollups(project)
  const nameNow = (one: Query): string => nameAnswer(project, one, facts, isFromRollups)
  const name = nameNow(query)
  const kept = store.get(project.id, version, name)
  const text = kept === undefined ? undefined : writeAnswer(request, query, kept)
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
  const isSame = result.query !== undefined && nameNow(result.query) === nameNow(query)
  if (isSame) return { source: 'coalesced', text: writeAnswer(request, query, result.rows) }
  return toMiss(await computeAndKeep(cache, work, signal))
}

/** Names the computation of an answer. Whoever joins it knows that the version is the current one. */
const nameWork = (asker: string, version: string, name: string): string =>
  JSON.stringify([asker, version, name])

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

/** Writes a response as JSON.stringify does. */
const writeAnswer = (request: AnalyticsQueryRequest, query: Query, rows: string): string =>
  `${JSON.stringify(shapeEcho(request, query)).slice(0, -1)},${rows.slice(1)}`
