/** Refuses a body that says it is too long, without waiting for it. */
import type { RequestHandler } from 'express'
import { bodyTooLarge } from './translate-error.js'
import { MAX_BODY_BYTES } from './validation.js'

/** Looks at Content-Length; a body in chunks is measured as it is read. */
export const bodyLimit: RequestHandler = (request, _response, next) => {
  if (Number(request.headers['content-length'] ?? 0) <= MAX_BODY_BYTES) {
    next()
    return
  }
  throw bodyTooLarge()
}
