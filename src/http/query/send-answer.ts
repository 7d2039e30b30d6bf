/** Sends the answer to a query, with the headers by which a client recognizes an answer that it has already. */
import type { Request, Response } from 'express'
import { createHash } from 'node:crypto'
import type { Answer } from '../../analytics/cache/answers.js'
import { sendTable } from '../formats/send-table.js'
import type { Table } from '../formats/table.js'

/**
 * Sends an answer. A request whose If-None-Match names the answer gets 304 without a body: the query only reads, so it is
 * treated as the standard treats GET. Whether it does is known only once there is an answer.
 *
 * @param describe describes the answer as a table
 */
export async function sendAnswer<Body>(
  request: Request,
  response: Response,
  answer: Answer<Body>,
  describe: (body: Body) => Table,
): Promise<void> {
  const { answerFormat: format = 'json' } = request
  // Each format has a tag of its own: the tag names the bytes.
  const named = format === 'json' ? answer.text : `${format} ${answer.text}`
  const etag = `"${createHash('sha256').update(named).digest('base64url')}"`
  response.setHeader('Tally-Cache', answer.source)
  response.setHeader('ETag', etag)
  // A client may keep the answer, and asks each time whether it is still the right one.
  response.setHeader('Cache-Control', 'private, no-cache')
  if (matches(request.headers['if-none-match'], etag)) {
    response.status(304).end()
  } else if (format !== 'json') {
    await sendTable(response, format, describe(getBody(answer)))
  } else if (answer.body === undefined) {
    response.setHeader('Content-Type', 'application/json; charset=utf-8')
    response.setHeader('Content-Length', Buffer.byteLength(answer.text))
    response.end(answer.text)
  } else {
    // The validator of the contract looks at the object.
    response.json(answer.body)
  }
}

/** Returns the body of an answer as an object. */
export const getBody = <Body>({ body, text }: Answer<Body>): Body =>
  body ?? (JSON.parse(text) as Body)

/** Whether If-None-Match names an entity tag. It is compared weakly, as RFC 9110 §13.1.2 says. */
const matches = (header: string | undefined, etag: string): boolean =>
  header?.split(',').some((one) => ['*', etag].includes(one.trim().replace(/^W\//, ''))) === true
