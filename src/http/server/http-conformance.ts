/** Refuses requests that Node accepts although HTTP forbids them, or that it would read only in part. */
import type { RequestHandler } from 'express'
import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../contract/errors.js'

/** The most header lines of one request. */
export const MAX_HEADERS = 100

/** A rule with the plain words for breaking it. */
interface WireRule {
  readonly isBroken: (request: IncomingMessage) => boolean
  readonly message: string
}

const RULES: readonly WireRule[] = [
  {
    // A request line without a version is HTTP/0.9 to Node.
    isBroken: ({ httpVersion }) => httpVersion !== '1.1' && httpVersion !== '1.0',
    message: 'The request is not in HTTP/1.1 or HTTP/1.0.',
  },
  {
    // Node drops the headers beyond its limit without a word, a key among them perhaps.
    isBroken: ({ rawHeaders }) => rawHeaders.length / 2 > MAX_HEADERS,
    message: `The request has more than ${MAX_HEADERS} headers.`,
  },
  {
    isBroken: ({ httpVersion, headersDistinct }) =>
      httpVersion === '1.1' && headersDistinct['host']?.length !== 1,
    message: 'The request needs exactly one Host header.',
  },
  {
    isBroken: ({ headers }) =>
      headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue',
    message: 'The expectation of the Expect header cannot be met; only 100-continue can.',
  },
]

/** Checks the rules; a connection that breaks one is closed, as its framing cannot be trusted. */
export const wireRules: RequestHandler = (request, _response, next) => {
  const broken = RULES.find((rule) => rule.isBroken(request))
  if (broken === undefined) {
    next()
    return
  }
  throw new ApiError('VALIDATION_ERROR', broken.message, { headers: { Connection: 'close' } })
}
