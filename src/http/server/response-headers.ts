/** Sets the headers that every response carries. */
import type { RequestHandler } from 'express'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

const REQUEST_ID = /^[A-Za-z0-9_-]{8,64}$/

/**
 * Chooses the id of a request and sends it as X-Request-Id. The request's log line has the same id.
 *
 * @returns the client's own X-Request-Id if it is safe to log, or else a new UUID
 */
export function assignRequestId(request: IncomingMessage, response: ServerResponse): string {
  const sent = request.headers['x-request-id']
  const id = typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID()
  response.setHeader('X-Request-Id', id)
  return id
}

/** Forbids content sniffing, and caching: a response depends on the key and the time. */
export function setCommonHeaders(response: ServerResponse): void {
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('X-Content-Type-Options', 'nosniff')
}

/** Runs `setCommonHeaders` as a middleware. */
export const addCommonHeaders: RequestHandler = (_request, response, next) => {
  setCommonHeaders(response)
  next()
}
