/** The middlewares that run before the routes, for the application and for the server of a start. */
import type { IncomingHttpHeaders } from 'node:http'
import express, { type Express, type RequestHandler } from 'express'
import { allowAnyOrigin } from '../../http/collect/collect-handlers.js'
import { followShutdown, type Shutdown } from '../../http/server/graceful-shutdown.js'
import { enforceHttpConformance, normalizeTarget } from '../../http/server/http-conformance.js'
import {
  observeRequests,
  traceRequests,
  type RequestObserver,
  type RequestSpan,
} from '../../http/server/observe-requests.js'
import { logRequests } from '../../http/server/request-log.js'
import { addCommonHeaders } from '../../http/server/response-headers.js'
import type { Logger } from '../../lib/log.js'

/** What an application needs before it has routes. */
export interface ShellDependencies {
  /** Undefined if this process does not collect events. */
  readonly collector: object | undefined
  /** The number of proxies in front of the service whose X-Forwarded-For is trusted. */
  readonly trustedProxies: number
  readonly shutdown: Shutdown
  readonly logger: Logger
  /** Is called for every request. */
  readonly observer?: RequestObserver | undefined
  /** Starts the span of a request; undefined to trace none. */
  readonly startSpan?: ((headers: IncomingHttpHeaders) => RequestSpan) | undefined
}

export const EVENTS = '/v1/events'

/**
 * Creates an application without routes: every request is logged, gets the common headers, and follows a shutdown.
 *
 * @param first runs before all of that
 */
export function createShell(dependencies: ShellDependencies, first?: RequestHandler): Express {
  const { collector, trustedProxies, logger, shutdown } = dependencies
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.set('trust proxy', trustedProxies)
  if (first !== undefined) app.use(first)
  app.use(...createObservers(dependencies), logRequests(logger), addCommonHeaders)
  if (collector !== undefined) app.use(EVENTS, allowAnyOrigin)
  app.use(enforceHttpConformance, normalizeTarget, followShutdown(shutdown))
  return app
}

/** Creates the middlewares that report a request to metrics and to a trace: none if neither is wanted. */
export const createObservers = ({
  observer,
  startSpan,
}: Pick<ShellDependencies, 'observer' | 'startSpan'>): readonly RequestHandler[] => [
  ...(observer === undefined ? [] : [observeRequests(observer)]),
  ...(startSpan === undefined ? [] : [traceRequests(startSpan)]),
]
