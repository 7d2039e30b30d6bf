/** Assembles the HTTP application from what it depends on. */
import express, { type Express, type Router } from 'express'
import type { Collect } from '../ingest/collect/collect.js'
import type { FindProject } from '../ingest/collect/find-project.js'
import { authentication } from '../http/query/authentication.js'
import { bodyLimit } from '../http/server/body-limit.js'
import type { Authenticate } from '../http/query/auth-context.js'
import { headAsGet, originForm } from '../http/server/normalize-request.js'
import { commonHeaders } from '../http/server/common-headers.js'
import type { Contract } from '../http/validation/contract.js'
import { cors, preflight } from '../http/collect/cors.js'
import { beginDelivery } from '../http/collect/collect-context.js'
import { drain, type Shutdown } from '../http/server/graceful-shutdown.js'
import { errorWriter } from '../http/server/error-response.js'
import { eventsBody, MAX_EVENTS_BYTES } from '../http/collect/events-body.js'
import { livez, readyz } from '../http/server/health.js'
import {
  getProject,
  postAnalyticsQuery,
  type Query,
  type ReadProject,
} from '../http/query/api-handlers.js'
import { postEvents } from '../http/collect/post-events.js'
import { tokenInBody, tokenInHeader } from '../http/collect/collector-auth.js'
import { keyRateLimit } from '../http/query/rate-limit.js'
import { requestLog } from '../http/server/request-log.js'
import { addRoutes, notFound, type Handler, type RouteTable } from '../http/server/routes.js'
import { trackingRouter } from '../http/site/tracking.js'
import { MAX_BODY_BYTES } from '../http/validation/validate-query.js'
import { wireRules } from '../http/server/http-conformance.js'
import type { Logger } from '../lib/log.js'

/** What answers questions. */
export interface ApiDependencies {
  readonly authenticate: Authenticate
  readonly query: Query
  readonly readProject: ReadProject
  /** Requests a minute and API key; 0 is without limit. */
  readonly rateLimit: number
}

/** What takes events. */
export interface CollectorDependencies {
  readonly findProject: FindProject
  readonly collect: Collect
  readonly now: () => Date
  /** How many proxies in front are believed where a request comes from. */
  readonly trustedProxies: number
}

/** What the application needs from the rest of the service. */
export interface AppDependencies {
  /** Undefined where no questions are answered. */
  readonly api: ApiDependencies | undefined
  /** Undefined where no events are taken. */
  readonly collector: CollectorDependencies | undefined
  /** Whether the store answers; asked at every probe of /readyz. */
  readonly isReady: () => Promise<boolean>
  readonly contract: Contract
  readonly shutdown: Shutdown
  readonly logger: Logger
  /** Further pages, which need no key. */
  readonly pages?: readonly Router[]
}

const EVENTS = '/v1/events'

/** The application, ready to be listened with. */
export function createApp(dependencies: AppDependencies): Express {
  const { api, collector, contract, logger, shutdown, pages = [] } = dependencies
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.set('trust proxy', collector?.trustedProxies ?? 0)
  app.use(requestLog(logger), commonHeaders)
  if (collector !== undefined) app.use(EVENTS, cors)
  app.use(wireRules, originForm, drain(shutdown))
  addRoutes(app, {
    ...(collector === undefined ? {} : eventRoutes(collector, contract)),
    ...(api === undefined ? {} : questionRoutes(api, contract, shutdown)),
    ...commonRoutes(dependencies),
  })
  if (collector !== undefined) app.use(trackingRouter())
  app.use(...pages, contract.docs, notFound, errorWriter)
  return app
}

/** What needs a key is checked in the order written here. */
function questionRoutes(api: ApiDependencies, contract: Contract, shutdown: Shutdown): RouteTable {
  const key: readonly Handler[] = [authentication(api.authenticate), keyRateLimit(api.rateLimit)]
  const checks: readonly Handler[] = [headAsGet, bodyLimit(MAX_BODY_BYTES), ...contract.checks]
  return {
    '/v1/analytics/query': {
      post: [...key, ...checks, postAnalyticsQuery(api.query, shutdown.stopping)],
    },
    '/v1/project': {
      get: [...key, ...checks, getProject(api.readProject, shutdown.stopping)],
    },
  }
}

/** A token in the header is checked before the body is read; one in the body as soon as that can be. */
const eventRoutes = (
  { findProject, collect, now }: CollectorDependencies,
  contract: Contract,
): RouteTable => ({
  [EVENTS]: {
    post: [
      beginDelivery(now),
      tokenInHeader(findProject),
      bodyLimit(MAX_EVENTS_BYTES),
      ...eventsBody,
      tokenInBody(findProject),
      ...contract.eventChecks,
      postEvents(collect),
    ],
    options: [preflight],
  },
})

const commonRoutes = ({ isReady, shutdown }: AppDependencies): RouteTable => ({
  '/livez': { get: [livez] },
  '/readyz': { get: [readyz(isReady, shutdown.draining)] },
  '/': { get: [toDocs] },
})

const toDocs: Handler = (_request: express.Request, response: express.Response) => {
  response.redirect('/docs')
}
