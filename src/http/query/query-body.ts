/** Reads the body of a request to the query API. */
import express, { type RequestHandler } from 'express'
import { bodyTooLarge, normalizeContentType, parseJson, QUERY_TYPES } from '../server/body.js'
import { notJsonObject } from '../server/translate-error.js'

/** The maximum size of a request body: 64 kB. */
export const MAX_QUERY_BYTES = 65_536

/** The middlewares that parse the body, in order. */
export const readQueryBody: readonly RequestHandler[] = [
  normalizeContentType(QUERY_TYPES),
  express.json({ limit: MAX_QUERY_BYTES, inflate: false, strict: true }),
]

/**
 * Parses a body that did not come over HTTP as `readQueryBody` does.
 *
 * @throws ApiError as for a request with this body
 */
export function parseQueryBody(body: Buffer): unknown {
  if (body.length > MAX_QUERY_BYTES) throw bodyTooLarge(MAX_QUERY_BYTES)
  if (body.length === 0) return {}
  try {
    return parseJson(body)
  } catch (cause) {
    throw notJsonObject(cause)
  }
}
