/** Writes errors: the one place where an error becomes an answer. */
import type { ErrorRequestHandler } from 'express'
import type { ServerResponse } from 'node:http'
import type { ErrorResponse } from '../../contract/api.js'
import { ERROR_STATUS, type ApiError } from '../../contract/errors.js'
import { toApiError } from './translate-error.js'

/**
 * Answers with an error, unless the answer is under way already or nobody is left to read it.
 *
 * It needs nothing but Node's response, so that requests which never reach the app are answered alike.
 */
export function writeError(response: ServerResponse, error: ApiError): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const text = JSON.stringify(bodyOf(error))
  response.statusCode = ERROR_STATUS[error.code]
  for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value)
  response.setHeader('Content-Type', 'application/json; charset=utf-8')
  response.setHeader('Content-Length', Buffer.byteLength(text))
  response.end(text)
}

/** The last middleware: whatever was thrown is answered with a code of the catalogue. */
export const errorWriter: ErrorRequestHandler = (thrown: unknown, _request, response, _next) => {
  const error = toApiError(thrown)
  if (ERROR_STATUS[error.code] >= 500) response.err = loggable(error)
  writeError(response, error)
}

function loggable(error: ApiError): Error {
  return error.cause instanceof Error ? error.cause : error
}

function bodyOf({ code, message, details }: ApiError): ErrorResponse {
  return {
    error: { code, message, ...(details === undefined ? {} : { details: [...details] }) },
  }
}
