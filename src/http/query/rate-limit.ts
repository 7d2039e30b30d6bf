/** Limits how many requests one API key may send a minute. */
import type { RequestHandler } from 'express'
import { rateLimit } from 'express-rate-limit'
import { ApiError } from '../../contract/errors.js'
import { callerOf } from './auth-context.js'

/**
 * Counts requests by key id in windows of a minute, and tells the state in RateLimit headers.
 *
 * @param perMinute the most requests of a key; 0 is without limit.
 */
export function keyRateLimit(perMinute: number): RequestHandler {
  if (perMinute === 0) return (_request, _response, next) => next()
  return rateLimit({
    windowMs: 60_000,
    limit: perMinute,
    identifier: 'key',
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: (request) => callerOf(request).principal.keyId,
    // Its checks are about limits by IP address behind proxies.
    validate: false,
    handler: (_request, _response, next) => next(new ApiError('RATE_LIMIT_EXCEEDED', message)),
  })
}

const message =
  'The API key sent more requests than it may within a minute. Wait as long as Retry-After says.'
