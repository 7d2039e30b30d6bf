/** Delays the refusals of clients that do not wait: otherwise they would keep the service busy with refusing. */
import type { ErrorRequestHandler } from 'express'
import { ApiError } from '../../contract/errors.js'
import { SECOND_MS } from '../../lib/time.js'

/** How many requests are refused without a wait in each second: per key, and in all. */
const MAX_QUICK_PER_KEY = 10
const MAX_QUICK = 200
/** How long each of the others waits for its refusal, at the least: what Retry-After asks for. */
const DELAY_MS = SECOND_MS
/** How many of the others are refused per second, so that most of the time is left for answers. */
const MAX_SLOW = 500
/** How many refusals wait together. Each holds a connection, so further ones are sent at once. */
const MAX_DELAYED = 10_000

/** Calls `refuse`, which sends a refusal to a key: at once, or later if there were many in this second. */
export type PaceRefusal = (keyId: string, refuse: () => void) => void

/** Creates a pace that all keys share. @param clock returns milliseconds */
export function createRefusalPace(clock: () => number = () => performance.now()): PaceRefusal {
  const quick = new Map<string, number>()
  let second = 0
  let inAll = 0
  let delayed = 0
  let latest = 0
  /** Counts a refusal; returns whether there were many in this second. */
  const isPersistent = (keyId: string): boolean => {
    const now = Math.floor(clock() / SECOND_MS)
    if (now !== second) {
      quick.clear()
      inAll = 0
    }
    second = now
    inAll++
    const count = (quick.get(keyId) ?? 0) + 1
    quick.set(keyId, count)
    return count > MAX_QUICK_PER_KEY || inAll > MAX_QUICK
  }
  return (keyId, refuse) => {
    if (!isPersistent(keyId) || delayed === MAX_DELAYED) {
      refuse()
      return
    }
    delayed++
    const now = clock()
    latest = Math.max(now + DELAY_MS, latest + SECOND_MS / MAX_SLOW)
    setTimeout(() => {
      delayed--
      refuse()
    }, latest - now)
  }
}

/** Delays refusals with RATE_LIMIT_EXCEEDED of requests with an API key, and passes every error on. */
export const slowRefusals =
  (pace: PaceRefusal): ErrorRequestHandler =>
  (error: unknown, request, _response, next) => {
    const keyId = request.authContext?.principal.keyId
    const isRefusal = error instanceof ApiError && error.code === 'RATE_LIMIT_EXCEEDED'
    if (!isRefusal || keyId === undefined) {
      next(error)
      return
    }
    // A body that nobody reads would not arrive in time.
    request.resume()
    pace(keyId, () => next(error))
  }
