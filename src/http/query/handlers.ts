/** The first and last handlers of the query API: authenticate a request, answer it and send the response. */
import type { RequestHandler, Response } from 'express'
import type { IncomingMessage } from 'node:http'
import { isStreamed } from '../../analytics/operations/list.js'
import type { Streamed, ValidBody } from '../../analytics/operation.js'
import type { ResponseFormat } from '../../contract/response-formats.js'
import { ApiError } from '../../contract/errors.js'
import type { Scope } from '../../contract/scopes.js'
import type { ReaderPace } from '../formats/reader-pace.js'
import { streamJson, streamTable } from '../formats/send-table.js'
import { abortOnDisconnect } from '../server/abort-on-disconnect.js'
import { createStoppingError } from '../server/graceful-shutdown.js'
import { getAuthContext, type AuthContext } from '../server/request-context.js'
import { createRequestContext } from './context.js'
import { streamOperation, type Endpoint, type Outcome } from './endpoints.js'
import type { QueryApi } from './query-api.js'
import { sendOutcome } from './send-outcome.js'

/**
 * Finds the key and the project that an Authorization header identifies.
 *
 * @throws ApiError UNAUTHORIZED for a missing or invalid key, SERVICE_UNAVAILABLE if it cannot be checked
 */
export type Authenticate = (header: string | undefined) => Promise<AuthContext>

/** Returns the Authorization header of a request. One with several of them is treated as one without a key. */
export function readAuthorization({ headersDistinct }: IncomingMessage): string | undefined {
  const [header, ...others] = headersDistinct['authorization'] ?? []
  return others.length === 0 ? header : undefined
}

/** Sets `request.authContext`. */
export function authenticateRequests(authenticate: Authenticate): RequestHandler {
  return async (request, _response, next) => {
    request.authContext = await authenticate(readAuthorization(request))
    next()
  }
}

/** Requires that the API key of a request has a scope. @throws ApiError INSUFFICIENT_SCOPE */
export const requireScope =
  (scope: Scope): RequestHandler =>
  (request, _response, next) => {
    checkScope('API key', scope, getAuthContext(request).scopes)
    next()
  }

/** @throws ApiError INSUFFICIENT_SCOPE if a key does not have a scope */
export function checkScope<AnyScope extends string>(
  kind: 'API key' | 'admin key',
  scope: AnyScope,
  scopes: readonly AnyScope[],
): void {
  if (scopes.includes(scope)) return
  throw new ApiError(
    'INSUFFICIENT_SCOPE',
    `This operation needs an ${kind} with the scope ${scope}. This key has: ${scopes.join(', ')}.`,
  )
}

/** Answers the requests to an endpoint, whose bodies have been validated. */
export function answerRequests(
  api: QueryApi,
  { operation, answer }: Endpoint,
  stopping: AbortSignal,
): RequestHandler {
  return async (request, response) => {
    const body = request.body as ValidBody
    if (operation !== undefined && isStreamed(operation, body)) {
      const { responseFormat = 'json' } = request
      await respond(response, stopping, ignore, (signal) =>
        streamOperation(
          api,
          operation,
          body,
          createRequestContext(request, signal),
          (streamed, pace) => sendStreamed(response, responseFormat, streamed, pace),
        ),
      )
      return
    }
    if (answer === undefined) throw new Error('the operation neither answers nor streams')
    const send = (outcome: Outcome): Promise<void> =>
      sendOutcome(request, response, outcome, operation)
    await respond(response, stopping, send, (signal) =>
      answer(api, body, createRequestContext(request, signal)),
    )
  }
}

const ignore = (): void => undefined

const sendStreamed = (
  response: Response,
  format: ResponseFormat,
  { table, head }: Streamed,
  pace: ReaderPace,
): Promise<void> =>
  format === 'json'
    ? streamJson(response, head, table, pace)
    : streamTable(response, format, table, pace)

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
