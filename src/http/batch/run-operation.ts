/** Runs an operation of the query API on a body that did not come as a request of its own. */
import type { Answer } from '../../analytics/cache/answers.js'
import type {
  AnalyticsQueryResponse,
  AnswerSource,
  BatchOperation,
  ErrorResponse,
  ExplainResponse,
  FunnelExplainResponse,
  FunnelResponse,
  Project,
  RetentionExplainResponse,
  RetentionResponse,
  ValuesResponse,
} from '../../contract/api.js'
import { ERROR_STATUS, type ApiError } from '../../contract/errors.js'
import {
  answerExplain,
  answerFunnel,
  answerFunnelExplain,
  answerProject,
  answerQuery,
  answerRetention,
  answerRetentionExplain,
  answerValues,
} from '../query/operations.js'
import type { OperationContext } from '../query/operation-context.js'
import { getBody } from '../query/send-answer.js'
import type { ApiUseCases } from '../query/use-cases.js'
import { buildErrorBody, unwrapError } from '../server/error-response.js'
import { createNotJsonObjectError, toApiError } from '../server/translate-error.js'
import type { Contract } from '../validation/contract.js'

/** What an operation responds: its status, its body, and when to try again. */
export interface Outcome<Body> {
  readonly status: number
  readonly body: Body | ErrorResponse
  readonly retry_after?: number
  /** How the answer was found, if the operation keeps its answers. It is not a part of the response. */
  readonly source?: AnswerSource
}

/** What operations are run with. */
export interface Operations {
  readonly api: ApiUseCases
  readonly contract: Contract
}

/** The answer of each operation. */
interface Answers extends Readonly<Record<BatchOperation, object>> {
  readonly query: AnalyticsQueryResponse
  readonly values: ValuesResponse
  readonly retention: RetentionResponse
  readonly funnel: FunnelResponse
  readonly explain: ExplainResponse
  readonly explain_retention: RetentionExplainResponse
  readonly explain_funnel: FunnelExplainResponse
  readonly project: { readonly project: Project }
}

export type Operation = keyof Answers

type Run<Body> = (
  operations: Operations,
  body: unknown,
  context: OperationContext,
) => Promise<Pick<Outcome<Body>, 'source'> & { readonly body: Body }>

/** Validates and answers a body, by the name of the operation. */
const OPERATIONS: { readonly [Name in Operation]: Run<Answers[Name]> } = {
  query: async ({ api, contract }, body, context) =>
    describeAnswer(await answerQuery(api, await contract.validateQuery(body), context)),
  values: async ({ api, contract }, body, context) =>
    describeAnswer(await answerValues(api, await contract.validateValues(body), context)),
  retention: async ({ api, contract }, body, context) =>
    describeAnswer(await answerRetention(api, await contract.validateRetention(body), context)),
  funnel: async ({ api, contract }, body, context) =>
    describeAnswer(await answerFunnel(api, await contract.validateFunnel(body), context)),
  explain: async ({ api, contract }, body, context) => ({
    body: await answerExplain(api, await contract.validateQuery(body), context),
  }),
  explain_retention: async ({ api, contract }, body, context) => ({
    body: await answerRetentionExplain(api, await contract.validateRetention(body), context),
  }),
  explain_funnel: async ({ api, contract }, body, context) => ({
    body: await answerFunnelExplain(api, await contract.validateFunnel(body), context),
  }),
  // It has no body.
  project: async ({ api }, _body, context) => ({ body: await answerProject(api, context) }),
}

const describeAnswer = <Body>(
  answer: Answer<Body>,
): { readonly body: Body; readonly source: AnswerSource } => ({
  body: getBody(answer),
  source: answer.source,
})

/** Runs an operation. An error becomes its outcome, as it would become the response to a request. */
export async function runOperation<Name extends Operation>(
  operations: Operations,
  operation: Name,
  body: unknown,
  context: OperationContext,
): Promise<Outcome<Answers[Name]>> {
  try {
    if (typeof body !== 'object' || body === null) {
      throw createNotJsonObjectError(JSON.stringify(body))
    }
    return { status: 200, ...(await OPERATIONS[operation](operations, body, context)) }
  } catch (thrown) {
    const error = toApiError(thrown)
    const status = ERROR_STATUS[error.code]
    // When the client has disconnected, the line of the request says so.
    const isWanted = !context.signal.aborted
    if (status >= 500 && isWanted)
      context.logger.error({ operation, err: unwrapError(error) }, 'failed')
    return describeFailure(error)
  }
}

/** Returns the outcome of an operation that failed. */
export function describeFailure(error: ApiError): Outcome<never> {
  const seconds = error.headers['Retry-After']
  return {
    status: ERROR_STATUS[error.code],
    body: buildErrorBody(error),
    ...(seconds === undefined ? {} : { retry_after: Number(seconds) }),
  }
}
