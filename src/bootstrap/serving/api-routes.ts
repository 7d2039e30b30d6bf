/** The routes of the query API, and the use cases that they run. */
import type { RequestHandler } from 'express'
import { postBatch } from '../../http/batch/post-batch.js'
import {
  authenticateRequests,
  getProject,
  postAnalyticsQuery,
  postOperation,
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
import { MAX_QUERY_BYTES, readQueryBody } from '../../http/query/query-body.js'
import type { Recall } from '../../http/query/refuse-early.js'
import { describeValues } from '../../http/formats/describe-answer.js'
import { negotiateFormat } from '../../http/formats/negotiate.js'
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
}

/** Builds the routes of the query API. @param limit counts the requests of a key */
export function buildApiRoutes(
  api: ApiDependencies,
  limit: RequestHandler,
  contract: Contract,
  shutdown: Shutdown,
): RouteTable {
  const checkKey: readonly Handler[] = [authenticateRequests(api.authenticate), limit]
  const checkBody: readonly Handler[] = [
    treatHeadAsGet,
    limitBodySize(MAX_QUERY_BYTES),
    ...readQueryBody,
  ]
  const checks = [...checkKey, ...checkBody]
  const checksOfTables = [...checkKey, negotiateFormat, ...checkBody]
  // They also check requests that are to be explained: the path of a request chooses its operation.
  const { checkQuery, checkValues, checkRetention, checkFunnel, checkBatch } = contract
  const { stopping } = shutdown
  const post = (check: Handler, answer: Handler, before = checks) => ({
    post: [...before, check, answer],
  })
  return {
    '/v1/analytics/query': post(checkQuery, postAnalyticsQuery(api, stopping), checksOfTables),
    '/v1/analytics/values': post(
      checkValues,
      postOperation(answerValues, api, stopping, describeValues),
      checksOfTables,
    ),
    '/v1/analytics/retention': post(checkRetention, postOperation(answerRetention, api, stopping)),
    '/v1/analytics/funnel': post(checkFunnel, postOperation(answerFunnel, api, stopping)),
    '/v1/analytics/batch': post(checkBatch, postBatch({ api, contract }, limit, stopping)),
    '/v1/analytics/explain': post(checkQuery, postOperation(answerExplain, api, stopping)),
    '/v1/analytics/retention/explain': post(
      checkRetention,
      postOperation(answerRetentionExplain, api, stopping),
    ),
    '/v1/analytics/funnel/explain': post(
      checkFunnel,
      postOperation(answerFunnelExplain, api, stopping),
    ),
    '/v1/project': { get: [...checks, checkQuery, getProject(api, stopping)] },
  }
}
