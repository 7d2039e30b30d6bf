/** Sends requests again that failed for now. */
import { readRetryAfter } from './result.js'

export interface RetryOptions {
  /** How often a request is sent again at most; 3 by default, 0 for never. The README lists the failures with fewer retries. */
  readonly retries?: number
  /** The seconds that all waits of a request take at most; 60 by default. Instead of a wait beyond, the error is returned. */
  readonly maxWaitSeconds?: number
}

/** Sends a request. */
export type Send = (request: Request) => Promise<Response>

/** The failure without a complete response; all others have the status of theirs. */
const LOST_CONNECTION = 0

/**
 * The failures after which the same request may succeed, and how often it is sent again at most, as docs/errors.md promises. 502 is
 * that of a proxy that does not reach the service. 504 is not here: the same query would take as long again.
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

/** The names of errors that mean that an answer took too long: those of `AbortSignal.timeout`, and those of fetch in Node. */
const TIMEOUTS: ReadonlySet<string> = new Set([
  'TimeoutError',
  'HeadersTimeoutError',
  'BodyTimeoutError',
])

/** Returns a `fetch` that waits, and sends the request again where that may help. Requests only read, so this is safe. */
export function retryFetch(
  send: Send,
  { retries = DEFAULT_RETRIES, maxWaitSeconds = DEFAULT_MAX_WAIT_SECONDS }: RetryOptions = {},
): Send {
  return async (request) => {
    let waited = 0
    for (let resent = 0; ; resent++) {
      const isLast = resent >= retries
      const [outcome] = await Promise.allSettled([send(isLast ? request : request.clone())])
      const seconds = secondsToWait(outcome, resent)
      const isOver = isLast || resent >= countRetries(outcome, request.signal)
      if (isOver || waited + seconds > maxWaitSeconds) return finish(outcome)
      waited += seconds
      if (outcome.status === 'fulfilled') await outcome.value.body?.cancel()
      await wait(seconds, request.signal)
    }
  }
}

/** Returns a `fetch` whose responses have arrived as a whole, so that those that break off are failures of the request. */
export const fetchWhole =
  (send: Send): Send =>
  async (request) => {
    const response = await send(request)
    const { status, statusText, headers } = response
    const body = response.body === null ? null : await response.arrayBuffer()
    return new Response(body, { status, statusText, headers })
  }

type Outcome = PromiseSettledResult<Response>

/** Returns how often a request that had this outcome is sent again at most. */
function countRetries(outcome: Outcome, { aborted }: AbortSignal): number {
  if (outcome.status === 'fulfilled') return RETRIED.get(outcome.value.status) ?? 0
  return aborted || isTimeout(outcome.reason) ? 0 : (RETRIED.get(LOST_CONNECTION) ?? 0)
}

const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  (('name' in error && TIMEOUTS.has(String(error.name))) ||
    ('cause' in error && isTimeout(error.cause)))

/** Returns the seconds of Retry-After; without it 1, 2, 4, …, less up to half of it by chance, so that many clients do not return at once. */
function secondsToWait(outcome: Outcome, resent: number): number {
  const given = outcome.status === 'fulfilled' ? readRetryAfter(outcome.value.headers) : undefined
  return given ?? 2 ** resent * (1 - Math.random() / 2)
}

/** @throws what was thrown instead of a response */
function finish(outcome: Outcome): Response {
  if (outcome.status === 'rejected') throw outcome.reason
  return outcome.value
}

/** @throws the reason of the signal, when it aborts */
const wait = (seconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, seconds * 1_000)
    signal.addEventListener('abort', stop, { once: true })
  })
