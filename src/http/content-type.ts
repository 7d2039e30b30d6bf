/** Reduces the Content-Type of a request to the one the contract takes. */
import type { RequestHandler } from 'express'
import { ApiError } from '../errors.js'

const JSON_TYPE = 'application/json'
const UTF_8 = /^charset=("?)utf-8\1$/
const LONGEST_HEADER = 128
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** The error of a body that is not JSON, not in UTF-8, or compressed. */
export const unsupportedMediaType = (cause?: unknown): ApiError =>
  new ApiError(
    'UNSUPPORTED_MEDIA_TYPE',
    `The request body must be uncompressed JSON in UTF-8, with Content-Type: ${JSON_TYPE}.`,
    { cause },
  )

/** Whether a Content-Type means JSON in UTF-8. Written any other way it is refused. */
export function isJsonType(header: string): boolean {
  if (header.length > LONGEST_HEADER) return false
  const [type, charset, ...more] = header.split(';').map((part) => part.trim().toLowerCase())
  return type === JSON_TYPE && (charset === undefined || UTF_8.test(charset)) && more.length === 0
}

/**
 * Leaves `application/json` or, where no body is expected, no Content-Type at all: the validator
 * keeps a compiled copy of the contract for every distinct header it sees.
 */
export const normalizeContentType: RequestHandler = (req, _res, next) => {
  if (BODILESS.has(req.method)) {
    delete req.headers['content-type']
  } else if (isJsonType(req.headers['content-type'] ?? '')) {
    req.headers['content-type'] = JSON_TYPE
  } else {
    throw unsupportedMediaType()
  }
  next()
}
