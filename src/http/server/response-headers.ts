/** Sets the headers that every response carries. */
import type { RequestHandler } from 'express'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

const REQUEST_ID = /^[A-Za-z0-9_-]{8,64}$/

/**
 * Names a request and sets the response's X-Request-Id, by which its log line is found.
 *
 * @returns the client's own X-Request-Id if it is safe to log, or else a new UUID
 */
export function assignRequestId(request: IncomingMessage, response: ServerResponse): string {
  const sent = request.headers['x-request-id']
  const id = typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID()
  response.setHeader('X-Request-Id', id)
  return id
}

/** Forbids caching, as a response depends on the key and the moment, and content sniffing. */
export function setCommonHeaders(response: ServerResponse): void {
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('X-Content-Type-Options', 'nosniff')
}

/** `setCommonHeaders` as a middleware. */
export const commonHeaders: RequestHandler = (_request, response, next) => {
  setCommonHeaders(response)
  next()
}
