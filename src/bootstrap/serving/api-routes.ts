/** The routes of the query API. */
import type { RequestHandler } from 'express'
import type { ShardsData } from '../../analytics/across/read-projects.js'
import type { Scope } from '../../contract/scopes.js'
import { postBatch } from '../../http/batch/post-batch.js'
import { postMcp } from '../../http/mcp/post-mcp.js'
import { refusePages } from '../../http/mcp/refuse-pages.js'
import { ENDPOINTS, type Endpoint } from '../../http/query/endpoints.js'
import {
  answerRequests,
  authenticateRequests,
  requireScope,
  type Authenticate,
} from '../../http/query/handlers.js'
import type { RunningRequest } from '../../http/query/context.js'
import type { QueryApi } from '../../http/query/query-api.js'
import { MAX_QUERY_BYTES, readQueryBody } from '../../http/query/query-body.js'
import type { Recall } from '../../http/query/refuse-early.js'
import type { ShareDependencies } from '../../http/share/read-share.js'
import { negotiateJson, negotiateResults, negotiateTable } from '../../http/formats/negotiate.js'
import { limitBodySize } from '../../http/server/body.js'
import type { Shutdown } from '../../http/server/graceful-shutdown.js'
import { treatHeadAsGet } from '../../http/server/http-conformance.js'
import type { Handler, RouteTable } from '../../http/server/routes.js'
import type { Contract } from '../../http/validation/contract.js'
import type { StoredProject } from '../../projects/project.js'

/** Opens the data of projects that live on the same shards. */
export type OpenShards = (
  projects: readonly [StoredProject, ...StoredProject[]],
) => Promise<ShardsData>

/** What the routes need. */
export interface ApiDependencies extends QueryApi {
  /** Reads the data of several projects for a request; `read` may be called again. */
  readonly readAcross: <Result>(
    request: RunningRequest,
    read: (openData: OpenShards) => Promise<Result>,
  ) => Promise<Result>
  readonly authenticate: Authenticate
  readonly recall: Recall
  /** Requests per minute and API key; 0 means no limit. */
  readonly rateLimit: number
  readonly shares: ShareDependencies
}

const CHECK_BODY: readonly Handler[] = [
  treatHeadAsGet,
  limitBodySize(MAX_QUERY_BYTES),
  ...readQueryBody,
]

/** Builds the routes of the query API. @param limit counts the requests of a key */
export function buildApiRoutes(
  api: ApiDependencies,
  limit: RequestHandler,
  contract: Contract,
  { stopping }: Shutdown,
): RouteTable {
  /** Checks the key of a request, counts the request, and checks that the key has a scope. */
  const checkKey = (scope: Scope): readonly Handler[] => [
    authenticateRequests(api.authenticate),
    limit,
    requireScope(scope),
  ]
  const others = ENDPOINTS.filter((endpoint) => !isOfAnalytics(endpoint))
  return {
    ...buildAnalyticsRoutes(api, checkKey, limit, contract, stopping),
    ...buildRoutes(others, api, checkKey, contract, stopping),
    '/mcp': {
      post: [
        refusePages,
        ...checkKey('read'),
        ...CHECK_BODY,
        postMcp({ api, contract }, limit, stopping),
      ],
    },
  }
}

const ANALYTICS = '/v1/analytics'
const isOfAnalytics = ({ path }: Endpoint): boolean => path.startsWith(`${ANALYTICS}/`)

/** Finds who sends a request, counts the request, and checks that it may be sent. */
type CheckReader = (scope: Scope) => readonly Handler[]

/**
 * Builds the routes that API keys and viewers of public dashboards share.
 *
 * @param limit counts another query of the same request
 */
export const buildAnalyticsRoutes = (
  api: QueryApi,
  checkReader: CheckReader,
  limit: RequestHandler,
  contract: Contract,
  stopping: AbortSignal,
): RouteTable => ({
  ...buildRoutes(ENDPOINTS.filter(isOfAnalytics), api, checkReader, contract, stopping),
  [`${ANALYTICS}/batch`]: {
    post: [
      ...checkReader('read'),
      negotiateResults,
      ...CHECK_BODY,
      contract.checkBatch,
      postBatch({ api, contract }, limit, stopping),
    ],
  },
})

const buildRoutes = (
  endpoints: readonly Endpoint[],
  api: QueryApi,
  checkReader: CheckReader,
  contract: Contract,
  stopping: AbortSignal,
): RouteTable =>
  Object.fromEntries(
    endpoints.map((endpoint) => {
      const { path, method, scope, operation } = endpoint
      const handlers = [
        ...checkReader(scope),
        ...negotiate(endpoint),
        ...CHECK_BODY,
        contract.check(operation),
        answerRequests(api, endpoint, stopping),
      ]
      return [path, { [method]: handlers }]
    }),
  )

/** Chooses the format of a response: an explanation is JSON, and the project is asked for without a choice. */
function negotiate({ operation, path }: Endpoint): readonly Handler[] {
  if (operation === undefined) return []
  return [operation.path === path ? negotiateTable : negotiateJson]
}
