/** Refuses a body that says it is too long, without waiting for it. */
import type { RequestHandler } from 'express'
import { bodyTooLarge } from './translate-error.js'

/** Looks at Content-Length; a body in chunks is measured as it is read. */
export const bodyLimit =
  (bytes: number): RequestHandler =>
  (request, _response, next) => {
    if (Number(request.headers['content-length'] ?? 0) > bytes) throw bodyTooLarge(bytes)
    next()
  }
