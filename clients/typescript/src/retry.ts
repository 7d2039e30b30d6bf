/** Sends requests again that the service refused for now. */
import { readRetryAfter } from './result.js'

export interface RetryOptions {
  /** How often a request is sent again after 429 or 503; 3 by default, 0 for never. */
  readonly retries?: number
  /** A longer Retry-After is not waited for: the error is returned. 60 seconds by default. */
  readonly maxWaitSeconds?: number
}

/** The statuses after which the same request may succeed: too many requests, and a service that is busy or restarts. */
const RETRIED: ReadonlySet<number> = new Set([429, 503])
const DEFAULT_RETRIES = 3
const DEFAULT_MAX_WAIT_SECONDS = 60

/** Returns a `fetch` that waits for the seconds of Retry-After, and sends the request again. Requests only read, so this is safe. */
export function retryFetch(
  send: (request: Request) => Promise<Response>,
  { retries = DEFAULT_RETRIES, maxWaitSeconds = DEFAULT_MAX_WAIT_SECONDS }: RetryOptions = {},
): (request: Request) => Promise<Response> {
  return async (request) => {
    for (let left = retries; ; left--) {
      const response = await send(left === 0 ? request : request.clone())
      if (left === 0 || !RETRIED.has(response.status)) return response
      const seconds = readRetryAfter(response.headers) ?? 1
      if (seconds > maxWaitSeconds) return response
      await response.body?.cancel()
      await wait(seconds, request.signal)
    }
  }
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
