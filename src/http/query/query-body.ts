/** Reads the body of a request to the query API. */
import express, { type RequestHandler } from 'express'
import {
  createBodyTooLargeError,
  normalizeContentType,
  parseJson,
  QUERY_TYPES,
} from '../server/body.js'
import { createNotJsonObjectError, requireUtf8 } from '../server/translate-error.js'

/** The maximum size of a request body: 64 kB. */
export const MAX_QUERY_BYTES = 65_536

/** The middlewares that parse the body, in order. */
export const readQueryBody: readonly RequestHandler[] = readJsonBody(MAX_QUERY_BYTES)

/** Returns the middlewares that parse a JSON body of up to `limit` bytes, in order. */
export function readJsonBody(limit: number): readonly RequestHandler[] {
  return [
    normalizeContentType(QUERY_TYPES),
    express.json({
      limit,
      inflate: false,
      strict: true,
      verify: (_request, _response, body) => requireUtf8(body),
    }),
  ]
}

/**
 * Parses a body that was not received over HTTP, by the rules of `readQueryBody`.
 *
 * @throws ApiError the error that a request with this body would get
 */
export function parseQueryBody(body: Buffer): unknown {
  if (body.length > MAX_QUERY_BYTES) throw createBodyTooLargeError(MAX_QUERY_BYTES)
  if (body.length === 0) return {}
  requireUtf8(body)
  try {
    return parseJson(body)
  } catch (cause) {
    throw createNotJsonObjectError(body.toString('utf8'), cause)
  }
}
