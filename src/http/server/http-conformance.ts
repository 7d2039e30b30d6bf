/** Enforces rules of HTTP that Node leaves to the application, and normalizes equivalent requests. */
import type { RequestHandler } from 'express'
import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../contract/errors.js'

/** The maximum number of header lines of a request. */
const MAX_HEADERS = 100

interface HttpRule {
  readonly isBroken: (request: IncomingMessage) => boolean
  readonly message: string
}

const RULES: readonly HttpRule[] = [
  {
    // Node reports a request line without a version as HTTP/0.9.
    isBroken: ({ httpVersion }) => httpVersion !== '1.1' && httpVersion !== '1.0',
    message: 'The request must use HTTP/1.1 or HTTP/1.0.',
  },
  {
    // Enforced here, because the limits of Node differ between its versions.
    isBroken: ({ rawHeaders }) => rawHeaders.length / 2 > MAX_HEADERS,
    message: `The request has more than ${MAX_HEADERS} headers.`,
  },
  {
    // RFC 9112 §3.2
    isBroken: ({ httpVersion, headersDistinct }) =>
      httpVersion === '1.1' && headersDistinct['host']?.length !== 1,
    message: 'The request must have exactly one Host header.',
  },
  {
    // RFC 9110 §10.1.1
    isBroken: ({ headers }) =>
      headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue',
    message: 'The Expect header must be 100-continue; no other expectation is supported.',
  },
]

/** Rejects a request that breaks a rule, and closes its connection: its framing cannot be trusted. */
export const enforceHttpConformance: RequestHandler = (request, _response, next) => {
  const broken = RULES.find((rule) => rule.isBroken(request))
  if (broken === undefined) {
    next()
    return
  }
  throw new ApiError('VALIDATION_ERROR', broken.message, { headers: { Connection: 'close' } })
}

const SCHEME_AND_AUTHORITY = /^https?:\/\/[^/?#]*/i

/** Reduces a target in absolute form, `http://host/path`, to `/path` (RFC 9112 §3.2.2). */
export const normalizeTarget: RequestHandler = (request, _response, next) => {
  if (!request.url.startsWith('/')) {
    const target = request.url.replace(SCHEME_AND_AUTHORITY, '')
    if (target.startsWith('/')) request.url = request.originalUrl = target
  }
  next()
}

/** Handles HEAD as GET: the contract defines only GET. Node omits the body of the response by itself. */
export const treatHeadAsGet: RequestHandler = (request, _response, next) => {
  if (request.method === 'HEAD') request.method = 'GET'
  next()
}
