/** The first and last handlers of the query API: authenticate a request, run its use case and send the response. */
import type { Request, RequestHandler, Response } from 'express'
import type { Answer } from '../../analytics/cache/answers.js'
import type { TableFormat } from '../../contract/answer-formats.js'
import type { AnalyticsQueryRequest, StreamedQueryRequest } from '../../contract/api.js'
import { ApiError } from '../../contract/errors.js'
import type { Scope } from '../../contract/scopes.js'
import { describeResponse, describeStream } from '../formats/describe-answer.js'
import { streamTable } from '../formats/send-table.js'
import type { Table } from '../formats/table.js'
import { abortOnDisconnect } from '../server/abort-on-disconnect.js'
import { createStoppingError } from '../server/graceful-shutdown.js'
import { getAuthContext } from '../server/request-context.js'
import { createOperationContext, type OperationContext } from './operation-context.js'
import { answerProject, answerQuery, streamAnswer } from './operations.js'
import { sendAnswer } from './send-answer.js'
import type { ApiUseCases, Authenticate } from './use-cases.js'

export type * from './use-cases.js'

/** Sets `request.authContext`. A request with several Authorization headers is treated as one without a key. */
export function authenticateRequests(authenticate: Authenticate): RequestHandler {
  return async (request, _response, next) => {
    const [header, ...others] = request.headersDistinct['authorization'] ?? []
    request.authContext = await authenticate(others.length === 0 ? header : undefined)
    next()
  }
}

/** Requires that the API key of a request has a scope. @throws ApiError INSUFFICIENT_SCOPE */
export const requireScope =
  (scope: Scope): RequestHandler =>
  (request, _response, next) => {
    const { scopes } = getAuthContext(request)
    if (!scopes.includes(scope)) {
      throw new ApiError(
        'INSUFFICIENT_SCOPE',
        `This operation needs an API key with the scope ${scope}. This key has: ${scopes.join(', ')}.`,
      )
    }
    next()
  }

/** POST /v1/analytics/query */
export function postAnalyticsQuery(api: ApiUseCases, stopping: AbortSignal): RequestHandler {
  const postWhole = postKept(answerQuery, api, stopping, describeResponse)
  return async (request, response, next) => {
    const body = request.body as AnalyticsQueryRequest | StreamedQueryRequest
    if (body.limit !== 'all') {
      await postWhole(request, response, next)
      return
    }
    const format = getTableFormat(request)
    await respond(response, stopping, ignore, (signal) =>
      streamAnswer(api, body, createOperationContext(request, signal), (answer, pace) =>
        streamTable(response, format, describeStream(answer), pace),
      ),
    )
  }
}

const ignore = (): void => undefined

/** @throws Error for a request that accepts JSON, which is a bug: its limit is not valid */
function getTableFormat({ answerFormat: format = 'json' }: Request): TableFormat {
  if (format === 'json') throw new Error('JSON is not streamed')
  return format
}

/** POST of an operation whose answers are kept. @param describe describes the body of an answer as a table */
export function postKept<Body>(
  // The validator has made sure of the body.
  answer: (api: ApiUseCases, body: never, context: OperationContext) => Promise<Answer<Body>>,
  api: ApiUseCases,
  stopping: AbortSignal,
  describe: (body: Body) => Table,
): RequestHandler {
  return async (request, response) => {
    const send = (given: Answer<Body>): Promise<void> =>
      sendAnswer(request, response, given, describe)
    await respond(response, stopping, send, (signal) =>
      answer(api, request.body as never, createOperationContext(request, signal)),
    )
  }
}

/** POST of an operation whose answers are not kept, in JSON. */
export function postOperation<Result extends object>(
  // The validator has made sure of the body.
  answer: (api: ApiUseCases, body: never, context: OperationContext) => Promise<Result>,
  api: ApiUseCases,
  stopping: AbortSignal,
): RequestHandler {
  return async (request, response) => {
    const send = (result: Result): void => void response.json(result)
    await respond(response, stopping, send, (signal) =>
      answer(api, request.body as never, createOperationContext(request, signal)),
    )
  }
}

/** GET /v1/project */
export function getProject(api: ApiUseCases, stopping: AbortSignal): RequestHandler {
  return async (request, response) => {
    const send = (body: object): void => void response.json(body)
    await respond(response, stopping, send, (signal) =>
      answerProject(api, createOperationContext(request, signal)),
    )
  }
}

/** Sends the result of `work`. While the service is stopping, reports that instead of any error of `work`. */
export async function respond<Result>(
  response: Response,
  stopping: AbortSignal,
  send: (result: Result) => void | Promise<void>,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<void> {
  const signal = abortOnDisconnect(response, stopping)
  try {
    await send(await work(signal))
  } catch (error) {
    throw stopping.aborted ? createStoppingError() : error
  }
}
