/** The first and last handlers of the query API: authenticate a request, answer it and send the response. */
import type { Request, RequestHandler, Response } from 'express'
import type { IncomingMessage } from 'node:http'
import { checkScope } from '../../auth/check-scope.js'
import { isStreamed } from '../../analytics/operations/list.js'
import type { Streamed, ValidBody } from '../../analytics/operation.js'
import type { ResponseFormat } from '../../contract/response-formats.js'
import type { Scope } from '../../contract/scopes.js'
import type { ReaderPace } from '../formats/reader-pace.js'
import { streamJson, streamTable } from '../formats/send-table.js'
import { abortOnDisconnect } from '../server/abort-on-disconnect.js'
import { createStoppingError } from '../server/graceful-shutdown.js'
import { getAuthContext, type AuthContext } from '../server/request-context.js'
import { createRequestContext } from './context.js'
import { streamOperation, type Endpoint } from './endpoints.js'
import type { QueryApi } from './query-api.js'
import { sendOutcome } from './send-outcome.js'

/**
 * Finds the key and the project that an Authorization header identifies.
 *
 * @throws ApiError UNAUTHORIZED for a missing or invalid key, SERVICE_UNAVAILABLE if it cannot be checked
 */
export type Authenticate = (header: string | undefined) => Promise<AuthContext>

/** Returns the Authorization header of a request; undefined if there are several, as if there were no key. */
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

/** Answers the requests to an endpoint, whose bodies have been validated. */
export const answerRequests = (
  api: QueryApi,
  { operation, answer }: Endpoint,
  stopping: AbortSignal,
): RequestHandler =>
  handleUntilStop(stopping, async (request, response, signal) => {
    const body = request.body as ValidBody
    const context = createRequestContext(request, signal)
    if (operation !== undefined && isStreamed(operation, body)) {
      const { responseFormat = 'json' } = request
      await streamOperation(api, operation, body, context, (streamed, pace) =>
        sendStreamed(response, responseFormat, streamed, pace),
      )
      return
    }
    if (answer === undefined) throw new Error('the operation neither answers nor streams')
    await sendOutcome(request, response, await answer(api, body, context), operation)
  })

const sendStreamed = (
  response: Response,
  format: ResponseFormat,
  { table, head }: Streamed,
  pace: ReaderPace,
): Promise<void> =>
  format === 'json'
    ? streamJson(response, head, table, pace)
    : streamTable(response, format, table, pace)

/**
 * Creates a handler whose work ends when its client disconnects or the service stops. While the service is stopping, it reports that
 * instead of any error.
 *
 * @param handle sends the response; its signal aborts when the response can no longer be delivered
 */
export const handleUntilStop =
  (
    stopping: AbortSignal,
    handle: (request: Request, response: Response, signal: AbortSignal) => Promise<void>,
  ): RequestHandler =>
  async (request, response) => {
    try {
      await handle(request, response, abortOnDisconnect(response, stopping))
    } catch (error) {
      throw stopping.aborted ? createStoppingError() : error
    }
  }
