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
import { buildManagementMcp, passOtherKeys } from '../../http/mcp/post-management-mcp.js'
import { recognizeKeys, refuseEarly, type Recognize } from '../../http/query/refuse-early.js'
import {
  createRefusalPace,
  slowRefusals,
  type PaceRefusal,
} from '../../http/query/slow-refusals.js'
import type { ManagementApi } from '../../http/management/management-api.js'
import {
  buildManagementRoutes,
  buildProjectKeyRoutes,
  limitAdmins,
} from '../../http/management/routes.js'
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
import { recognizeShares } from '../../http/share/read-share.js'
import { createShareCounters, type ShareCounters } from '../../http/share/share-limits.js'
import { refuseOddNames } from '../../http/share/share-path.js'
import { createDocsRouter } from '../../http/site/docs/docs-router.js'
import { createExplorerRouter } from '../../http/site/explorer.js'
import { createTrackingRouter } from '../../http/site/tracking.js'
import type { Shutdown } from '../../http/server/graceful-shutdown.js'
import type { Contract } from '../../http/validation/contract.js'
import { buildApiRoutes, type ApiDependencies } from './api-routes.js'
import { buildShareRoutes } from './share-routes.js'
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
  /** The second file name of the tracking script, beside `tally.js`. */
  readonly scriptName: string
}

/** Everything that the application needs from the rest of the service. */
export interface AppDependencies extends ShellDependencies, Readiness {
  /** Undefined if this process does not serve the query API. */
  readonly api: ApiDependencies | undefined
  /** Undefined if this process does not collect events. */
  readonly collector: CollectorDependencies | undefined
  /** Undefined if this process does not serve the query API. */
  readonly management?: ManagementApi | undefined
  /** Whether management has a port of its own. What API keys of projects may read of it is served here, too. */
  readonly isManagementApart?: boolean
  readonly contract: Contract
  /** When refusals of API keys are sent; the pace of a service if left out. */
  readonly pace?: PaceRefusal
  /** Further pages. They need no API key. */
  readonly pages?: readonly Router[]
}

/** Creates the application. */
export function createApp(dependencies: AppDependencies): Express {
  const { api, collector, management, contract, logger, shutdown, pages = [] } = dependencies
  const { pace = createRefusalPace(), isManagementApart = false } = dependencies
  const counters = createCounters(api)
  const app = createShell(
    dependencies,
    api &&
      refuseEarly({
        queue: api.queue,
        recognize: recognizeAskers(api, counters),
        pace,
        observe: runInOrder(createObservers(dependencies)),
        logger,
        draining: shutdown.draining,
      }),
  )
  if (api !== undefined) app.use(refuseOddNames)
  const limit = limitAdmins({ rateLimit: management?.rateLimit ?? 0 })
  if (management !== undefined && !isManagementApart) {
    // Before the route of API keys, to which it leaves their requests.
    const handlers = buildManagementMcp(management, contract, limit, shutdown.stopping)
    app.post('/mcp', passOtherKeys, ...handlers)
  }
  addRoutes(app, {
    ...(collector === undefined ? {} : buildCollectorRoutes(collector, dependencies)),
    ...(api === undefined ? {} : buildQueryRoutes(api, counters, contract, shutdown)),
    ...(management &&
      api &&
      (isManagementApart ? buildProjectKeyRoutes : buildManagementRoutes)(
        management,
        contract,
        limit,
        shutdown.stopping,
        api.authenticate,
      )),
    ...buildCommonRoutes(dependencies),
  })
  if (collector !== undefined) app.use(createTrackingRouter(collector.scriptName))
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

/** Counts the requests of API keys, and those to public dashboards. */
interface Counters extends ShareCounters {
  readonly byKey: RequestHandler
}

const NO_LIMITS = { perDashboard: 0, perAddress: 0 }

const createCounters = (api: ApiDependencies | undefined): Counters => ({
  byKey: limitRate(api?.rateLimit ?? 0),
  ...createShareCounters(api?.shares.limits ?? NO_LIMITS),
})

/** Recognizes requests of API keys and to public dashboards. */
function recognizeAskers({ recall, shares }: ApiDependencies, counters: Counters): Recognize {
  const byKey = recognizeKeys(recall, counters.byKey)
  const byShare = recognizeShares(shares.recall, counters.byBoth)
  return (request) => byKey(request) ?? byShare(request)
}

const buildQueryRoutes = (
  api: ApiDependencies,
  counters: Counters,
  contract: Contract,
  shutdown: Shutdown,
): RouteTable => ({
  ...buildApiRoutes(api, counters.byKey, contract, shutdown),
  ...buildShareRoutes(api, counters, contract, shutdown.stopping),
})

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
    findProject,
    collect,
    now,
    maxEventAgeDays,
    limits,
    checkWork,
    maxBytesInFlight,
  }: CollectorDependencies,
  { trustedProxies, contract, logger }: AppDependencies,
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
