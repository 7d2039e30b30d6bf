/** Decides when a query runs: few at once, of one API key and in all, and the keys take turns. */
import { ApiError } from '../../contract/errors.js'
import { createRunTimes, type RunTimes } from './run-times.js'

export interface QueueLimits {
  /** How many queries run at once: of one key, and of all keys together. */
  readonly perKey: number
  readonly inAll: number
  /** How many queries wait at once, of all keys together. */
  readonly waiting: number
  /** Milliseconds from arrival to response. A query that is not expected to end within them is not begun. */
  readonly timeoutMs: number
}

export interface QueryQueue {
  /**
   * Calls `work` when it is the query's turn, with the milliseconds that are left.
   *
   * @param signal when it aborts, a query that waits leaves the queue
   * @throws ApiError if the query is refused: RATE_LIMIT_EXCEEDED if it waits for queries of its own key,
   *   SERVICE_UNAVAILABLE if it waits for those of other keys. Otherwise what `work` rejects with
   */
  run<T>(keyId: string, signal: AbortSignal, work: (leftMs: number) => Promise<T>): Promise<T>
  /** Returns how many queries run and how many wait. */
  count(): { readonly running: number; readonly waiting: number }
}

/** A query that waits. */
interface Waiting {
  readonly deadline: number
  readonly begin: () => void
  readonly refuse: (cause?: unknown) => void
}

/** The queries of one key. Kept only while there are any. */
interface KeyQueue {
  readonly id: string
  running: number
  /** In order of arrival. */
  readonly waiting: Set<Waiting>
  readonly times: RunTimes
}

interface State {
  readonly limits: QueueLimits
  readonly now: () => number
  /** By key id; the key whose turn was last is at the end. */
  readonly keys: Map<string, KeyQueue>
  readonly times: RunTimes
  running: number
}

/** @param now a monotonic clock, in milliseconds */
export function createQueryQueue(limits: QueueLimits, now = () => performance.now()): QueryQueue {
  const state: State = { limits, now, keys: new Map(), times: createRunTimes(), running: 0 }
  return {
    run: (keyId, signal, work) => run(state, keyId, signal, work),
    count: () => ({ running: state.running, waiting: countWaiting(state) }),
  }
}

async function run<T>(
  state: State,
  keyId: string,
  signal: AbortSignal,
  work: (leftMs: number) => Promise<T>,
): Promise<T> {
  const { keys, limits, now } = state
  const deadline = now() + limits.timeoutMs
  const key = keys.get(keyId) ?? {
    id: keyId,
    running: 0,
    waiting: new Set(),
    times: createRunTimes(),
  }
  if (state.running < limits.inAll && key.running < limits.perKey) begin(state, key)
  else await waitForTurn(state, key, deadline, signal)
  const begun = now()
  try {
    return await work(deadline - begun)
  } finally {
    const ms = now() - begun
    state.times.add(ms)
    key.times.add(ms)
    state.running--
    key.running--
    forgetIfIdle(state, key)
    beginNext(state)
  }
}

/** Counts a query as running, and puts its key behind the others. */
function begin(state: State, key: KeyQueue): void {
  state.running++
  key.running++
  state.keys.delete(key.id)
  state.keys.set(key.id, key)
}

/** Begins the queries that the limits allow. One that would not end in time is refused. */
function beginNext(state: State): void {
  while (state.running < state.limits.inAll) {
    const key = findNextKey(state)
    const [next] = key?.waiting ?? []
    if (key === undefined || next === undefined) return
    if (state.now() + getTypicalMs(state, key) > next.deadline) next.refuse()
    else next.begin()
  }
}

/** Returns the key whose turn it is: the one with the fewest running queries, of several the one whose turn is longest ago. */
function findNextKey({ keys, limits }: State): KeyQueue | undefined {
  let next: KeyQueue | undefined
  for (const key of keys.values()) {
    if (key.waiting.size === 0 || key.running >= limits.perKey) continue
    if (next === undefined || key.running < next.running) next = key
  }
  return next
}

/** Resolves when the query has begun. @throws ApiError if it is refused */
function waitForTurn(
  state: State,
  key: KeyQueue,
  deadline: number,
  signal: AbortSignal,
): Promise<void> {
  const refusal = key.running < state.limits.perKey ? 'SERVICE_UNAVAILABLE' : 'RATE_LIMIT_EXCEEDED'
  const createError = (cause?: unknown) => new ApiError(refusal, MESSAGES[refusal], { cause })
  if (signal.aborted) throw createError(signal.reason)
  const endsAt = state.now() + predictWaitMs(state, key) + getTypicalMs(state, key)
  if (endsAt > deadline || !makeRoom(state, key)) throw createError()
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', refuse)
      key.waiting.delete(waiting)
    }
    const refuse = (): void => {
      leave()
      forgetIfIdle(state, key)
      reject(createError(signal.reason))
    }
    const timer = setTimeout(refuse, deadline - state.now())
    signal.addEventListener('abort', refuse, { once: true })
    const waiting: Waiting = {
      deadline,
      refuse,
      begin: () => {
        leave()
        begin(state, key)
        resolve()
      },
    }
    state.keys.set(key.id, key)
    key.waiting.add(waiting)
  })
}

const MESSAGES = {
  RATE_LIMIT_EXCEEDED:
    'The API key has too many queries at once. Wait for their responses, or the seconds given in Retry-After.',
  SERVICE_UNAVAILABLE:
    'The service is busy with other queries. Try again after the seconds given in Retry-After.',
}

/** Predicts how long a new query of the key would wait, from the queries whose turn comes before. */
function predictWaitMs({ limits, keys, times, ...state }: State, key: KeyQueue): number {
  const turn = key.waiting.size + 1
  const mean = times.mean() ?? 0
  const own = key.running < limits.perKey ? 0 : (turn / limits.perKey) * (key.times.mean() ?? mean)
  if (state.running < limits.inAll) return own
  // Before this query, each of the keys has at most as many turns as its own key.
  const before = [...keys.values()].reduce((sum, one) => sum + Math.min(one.waiting.size, turn), 0)
  return Math.max(own, ((before + 1) / limits.inAll) * mean)
}

/** A time within which a query of the key probably ends. */
const getTypicalMs = ({ times }: State, key: KeyQueue): number =>
  key.times.most() ?? times.most() ?? 0

/** Makes room for one more waiting query of a key: the key with the most of them gives up its latest. */
function makeRoom(state: State, key: KeyQueue): boolean {
  if (countWaiting(state) < state.limits.waiting) return true
  const longest = [...state.keys.values()].reduce((a, b) =>
    b.waiting.size > a.waiting.size ? b : a,
  )
  if (longest.waiting.size <= key.waiting.size + 1) return false
  ;[...longest.waiting].at(-1)?.refuse()
  return true
}

const countWaiting = ({ keys }: State): number =>
  [...keys.values()].reduce((sum, { waiting }) => sum + waiting.size, 0)

function forgetIfIdle({ keys }: State, key: KeyQueue): void {
  if (key.running === 0 && key.waiting.size === 0) keys.delete(key.id)
}
