/** Runs an operation of the query API on a body that did not come as a request of its own. */
import type { BatchOperation, BatchResult } from '../../contract/api.js'
import { ERROR_STATUS, type ApiError } from '../../contract/errors.js'
import { answerFunnel, answerQuery, answerRetention, answerValues } from '../query/operations.js'
import type { OperationContext } from '../query/operation-context.js'
import { getBody } from '../query/send-answer.js'
import type { ApiUseCases } from '../query/use-cases.js'
import { buildErrorBody, unwrapError } from '../server/error-response.js'
import { createNotJsonObjectError, toApiError } from '../server/translate-error.js'
import type { Contract } from '../validation/contract.js'

/** What an operation responds: its status, its body, and when to try again. */
export type Outcome = Omit<BatchResult, 'id'>

/** What operations are run with. */
export interface Operations {
  readonly api: ApiUseCases
  readonly contract: Contract
}

type Run = (
  operations: Operations,
  body: unknown,
  context: OperationContext,
) => Promise<BatchResult['body']>

/** Validates and answers a body, by the name of the operation. */
const OPERATIONS: Readonly<Record<BatchOperation, Run>> = {
  query: async ({ api, contract }, body, context) =>
    getBody(await answerQuery(api, await contract.validateQuery(body), context)),
  values: async ({ api, contract }, body, context) =>
    answerValues(api, await contract.validateValues(body), context),
  retention: async ({ api, contract }, body, context) =>
    getBody(await answerRetention(api, await contract.validateRetention(body), context)),
  funnel: async ({ api, contract }, body, context) =>
    getBody(await answerFunnel(api, await contract.validateFunnel(body), context)),
}

/** Runs an operation. An error becomes its outcome, as it would become the response to a request. */
export async function runOperation(
  operations: Operations,
  operation: BatchOperation,
  body: unknown,
  context: OperationContext,
): Promise<Outcome> {
  try {
    if (typeof body !== 'object' || body === null) {
      throw createNotJsonObjectError(JSON.stringify(body))
    }
    return { status: 200, body: await OPERATIONS[operation](operations, body, context) }
  } catch (thrown) {
    const error = toApiError(thrown)
    const status = ERROR_STATUS[error.code]
    if (status >= 500) context.logger.error({ operation, err: unwrapError(error) }, 'failed')
    return describeFailure(error)
  }
}

/** Returns the outcome of an operation that failed. */
export function describeFailure(error: ApiError): Outcome {
  const seconds = error.headers['Retry-After']
  return {
    status: ERROR_STATUS[error.code],
    body: buildErrorBody(error),
    ...(seconds === undefined ? {} : { retry_after: Number(seconds) }),
  }
}
