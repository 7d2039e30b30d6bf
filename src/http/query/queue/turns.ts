/** Whose turn it is among the queries that wait, and how long a query would wait. */
import type { PaceLimits, ReaderPace } from '../../formats/reader-pace.js'
import type { RunTimes } from './run-times.js'

/** What a queue has places for. */
export interface PlaceLimits {
  /** How many queries run at once: per key, and in all. A key may also stand for a project. */
  readonly perKey: number
  readonly inAll: number
  /** How many queries wait at once, of all keys together. */
  readonly waiting: number
  /**
   * For streams, which last as long as their readers take: the pace of readers below which a stream is ended if another waits for
   * its place. The time of a stream begins with its turn, and nobody predicts when it ends.
   */
  readonly leastPace?: PaceLimits
  /** Whose places they are, for error messages; absent: those of API keys and public dashboards. */
  readonly owner?: PlaceOwner
}

export interface QueueLimits extends PlaceLimits {
  /** Milliseconds from arrival to response. A query that is not expected to end within them is not begun. */
  readonly timeoutMs: number
}

export type PlaceOwner = 'API key' | 'public dashboard' | 'project'

/** A query that waits. */
export interface Waiting {
  readonly deadline: number
  readonly begin: () => void
  readonly refuse: (cause?: unknown) => void
}

/** The queries of one key. Kept only while there are any. */
export interface KeyQueue {
  readonly id: string
  running: number
  /** In order of arrival. */
  readonly waiting: Set<Waiting>
  /** The paces of its running queries. */
  readonly paces: Set<ReaderPace>
  readonly times: RunTimes
}

export interface QueueState {
  readonly limits: QueueLimits
  readonly now: () => number
  /** By key id; the key whose turn was last is at the end. */
  readonly keys: Map<string, KeyQueue>
  readonly times: RunTimes
  running: number
}

/** Returns the key whose turn it is: the one with the fewest running queries, of several the one whose turn is longest ago. */
export function findNextKey({ keys, limits }: QueueState): KeyQueue | undefined {
  let next: KeyQueue | undefined
  for (const key of keys.values()) {
    if (key.waiting.size === 0 || key.running >= limits.perKey) continue
    if (next === undefined || key.running < next.running) next = key
  }
  return next
}

/** Predicts how long a new query of the key would wait, from the queries whose turn comes before. */
export function predictWaitMs(
  { limits, keys, times, ...state }: QueueState,
  key: KeyQueue,
): number {
  const turn = key.waiting.size + 1
  const mean = times.mean() ?? 0
  const own = key.running < limits.perKey ? 0 : (turn / limits.perKey) * (key.times.mean() ?? mean)
  if (state.running < limits.inAll) return own
  // Before this query, each of the keys has at most as many turns as its own key.
  const before = [...keys.values()].reduce((sum, one) => sum + Math.min(one.waiting.size, turn), 0)
  return Math.max(own, ((before + 1) / limits.inAll) * mean)
}

/** A time within which a query of the key probably ends. */
export const getTypicalMs = ({ times }: QueueState, key: KeyQueue): number =>
  key.times.most() ?? times.most() ?? 0

/** Returns the key with the most waiting queries; `key` if no other has more. */
export const findLongest = ({ keys }: QueueState, key: KeyQueue): KeyQueue =>
  [...keys.values()].reduce((a, b) => (b.waiting.size > a.waiting.size ? b : a), key)

export const countWaiting = ({ keys }: QueueState): number =>
  [...keys.values()].reduce((sum, { waiting }) => sum + waiting.size, 0)

/** Ends the streams of slow readers that are in the way of others: of each key at most as many as wait. */
export function endSlowReaders({ keys, limits }: QueueState): void {
  const all = [...keys.values()]
  for (const key of all) {
    const inTheWay =
      key.running < limits.perKey ? all.flatMap(({ paces }) => [...paces]) : [...key.paces]
    const ending = inTheWay.filter(({ signal }) => signal.aborted).length
    const slow = inTheWay.filter((pace) => pace.isSlow() && !pace.signal.aborted)
    for (const pace of slow.slice(0, Math.max(0, key.waiting.size - ending))) pace.end()
  }
}
