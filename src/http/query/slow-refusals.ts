/** Delays the refusals of a client that does not wait: otherwise it would keep the service busy with refusing. */
import type { ErrorRequestHandler } from 'express'
import { ApiError } from '../../contract/errors.js'
import { SECOND_MS } from '../../lib/time.js'

/** How many requests of a key are refused at once in each second. */
const MAX_QUICK = 10
/** How long each of the others waits for its refusal: the least that Retry-After asks for. */
const DELAY_MS = SECOND_MS
/** How many refusals wait together. Further ones do not, since each holds a connection. */
const MAX_DELAYED = 500

/** Delays refusals with RATE_LIMIT_EXCEEDED of requests with an API key, and passes every error on. */
export function slowRefusals(): ErrorRequestHandler {
  const quick = new Map<string, number>()
  let second = 0
  let delayed = 0
  /** Counts a refusal; returns whether its key has had many in this second. */
  const isPersistent = (keyId: string): boolean => {
    const now = Math.floor(performance.now() / SECOND_MS)
    if (now !== second) quick.clear()
    second = now
    const count = (quick.get(keyId) ?? 0) + 1
    quick.set(keyId, count)
    return count > MAX_QUICK
  }
  return (error: unknown, request, _response, next) => {
    const keyId = request.authContext?.principal.keyId
    const isRefusal = error instanceof ApiError && error.code === 'RATE_LIMIT_EXCEEDED'
    if (!isRefusal || keyId === undefined || !isPersistent(keyId) || delayed === MAX_DELAYED) {
      next(error)
      return
    }
    delayed++
    setTimeout(() => {
      delayed--
      next(error)
    }, DELAY_MS)
  }
}
