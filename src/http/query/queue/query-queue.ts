/** Decides when a query runs: few at once, of one API key and in all, and the keys take turns. */
import { ApiError } from '../../../contract/errors.js'
import { isPublicReader } from '../../../auth/public-readers.js'
import { SECOND_MS } from '../../../lib/time.js'
import { createReaderPace, type PaceLimits, type ReaderPace } from '../../formats/reader-pace.js'
import { createRunTimes } from './run-times.js'
import {
  countWaiting,
  endSlowReaders,
  findLongest,
  findNextKey,
  getTypicalMs,
  predictWaitMs,
  type PlaceOwner,
  type KeyQueue,
  type QueueLimits,
  type QueueState,
  type Waiting,
} from './turns.js'

export type { PlaceLimits, QueueLimits } from './turns.js'

export interface QueryQueue {
  /**
   * Calls `work` when it is the query's turn.
   *
   * @param signal when it aborts, a query that waits leaves the queue
   * @throws ApiError if the query is refused: RATE_LIMIT_EXCEEDED if it waits for queries of its own key,
   *   SERVICE_UNAVAILABLE if it waits for those of other keys. Otherwise what `work` rejects with
   */
  run<T>(keyId: string, signal: AbortSignal, work: (turn: Turn) => Promise<T>): Promise<T>
  /** Returns the error with which a query of the key would be refused now; undefined if it would run or wait. */
  findRefusal(keyId: string): ApiError | undefined
  /** Returns how many queries run and how many wait. */
  count(): { readonly running: number; readonly waiting: number }
}

/** What a query learns when it begins. */
export interface Turn {
  /** Milliseconds until the response is due. */
  readonly leftMs: number
  /** Whether its key has other queries running. Such a query leaves the CPU to other keys. */
  readonly isExtra: boolean
  /** Measures the reader of its response. */
  readonly pace: ReaderPace
}

/** How often slow readers are looked for while streams wait, in milliseconds. */
const LOOK_MS = SECOND_MS
/** Accepts readers of any speed. */
const ANY_PACE: PaceLimits = { bytesPerSecond: 1, patienceMs: Infinity }

/** @param now a monotonic clock, in milliseconds */
export function createQueryQueue(limits: QueueLimits, now = () => performance.now()): QueryQueue {
  const state: QueueState = { limits, now, keys: new Map(), times: createRunTimes(), running: 0 }
  return {
    run: (keyId, signal, work) => run(state, keyId, signal, work),
    findRefusal: (keyId) => {
      const key = getKey(state, keyId)
      return isFree(state, key) || canWait(state, key)
        ? undefined
        : getRefusals(state, key)[nameRefusal(state, key)]
    },
    count: () => ({ running: state.running, waiting: countWaiting(state) }),
  }
}

const getKey = ({ keys }: QueueState, id: string): KeyQueue =>
  keys.get(id) ?? {
    id,
    running: 0,
    waiting: new Set(),
    paces: new Set(),
    times: createRunTimes(),
  }

/** Whether a query of the key may begin at once. */
const isFree = ({ running, limits }: QueueState, key: KeyQueue): boolean =>
  running < limits.inAll && key.running < limits.perKey

async function run<T>(
  state: QueueState,
  keyId: string,
  signal: AbortSignal,
  work: (turn: Turn) => Promise<T>,
): Promise<T> {
  const { limits, now } = state
  const deadline = now() + limits.timeoutMs
  const key = getKey(state, keyId)
  if (isFree(state, key)) begin(state, key)
  else await waitForTurn(state, key, deadline, signal)
  const begun = now()
  const { leastPace } = limits
  const leftMs = leastPace === undefined ? deadline - begun : limits.timeoutMs
  const pace = createReaderPace(leastPace ?? ANY_PACE, now)
  key.paces.add(pace)
  try {
    return await work({ leftMs, isExtra: key.running > 1, pace })
  } finally {
    const ms = now() - begun
    key.paces.delete(pace)
    state.times.add(ms)
    key.times.add(ms)
    state.running--
    key.running--
    forgetIfIdle(state, key)
    beginNext(state)
  }
}

/** Counts a query as running, and puts its key behind the others. */
function begin(state: QueueState, key: KeyQueue): void {
  state.running++
  key.running++
  state.keys.delete(key.id)
  state.keys.set(key.id, key)
}

/** Begins the queries that the limits allow. One that would not end in time is refused. */
function beginNext(state: QueueState): void {
  while (state.running < state.limits.inAll) {
    const key = findNextKey(state)
    const [next] = key?.waiting ?? []
    if (key === undefined || next === undefined) return
    if (isPredicted(state) && state.now() + getTypicalMs(state, key) > next.deadline) next.refuse()
    else next.begin()
  }
}

/** Resolves when the query has begun. @throws ApiError if it is refused */
function waitForTurn(
  state: QueueState,
  key: KeyQueue,
  deadline: number,
  signal: AbortSignal,
): Promise<void> {
  const refusal = nameRefusal(state, key)
  const createError = (cause?: unknown) =>
    new ApiError(refusal, getRefusals(state, key)[refusal].message, { cause })
  if (signal.aborted) throw createError(signal.reason)
  if (!canWait(state, key)) throw createError()
  if (isFull(state)) [...findLongest(state, key).waiting].at(-1)?.refuse()
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer)
      clearInterval(look)
      signal.removeEventListener('abort', refuse)
      key.waiting.delete(waiting)
    }
    const refuse = (): void => {
      leave()
      forgetIfIdle(state, key)
      reject(createError(signal.reason))
    }
    const timer = setTimeout(refuse, deadline - state.now())
    const look = isPredicted(state) ? undefined : setInterval(() => endSlowReaders(state), LOOK_MS)
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
    endSlowReaders(state)
  })
}

const createRefusals = (owner: PlaceOwner, what = 'queries') => ({
  RATE_LIMIT_EXCEEDED: new ApiError(
    'RATE_LIMIT_EXCEEDED',
    `The ${owner} has too many ${what} at once. Wait for their responses, or the seconds given in Retry-After.`,
  ),
  SERVICE_UNAVAILABLE: new ApiError(
    'SERVICE_UNAVAILABLE',
    'The service is busy with other queries. Try again after the seconds given in Retry-After.',
  ),
})

/** One of each, for queries that are refused in great numbers. */
const REFUSALS: Readonly<Record<PlaceOwner, ReturnType<typeof createRefusals>>> = {
  'API key': createRefusals('API key'),
  'public dashboard': createRefusals('public dashboard'),
  project: createRefusals('project', 'streams or exports'),
}

const getRefusals = ({ limits }: QueueState, { id }: KeyQueue) =>
  REFUSALS[limits.owner ?? (isPublicReader(id) ? 'public dashboard' : 'API key')]

/** Returns why a query of the key would have to wait: for its own key, or for others. */
const nameRefusal = (
  { limits }: QueueState,
  key: KeyQueue,
): keyof ReturnType<typeof createRefusals> =>
  key.running < limits.perKey ? 'SERVICE_UNAVAILABLE' : 'RATE_LIMIT_EXCEEDED'

/**
 * Whether a query of the key would probably end in time if it waited, and there is room for it. The key with the most
 * waiting queries gives up its latest for a key with fewer.
 */
function canWait(state: QueueState, key: KeyQueue): boolean {
  if (isPredicted(state)) {
    const predictedMs = predictWaitMs(state, key) + getTypicalMs(state, key)
    if (predictedMs > state.limits.timeoutMs) return false
  }
  return !isFull(state) || findLongest(state, key).waiting.size > key.waiting.size + 1
}

/** Whether the times of earlier queries tell when others will end. Streams last as long as their readers take. */
const isPredicted = ({ limits }: QueueState): boolean => limits.leastPace === undefined

const isFull = (state: QueueState): boolean => countWaiting(state) >= state.limits.waiting

function forgetIfIdle({ keys }: QueueState, key: KeyQueue): void {
  if (key.running === 0 && key.waiting.size === 0) keys.delete(key.id)
}
