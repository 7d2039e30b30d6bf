/** Limits the requests per minute of each sender, such as an API key. */
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { rateLimit, type Store } from 'express-rate-limit'
import { LRUCache } from 'lru-cache'
import { ApiError } from '../../contract/errors.js'
import { MINUTE_MS } from '../../lib/time.js'
import { getAuthContext } from '../server/request-context.js'

/** A limit of requests per minute. */
interface RequestLimit {
  /** The maximum number of requests of one sender; 0 means no limit. */
  readonly perMinute: number
  /** The name of the limit in RateLimit headers. */
  readonly name: string
  /** Names the sender of a request: those with the same name are counted together. */
  readonly identify: (request: Request) => string
  /** What a request beyond the limit is told, before when to try again. */
  readonly message: string
}

/** @param perMinute the maximum number of requests per key; 0 means no limit */
export const limitRate = (perMinute: number): RequestHandler =>
  limitRequests({
    perMinute,
    name: 'key',
    identify: (request) => getAuthContext(request).principal.keyId,
    message: 'The API key has exceeded its number of requests per minute.',
  })

/** Counts requests in windows of a minute, and reports the state in RateLimit headers. */
export function limitRequests({
  perMinute,
  name,
  identify,
  message,
}: RequestLimit): RequestHandler {
  if (perMinute === 0) return (_request, _response, next) => next()
  return rateLimit({
    windowMs: MINUTE_MS,
    limit: perMinute,
    store: createStore(MINUTE_MS),
    identifier: name,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: identify,
    // The library's checks concern how it is told the address, for which the whole application is configured.
    validate: false,
    handler: (_request, response, next) => {
      // At the end of a window the library says 0.
      const seconds = Math.max(1, Number(response.getHeader('Retry-After')))
      const headers = { 'Retry-After': String(seconds) }
      next(new ApiError('RATE_LIMIT_EXCEEDED', `${message} ${WHEN}`, { headers }))
    },
  })
}

/**
 * Counts another query of a request that was counted already. The headers are then those of the latest count.
 *
 * @returns the error of the query if it is beyond the limit
 */
export async function countAnother(
  limit: RequestHandler,
  request: Request,
  response: Response,
): Promise<ApiError | undefined> {
  // The library adds to headers that are there.
  for (const name of ['RateLimit', 'RateLimit-Policy']) response.removeHeader(name)
  const error = await new Promise<unknown>(
    (resolve) => void limit(request, response, resolve as NextFunction),
  )
  // The header is that of the query, not of the response.
  response.removeHeader('Retry-After')
  if (error === undefined || error instanceof ApiError) return error
  throw error as Error
}

/** A service remembers this many senders; those that asked least recently are forgotten. */
const MAX_SENDERS = 50_000

/** Counts the requests of each sender. The store of the library follows the clock: when it is set back, a minute takes hours. */
function createStore(windowMs: number): Store {
  const windows = new LRUCache<string, { totalHits: number }>({ max: MAX_SENDERS, ttl: windowMs })
  return {
    increment: (key) => {
      const window = windows.get(key) ?? { totalHits: 0 }
      if (window.totalHits === 0) windows.set(key, window)
      window.totalHits += 1
      // eslint-disable-next-line no-restricted-syntax -- the library subtracts the time of the same clock again
      const resetTime = new Date(Date.now() + windows.getRemainingTTL(key))
      return { totalHits: window.totalHits, resetTime }
    },
    decrement: (key) => {
      const window = windows.get(key)
      if (window !== undefined) window.totalHits -= 1
    },
    resetKey: (key) => {
      windows.delete(key)
    },
  }
}

const WHEN = 'Wait the seconds given in Retry-After.'
