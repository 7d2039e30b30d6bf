/** Limits the requests per minute of each API key. */
import type { RequestHandler } from 'express'
import { rateLimit } from 'express-rate-limit'
import { ApiError } from '../../contract/errors.js'
import { MINUTE_MS } from '../../lib/time.js'
import { getAuthContext } from '../server/request-context.js'

/**
 * Counts requests by key id in windows of a minute, and reports the state in RateLimit headers.
 *
 * @param perMinute the maximum number of requests per key; 0 means no limit
 */
export function limitRate(perMinute: number): RequestHandler {
  if (perMinute === 0) return (_request, _response, next) => next()
  return rateLimit({
    windowMs: MINUTE_MS,
    limit: perMinute,
    identifier: 'key',
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: (request) => getAuthContext(request).principal.keyId,
    // The library's checks concern limits by IP address behind proxies.
    validate: false,
    handler: (_request, response, next) => {
      const headers = { 'Retry-After': String(response.getHeader('Retry-After')) }
      next(new ApiError('RATE_LIMIT_EXCEEDED', MESSAGE, { headers }))
    },
  })
}

const MESSAGE =
  'The API key has exceeded its number of requests per minute. Wait the seconds given in Retry-After.'
