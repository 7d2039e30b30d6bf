/** Assembles the HTTP application from what it depends on. */
import express, { type Express } from 'express'
import { authentication } from './http/authentication.js'
import { bodyLimit } from './http/body-limit.js'
import type { Authenticate } from './http/caller.js'
import { headAsGet, originForm } from './http/canonical-form.js'
import { commonHeaders } from './http/common-headers.js'
import type { Contract } from './http/contract.js'
import { drain, type Shutdown } from './http/drain.js'
import { errorWriter } from './http/errors.js'
import { livez, readyz } from './http/health.js'
import { getProject, postAnalyticsQuery, type Query, type ReadProject } from './http/operations.js'
import { keyRateLimit } from './http/rate-limit.js'
import { requestLog } from './http/request-log.js'
import { addRoutes, notFound, type Handler, type RouteTable } from './http/routes.js'
import { wireRules } from './http/wire-rules.js'
import type { Logger } from './log.js'

/** What the application needs from the rest of the service. */
export interface AppDependencies {
  readonly authenticate: Authenticate
  readonly query: Query
  readonly readProject: ReadProject
  /** Whether the store answers; asked at every probe of /readyz. */
  readonly isReady: () => Promise<boolean>
  readonly contract: Contract
  readonly shutdown: Shutdown
  readonly logger: Logger
  /** Requests a minute and API key; 0 is without limit. */
  readonly rateLimit: number
}

/** The application, ready to be listened with. */
export function createApp(dependencies: AppDependencies): Express {
  const { contract, logger, shutdown } = dependencies
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.use(requestLog(logger), commonHeaders, wireRules, originForm, drain(shutdown))
  addRoutes(app, routes(dependencies))
  app.use(contract.docs, notFound, errorWriter)
  return app
}

/** What needs a key is checked in the order written here. */
function routes(dependencies: AppDependencies): RouteTable {
  const { authenticate, query, readProject, isReady, contract, shutdown } = dependencies
  const key: readonly Handler[] = [
    authentication(authenticate),
    keyRateLimit(dependencies.rateLimit),
  ]
  const checks: readonly Handler[] = [headAsGet, bodyLimit, ...contract.checks]
  return {
    '/v1/analytics/query': {
      post: [...key, ...checks, postAnalyticsQuery(query, shutdown.stopping)],
    },
    '/v1/project': {
      get: [...key, ...checks, getProject(readProject, shutdown.stopping)],
    },
    '/livez': { get: [livez] },
    '/readyz': { get: [readyz(isReady, shutdown.draining)] },
    '/': { get: [toDocs] },
  }
}

const toDocs: Handler = (_request: express.Request, response: express.Response) => {
  response.redirect('/docs')
}
