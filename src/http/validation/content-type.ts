/** Reduces the Content-Type of a request to the one that the validator knows. */
import type { RequestHandler } from 'express'
import { ApiError } from '../../contract/errors.js'

const JSON_TYPE = 'application/json'
const UTF_8 = /^charset=("?)utf-8\1$/
const LONGEST_HEADER = 128
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** The Content-Types that a body of JSON may be declared with. */
type ContentTypes = readonly string[]

export const QUESTION_TYPES: ContentTypes = [JSON_TYPE]
/** The second is what browsers send without asking first. */
export const EVENT_TYPES: ContentTypes = [JSON_TYPE, 'text/plain']

/** The error of a body that is not JSON, not in UTF-8, or compressed. */
export const unsupportedMediaType = (types: ContentTypes, cause?: unknown): ApiError =>
  new ApiError(
    'UNSUPPORTED_MEDIA_TYPE',
    `The request body must be uncompressed JSON in UTF-8, with Content-Type: ${types.join(' or ')}.`,
    { cause },
  )

/** Whether a Content-Type is one of these, in UTF-8. Written any other way it is refused. */
export function isOneOf(types: ContentTypes, header: string): boolean {
  if (header === JSON_TYPE) return true
  if (header.length > LONGEST_HEADER) return false
  const [type = '', charset, ...more] = header.split(';').map((part) => part.trim().toLowerCase())
  return types.includes(type) && (charset === undefined || UTF_8.test(charset)) && more.length === 0
}

/**
 * Lets an uncompressed body of these types pass. Leaves `application/json` or, where no body is expected, no
 * Content-Type at all: the validator keeps a compiled copy of the contract for every distinct header it sees.
 */
export const normalizeContentType =
  (types: ContentTypes): RequestHandler =>
  (req, _res, next) => {
    if (BODILESS.has(req.method)) {
      delete req.headers['content-type']
    } else if (
      isOneOf(types, req.headers['content-type'] ?? '') &&
      (req.headers['content-encoding'] ?? 'identity') === 'identity'
    ) {
      req.headers['content-type'] = JSON_TYPE
    } else {
      throw unsupportedMediaType(types)
    }
    next()
  }
