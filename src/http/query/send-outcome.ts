/** Sends responses, with the headers by which a client recognizes one that it has already. */
import type { Request, Response } from 'express'
import { createHash } from 'node:crypto'
import type { AnyOperation } from '../../analytics/operation.js'
import type { Table } from '../../analytics/table.js'
import { sendTable } from '../formats/send-table.js'
import type { Outcome } from './endpoints.js'

/**
 * Sends a response. A request whose If-None-Match names a kept one gets 304 without a body: the operation only reads, so it is
 * treated as the standard treats GET. Whether it does is known only once there is a response.
 *
 * @param operation describes the response as a table
 */
export async function sendOutcome(
  request: Request,
  response: Response,
  answer: Outcome,
  operation: AnyOperation | undefined,
): Promise<void> {
  if (!('source' in answer)) {
    response.json(answer.body)
    return
  }
  const { responseFormat: format = 'json' } = request
  // Each format has a tag of its own: the tag names the bytes.
  const named = format === 'json' ? answer.text : `${format} ${answer.text}`
  const etag = `"${createHash('sha256').update(named).digest('base64url')}"`
  response.setHeader('Tally-Cache', answer.source)
  response.setHeader('ETag', etag)
  // A client may keep the response, and asks each time whether it is still the right one.
  response.setHeader('Cache-Control', 'private, no-cache')
  if (matches(request.headers['if-none-match'], etag)) {
    response.status(304).end()
  } else if (format !== 'json') {
    await sendTable(response, format, describeAsTable(operation, getBody(answer)))
  } else if (answer.body === undefined) {
    response.setHeader('Content-Type', 'application/json; charset=utf-8')
    response.setHeader('Content-Length', Buffer.byteLength(answer.text))
    response.end(answer.text)
  } else {
    // The validator of the contract looks at the object.
    response.json(answer.body)
  }
}

/** @throws Error for an operation without tables, which is a bug: only JSON is accepted there */
function describeAsTable(operation: AnyOperation | undefined, body: object): Table {
  if (operation?.toTable === undefined) throw new Error('the operation has no tables')
  return operation.toTable(body)
}

/** Returns the body of a response as an object. */
export const getBody = (outcome: Outcome): object =>
  'text' in outcome ? (outcome.body ?? (JSON.parse(outcome.text) as object)) : outcome.body

/** Whether If-None-Match names an entity tag. It is compared weakly, as RFC 9110 §13.1.2 says. */
const matches = (header: string | undefined, etag: string): boolean =>
  header?.split(',').some((one) => ['*', etag].includes(one.trim().replace(/^W\//, ''))) === true
