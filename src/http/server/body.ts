/** Limits the size, media type and encoding of request bodies, and parses their JSON. */
import type { RequestHandler } from 'express'
import { ApiError } from '../../contract/errors.js'

const JSON_TYPE = 'application/json'
const UTF_8 = /^charset=("?)utf-8\1$/
const MAX_CONTENT_TYPE_LENGTH = 128
const BODILESS_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
const KB = 1_024
const MB = 1_024 * KB

/** The media types that a JSON body may be declared with. */
type ContentTypes = readonly string[]

export const QUERY_TYPES: ContentTypes = [JSON_TYPE]
/** Browsers send `text/plain` to another origin without a preflight request. */
export const EVENT_TYPES: ContentTypes = [JSON_TYPE, 'text/plain']

/** Creates the error for a body of more than `limit` bytes. */
export function createBodyTooLargeError(limit: number, cause?: unknown): ApiError {
  const size = limit < MB ? `${limit / KB} kB` : `${limit / MB} MB`
  return new ApiError('PAYLOAD_TOO_LARGE', `The request body is larger than ${size}.`, { cause })
}

/** Rejects a body by its Content-Length, before any of it is read. Chunked bodies are measured while they are read. */
export const limitBodySize =
  (bytes: number): RequestHandler =>
  (request, _response, next) => {
    if (Number(request.headers['content-length'] ?? 0) > bytes) throw createBodyTooLargeError(bytes)
    next()
  }

/** Creates the error for a body that is compressed, or not declared as one of these types in UTF-8. */
export const createMediaTypeError = (types: ContentTypes, cause?: unknown): ApiError =>
  new ApiError(
    'UNSUPPORTED_MEDIA_TYPE',
    `The request body must be uncompressed JSON in UTF-8, with Content-Type: ${types.join(' or ')}.`,
    { cause },
  )

/** Returns whether a Content-Type header names one of `types`, with no parameter but `charset=utf-8`. */
export function isContentType(types: ContentTypes, header: string): boolean {
  if (header === JSON_TYPE) return true
  if (header.length > MAX_CONTENT_TYPE_LENGTH) return false
  const [type = '', charset, ...more] = header.split(';').map((part) => part.trim().toLowerCase())
  return types.includes(type) && (charset === undefined || UTF_8.test(charset)) && more.length === 0
}

/**
 * Rejects a body that is compressed or not of these types. Rewrites the Content-Type to `application/json`,
 * and deletes it from requests without a body: express-openapi-validator compiles and keeps a copy of the
 * contract for every distinct header that it sees.
 */
export const normalizeContentType =
  (types: ContentTypes): RequestHandler =>
  (request, _response, next) => {
    const { headers, method } = request
    if (BODILESS_METHODS.has(method)) {
      delete headers['content-type']
    } else if (
      isContentType(types, headers['content-type'] ?? '') &&
      (headers['content-encoding'] ?? 'identity') === 'identity'
    ) {
      headers['content-type'] = JSON_TYPE
    } else {
      throw createMediaTypeError(types)
    }
    next()
  }

const BYTE_ORDER_MARK = '\ufeff'

/**
 * Parses JSON in UTF-8, with or without a byte order mark.
 *
 * @throws SyntaxError if the body is not JSON
 */
export function parseJson(body: Buffer): unknown {
  const text = body.toString('utf8')
  return JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text)
}
