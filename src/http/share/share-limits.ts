/** Limits the requests per minute to a public dashboard, and those of an address to all of them. */
import type { RequestHandler } from 'express'
import { ipKeyGenerator } from 'express-rate-limit'
import { limitRequests } from '../query/rate-limit.js'
import { getAuthContext } from '../server/request-context.js'

/** Requests per minute; 0 means no limit. */
export interface ShareLimits {
  readonly perDashboard: number
  readonly perAddress: number
}

export interface ShareCounters {
  /** Counts a request before it is known which project it is about: made-up names count too. */
  readonly byAddress: RequestHandler
  /** Counts a request whose reader is known. */
  readonly byDashboard: RequestHandler
  /** Counts by both. */
  readonly byBoth: RequestHandler
}

/** Creates the counters of a service. The addresses of an IPv6 network of 56 bits are one: a household has as many. */
export function createShareCounters({ perDashboard, perAddress }: ShareLimits): ShareCounters {
  const byAddress = limitRequests({
    perMinute: perAddress,
    name: 'address',
    identify: ({ ip = '' }) => ipKeyGenerator(ip),
    message: 'The address has exceeded its number of requests per minute to public dashboards.',
  })
  const byDashboard = limitRequests({
    perMinute: perDashboard,
    name: 'dashboard',
    identify: (request) => getAuthContext(request).principal.keyId,
    message: 'The public dashboard has exceeded its number of requests per minute.',
  })
  const byBoth: RequestHandler = (request, response, next) =>
    void byAddress(request, response, (error?: unknown) => {
      if (error === undefined) void byDashboard(request, response, next)
      else next(error)
    })
  return { byAddress, byDashboard, byBoth }
}
