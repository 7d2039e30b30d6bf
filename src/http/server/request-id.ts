/** Names every request, so that an answer can be found in the log. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

const ACCEPTED = /^[A-Za-z0-9_-]{8,64}$/

/** The client's id where it is harmless, else a new one; the answer bears it as X-Request-Id. */
export function requestId(request: IncomingMessage, response: ServerResponse): string {
  const given = request.headers['x-request-id']
  const id = typeof given === 'string' && ACCEPTED.test(given) ? given : randomUUID()
  response.setHeader('X-Request-Id', id)
  return id
}
