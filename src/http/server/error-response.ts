/** Writes error responses: the one place where an error becomes a response. */
import type { ErrorRequestHandler } from 'express'
import type { ServerResponse } from 'node:http'
import { buildErrorBody, ERROR_STATUS, type ApiError } from '../../contract/errors.js'
import './request-context.js'
import { setCommonHeaders } from './response-headers.js'
import { toApiError } from './translate-error.js'

/**
 * Sends an error. If the response has been started or the client has disconnected, destroys it instead.
 *
 * Needs only Node's response, so requests that never reach Express get the same errors.
 */
export function writeError(response: ServerResponse, error: ApiError): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const text = JSON.stringify(buildErrorBody(error))
  response.statusCode = ERROR_STATUS[error.code]
  dropResponseHeaders(response)
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value)
  response.setHeader('Content-Type', 'application/json; charset=utf-8')
  response.setHeader('Content-Length', Buffer.byteLength(text))
  response.end(text)
}

/** Takes back the headers of a response, if the error was found in it. */
function dropResponseHeaders(response: ServerResponse): void {
  if (!response.hasHeader('ETag')) return
  response.removeHeader('ETag')
  response.removeHeader('Tally-Cache')
  setCommonHeaders(response)
}

/** The last middleware: turns anything thrown into an error response. */
export const handleError: ErrorRequestHandler = (thrown: unknown, request, response, _next) => {
  const error = toApiError(thrown)
  request.errorCode = error.code
  if (ERROR_STATUS[error.code] >= 500) response.err = unwrapError(error)
  writeError(response, error)
}

/** Returns the error to log: the underlying one, if it is an Error. */
export function unwrapError(error: ApiError): Error {
  return error.cause instanceof Error ? error.cause : error
}
