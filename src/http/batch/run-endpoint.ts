/** Runs an endpoint of the query API on a body that did not come as a request of its own. */
import type { ResponseSource, BatchResult } from '../../contract/api.js'
import { buildErrorBody, ERROR_STATUS, type ApiError } from '../../contract/errors.js'
import type { RequestContext } from '../query/context.js'
import { ENDPOINTS } from '../query/endpoints.js'
import type { QueryApi } from '../query/query-api.js'
import { getBody } from '../query/send-outcome.js'
import { unwrapError } from '../server/error-response.js'
import { createNotJsonObjectError, toApiError } from '../server/translate-error.js'
import type { Contract } from '../validation/contract.js'

/** The response of an endpoint: its status, its body, and when to try again. */
export interface Result {
  readonly status: number
  readonly body: BatchResult['body']
  readonly retry_after?: number
  /** How the response was found, if the endpoint keeps its responses. It is not a part of the response. */
  readonly source?: ResponseSource
}

/** What endpoints are run with. */
export interface Endpoints {
  readonly api: QueryApi
  readonly contract: Contract
}

const BY_NAME = new Map(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint]))

/** Validates and answers a body. An error becomes the result, as it would become the response to a request. */
export async function runEndpoint(
  endpoints: Endpoints,
  name: string,
  body: unknown,
  context: RequestContext,
): Promise<Result> {
  try {
    if (typeof body !== 'object' || body === null) {
      throw createNotJsonObjectError(JSON.stringify(body))
    }
    return { status: 200, ...(await answer(endpoints, name, body, context)) }
  } catch (thrown) {
    return reportFailure(thrown, name, context)
  }
}

/** Returns the result of what has thrown, and logs an error that is not the client's. */
export function reportFailure(
  thrown: unknown,
  operation: string,
  { signal, logger }: Pick<RequestContext, 'signal' | 'logger'>,
): Result {
  const error = toApiError(thrown)
  // When the client has disconnected, the line of the request says so.
  if (ERROR_STATUS[error.code] >= 500 && !signal.aborted)
    logger.error({ operation, err: unwrapError(error) }, 'failed')
  return describeFailure(error)
}

async function answer(
  { api, contract }: Endpoints,
  name: string,
  body: object,
  context: RequestContext,
): Promise<Pick<Result, 'body' | 'source'>> {
  const endpoint = BY_NAME.get(name)
  if (endpoint?.answer === undefined) throw new Error(`no endpoint is called ${name}`)
  const { operation } = endpoint
  const valid = operation === undefined ? body : contract.validate(operation, body, context.project)
  const outcome = await endpoint.answer(api, valid as never, context)
  return {
    // The body is that of the contract, by the name of the endpoint.
    body: getBody(outcome) as BatchResult['body'],
    ...('source' in outcome ? { source: outcome.source } : {}),
  }
}

/** Returns the result of an endpoint that failed. */
export function describeFailure(error: ApiError): Result {
  const seconds = error.headers['Retry-After']
  return {
    status: ERROR_STATUS[error.code],
    body: buildErrorBody(error),
    ...(seconds === undefined ? {} : { retry_after: Number(seconds) }),
  }
}
