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
  answerRetention,
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
  const { checkQuery, checkValues, checkRetention, checkFunnel, checkBatch, checkExplain } =
    contract
  const { stopping } = shutdown
  return {
    '/v1/analytics/query': {
      post: [...checksOfTables, checkQuery, postAnalyticsQuery(api, stopping)],
    },
    '/v1/analytics/values': {
      post: [
        ...checksOfTables,
        checkValues,
        postOperation(answerValues, api, stopping, describeValues),
      ],
    },
    '/v1/analytics/retention': {
      post: [...checks, checkRetention, postOperation(answerRetention, api, stopping)],
    },
    '/v1/analytics/funnel': {
      post: [...checks, checkFunnel, postOperation(answerFunnel, api, stopping)],
    },
    '/v1/analytics/batch': {
      post: [...checks, checkBatch, postBatch({ api, contract }, limit, stopping)],
    },
    '/v1/analytics/explain': {
      post: [...checks, checkExplain, postOperation(answerExplain, api, stopping)],
    },
    '/v1/project': {
      get: [...checks, checkQuery, getProject(api, stopping)],
    },
  }
}
