/** The first and last handlers of the query API: authenticate a request, run its use case and send the response. */
import type { RequestHandler, Response } from 'express'
import type { Answer } from '../../analytics/cache/answers.js'
import type { AnalyticsQueryRequest } from '../../contract/api.js'
import { abortOnDisconnect } from '../server/abort-on-disconnect.js'
import { createStoppingError } from '../server/graceful-shutdown.js'
import { createOperationContext, type OperationContext } from './operation-context.js'
import { answerProject, answerQuery } from './operations.js'
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

/** POST /v1/analytics/query */
export function postAnalyticsQuery(api: ApiUseCases, stopping: AbortSignal): RequestHandler {
  return async (request, response) => {
    const body = request.body as AnalyticsQueryRequest
    const send = (answer: Answer): void => sendAnswer(request, response, answer)
    await respond(response, stopping, send, (signal) =>
      answerQuery(api, body, createOperationContext(request, signal)),
    )
  }
}

/** POST of an operation whose answers are not kept. */
export function postOperation(
  // The validator has made sure of the body.
  answer: (api: ApiUseCases, body: never, context: OperationContext) => Promise<object>,
  api: ApiUseCases,
  stopping: AbortSignal,
): RequestHandler {
  return async (request, response) => {
    const send = (result: object): void => void response.json(result)
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
  send: (result: Result) => void,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<void> {
  const signal = abortOnDisconnect(response, stopping)
  try {
    send(await work(signal))
  } catch (error) {
    throw stopping.aborted ? createStoppingError() : error
  }
}
