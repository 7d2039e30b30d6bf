/** The routes of the query API, and the use cases that they run. */
import type { RequestHandler } from 'express'
import type { Scope } from '../../contract/scopes.js'
import { postBatch } from '../../http/batch/post-batch.js'
import { postMcp } from '../../http/mcp/post-mcp.js'
import { refusePages } from '../../http/mcp/refuse-pages.js'
import {
  authenticateRequests,
  getProject,
  postAnalyticsQuery,
  postKept,
  postOperation,
  requireScope,
  type ApiUseCases,
  type Authenticate,
} from '../../http/query/api-handlers.js'
import {
  answerExplain,
  answerFunnel,
  answerFunnelExplain,
  answerRetention,
  answerRetentionExplain,
  answerValues,
} from '../../http/query/operations.js'
import { postExport } from '../../http/query/post-export.js'
import { MAX_QUERY_BYTES, readQueryBody } from '../../http/query/query-body.js'
import type { Recall } from '../../http/query/refuse-early.js'
import type { ShareDependencies } from '../../http/share/read-share.js'
import {
  describeFunnel,
  describeRetention,
  describeValues,
} from '../../http/formats/describe-answer.js'
import { negotiateJson, negotiateResults, negotiateTable } from '../../http/formats/negotiate.js'
import { limitBodySize } from '../../http/server/body.js'
import type { Shutdown } from '../../http/server/graceful-shutdown.js'
import { treatHeadAsGet } from '../../http/server/http-conformance.js'
import type { Handler, RouteTable } from '../../http/server/routes.js'
import type { Contract } from '../../http/validation/contract.js'

/** The use cases of the query API. */
export interface ApiDependencies extends ApiUseCases {
  readonly authenticate: Authenticate
  readonly recall: Recall
  /** Requests per minute and API key; 0 means no limit. */
  readonly rateLimit: number
  readonly shares: ShareDependencies
}

/** Checks the key of a request, counts the request, and checks that the key has a scope. */
const checkKeyFor = (
  scope: Scope,
  { authenticate }: Pick<ApiDependencies, 'authenticate'>,
  limit: RequestHandler,
): readonly Handler[] => [authenticateRequests(authenticate), limit, requireScope(scope)]

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
  const checkKey = checkKeyFor('read', api, limit)
  return {
    ...buildAnalyticsRoutes(api, checkKey, limit, contract, stopping),
    ...buildExportRoute(api, limit, contract, stopping),
    '/v1/project': {
      get: [...checkKey, ...CHECK_BODY, contract.checkQuery, getProject(api, stopping)],
    },
    '/mcp': {
      post: [refusePages, ...checkKey, ...CHECK_BODY, postMcp({ api, contract }, stopping)],
    },
  }
}

/**
 * Builds the routes of the questions about a project.
 *
 * @param checkAsker finds who asks, and counts the request
 * @param limit counts another query of the same request
 */
export function buildAnalyticsRoutes(
  api: ApiUseCases,
  checkAsker: readonly Handler[],
  limit: RequestHandler,
  contract: Contract,
  stopping: AbortSignal,
): RouteTable {
  // They also check requests that are to be explained: the path of a request chooses its operation.
  const { checkQuery, checkValues, checkRetention, checkFunnel, checkBatch } = contract
  const post = (negotiate: Handler, check: Handler, answer: Handler) => ({
    post: [...checkAsker, negotiate, ...CHECK_BODY, check, answer],
  })
  const postForJson = (check: Handler, answer: Handler) => post(negotiateJson, check, answer)
  const postForTable = (check: Handler, answer: Handler) => post(negotiateTable, check, answer)
  return {
    '/v1/analytics/query': postForTable(checkQuery, postAnalyticsQuery(api, stopping)),
    '/v1/analytics/values': postForTable(
      checkValues,
      postKept(answerValues, api, stopping, describeValues),
    ),
    '/v1/analytics/retention': postForTable(
      checkRetention,
      postKept(answerRetention, api, stopping, describeRetention),
    ),
    '/v1/analytics/funnel': postForTable(
      checkFunnel,
      postKept(answerFunnel, api, stopping, describeFunnel),
    ),
    '/v1/analytics/batch': post(
      negotiateResults,
      checkBatch,
      postBatch({ api, contract }, limit, stopping),
    ),
    '/v1/analytics/explain': postForJson(checkQuery, postOperation(answerExplain, api, stopping)),
    '/v1/analytics/retention/explain': postForJson(
      checkRetention,
      postOperation(answerRetentionExplain, api, stopping),
    ),
    '/v1/analytics/funnel/explain': postForJson(
      checkFunnel,
      postOperation(answerFunnelExplain, api, stopping),
    ),
  }
}

const buildExportRoute = (
  api: ApiDependencies,
  limit: RequestHandler,
  { checkExport }: Contract,
  stopping: AbortSignal,
): RouteTable => ({
  '/v1/events/export': {
    post: [
      ...checkKeyFor('export', api, limit),
      negotiateTable,
      ...CHECK_BODY,
      checkExport,
      postExport(api, stopping),
    ],
  },
})
