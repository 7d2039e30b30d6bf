/** Composes the HTTP application: its middlewares and routes, in the order in which they run. */
import type { Express, Request, RequestHandler, Response, Router } from 'express'
import type { CheckWork, Collect } from '../../ingest/collect/collect.js'
import type { FindProject } from '../../ingest/collect/find-project.js'

import { beginCollect, optionsEvents, postEvents } from '../../http/collect/collect-handlers.js'
import { checkBodyToken, checkHeaderToken } from '../../http/collect/collector-auth.js'
import {
  createLimitHandlers,
  refuseLargeRequests,
  type EventLimits,
} from '../../http/collect/event-limits.js'
import { createEventsReader, MAX_EVENTS_BYTES } from '../../http/collect/events-body.js'
import { warnOfProxies } from '../../http/collect/read-client-info.js'
import { refuseEarly } from '../../http/query/refuse-early.js'
import { createRefusalPace, slowRefusals } from '../../http/query/slow-refusals.js'
import { limitRate } from '../../http/query/rate-limit.js'
import { limitBodySize } from '../../http/server/body.js'
import { handleError } from '../../http/server/error-response.js'
import { getLivez, getReadyz, type Readiness } from '../../http/server/health.js'
import {
  addRoutes,
  rejectUnknownPath,
  type Handler,
  type RouteTable,
} from '../../http/server/routes.js'
import { createDocsRouter } from '../../http/site/docs/docs-router.js'
import { createExplorerRouter } from '../../http/site/explorer.js'
import { createTrackingRouter } from '../../http/site/tracking.js'
import type { Contract } from '../../http/validation/contract.js'
import type { Logger } from '../../lib/log.js'
import { buildApiRoutes, type ApiDependencies } from './api-routes.js'
import { createObservers, createShell, EVENTS, type ShellDependencies } from './app-shell.js'

/** The use cases of the collector. */
export interface CollectorDependencies {
  readonly findProject: FindProject
  readonly collect: Collect
  readonly now: () => Date
  /** The longest that an event of a server may have happened before it is sent. */
  readonly maxEventAgeDays: number
  /** How much a public token and an address may send. */
  readonly limits: EventLimits
  /** Limits what waits to be loaded, as `collect` does; undefined for no limit. */
  readonly checkWork?: CheckWork | undefined
  /** The bytes of bodies that may be in memory at once; a default of the collector if left out. */
  readonly maxBytesInFlight?: number
  /** The number of proxies in front of the service whose X-Forwarded-For is trusted. */
  readonly trustedProxies: number
}

/** Everything that the application needs from the rest of the service. */
export interface AppDependencies extends ShellDependencies, Readiness {
  /** Undefined if this process does not serve the query API. */
  readonly api: ApiDependencies | undefined
  /** Undefined if this process does not collect events. */
  readonly collector: CollectorDependencies | undefined
  readonly contract: Contract
  /** Further pages. They need no API key. */
  readonly pages?: readonly Router[]
}

/** Creates the application. */
export function createApp(dependencies: AppDependencies): Express {
  const { api, collector, contract, logger, shutdown, pages = [] } = dependencies
  const limit = limitRate(api?.rateLimit ?? 0)
  const pace = createRefusalPace()
  const app = createShell(
    dependencies,
    api &&
      refuseEarly({
        ...api,
        limitRate: limit,
        pace,
        observe: runInOrder(createObservers(dependencies)),
        logger,
        draining: shutdown.draining,
      }),
  )
  addRoutes(app, {
    ...(collector === undefined ? {} : buildCollectorRoutes(collector, contract, logger)),
    ...(api === undefined ? {} : buildApiRoutes(api, limit, contract, shutdown)),
    ...buildCommonRoutes(dependencies),
  })
  if (collector !== undefined) app.use(createTrackingRouter())
  if (api !== undefined) app.use(createExplorerRouter())
  app.use(
    ...pages,
    createDocsRouter(contract.specs),
    rejectUnknownPath,
    slowRefusals(pace),
    handleError,
  )
  return app
}

/** Combines handlers that all pass the request on. */
const runInOrder = (handlers: readonly RequestHandler[]): RequestHandler =>
  handlers.reduceRight<RequestHandler>(
    (rest, handler) => (request, response, next) =>
      void handler(request, response, () => void rest(request, response, next)),
    (_request, _response, next) => next(),
  )

/** A token in the header is checked before the body is read; a token in the body, right after the body is parsed. */
function buildCollectorRoutes(
  {
    trustedProxies,
    findProject,
    collect,
    now,
    maxEventAgeDays,
    limits,
    checkWork,
    maxBytesInFlight,
  }: CollectorDependencies,
  contract: Contract,
  logger: Logger,
): RouteTable {
  const { checkAddress, countEvents } = createLimitHandlers(limits)
  const refuseLarge = checkWork === undefined ? [] : [refuseLargeRequests(checkWork)]
  const checks: readonly Handler[] = [
    warnOfProxies(trustedProxies, logger),
    beginCollect(now, maxEventAgeDays),
    checkAddress,
    checkHeaderToken(findProject),
    ...refuseLarge,
    limitBodySize(MAX_EVENTS_BYTES),
    ...createEventsReader(maxBytesInFlight),
    checkBodyToken(findProject),
    ...refuseLarge,
    countEvents,
    contract.checkEvents,
  ]
  return {
    [EVENTS]: { post: [...checks, postEvents(collect)], options: [optionsEvents] },
  }
}

const buildCommonRoutes = (dependencies: AppDependencies): RouteTable => ({
  '/livez': { get: [getLivez] },
  '/readyz': { get: [getReadyz(dependencies, dependencies.shutdown.draining)] },
  '/': { get: [redirectToDocs] },
})

const redirectToDocs: Handler = (_request: Request, response: Response) => {
  response.redirect('/docs')
}
