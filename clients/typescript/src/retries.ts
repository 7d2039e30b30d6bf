/** After which failures, how often and when a request is sent again, as docs/errors.md promises. */
import type { TallyhouseError } from './result.js'

export interface RetryOptions {
  /** How often a request is sent again at most; 3 by default, 0 for never. The README lists the failures with fewer retries. */
  readonly retries?: number
  /** The seconds that all waits of a request take at most; 60 by default. Instead of a wait beyond, the error is returned. */
  readonly maxWaitSeconds?: number
}

/** The failure without a complete response; all others have the status of theirs. */
const LOST_CONNECTION = 0

/**
 * The failures after which the same request may succeed, and how often it is sent again at most. 502 is that of a proxy that does
 * not reach the service. 504 is not here: the same query would take as long again.
 */
const RETRIED: ReadonlyMap<number, number> = new Map([
  [LOST_CONNECTION, 2],
  [429, Infinity],
  [500, 2],
  [502, 2],
  [503, Infinity],
])
const DEFAULT_RETRIES = 3
const DEFAULT_MAX_WAIT_SECONDS = 60

/** The names of errors that mean that a response took too long: those of `AbortSignal.timeout`, and those of fetch in Node. */
const TIMEOUTS: ReadonlySet<string> = new Set([
  'TimeoutError',
  'HeadersTimeoutError',
  'BodyTimeoutError',
])

/** A failure as far as retries depend on it. */
export type Failure = Pick<TallyhouseError, 'status' | 'retryAfter' | 'cause'>

/**
 * Counts the retries of one request. The function that it returns gives the seconds after which to send the request again;
 * undefined if that would not help, or take too long.
 */
export function countRetries({
  retries = DEFAULT_RETRIES,
  maxWaitSeconds = DEFAULT_MAX_WAIT_SECONDS,
}: RetryOptions): (failure: Failure) => number | undefined {
  let [resent, waited] = [0, 0]
  return ({ status, retryAfter, cause }) => {
    const most = isTimeout(cause) ? 0 : Math.min(retries, RETRIED.get(status) ?? 0)
    const seconds = retryAfter ?? backOff(resent)
    if (resent >= most || waited + seconds > maxWaitSeconds) return undefined
    resent += 1
    waited += seconds
    return seconds
  }
}

/** Returns 1, 2, 4, … seconds, less up to half of it by chance, so that many clients do not return at once. */
export const backOff = (resent: number): number => 2 ** resent * (1 - Math.random() / 2)

/** Whether a request that failed with a status may succeed later. @param resent how often it has been sent again */
export const isPassing = (status: number, resent: number): boolean =>
  resent < (RETRIED.get(status) ?? 0)

const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  (('name' in error && TIMEOUTS.has(String(error.name))) ||
    ('cause' in error && isTimeout(error.cause)))

/** Lets the process end while a timer runs, in runtimes that can. */
export const unref = (timer: ReturnType<typeof setTimeout>): ReturnType<typeof setTimeout> =>
  typeof timer === 'object' ? timer.unref() : timer

/** @param isBackground whether the process may end meanwhile. @throws the reason of the signal, when it aborts */
export const wait = (
  seconds: number,
  signal?: AbortSignal,
  { isBackground = false } = {},
): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, seconds * 1_000)
    if (isBackground) unref(timer)
    signal?.addEventListener('abort', stop, { once: true })
  })
