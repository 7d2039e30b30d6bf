/** Lets pages of any origin send events. */
import type { RequestHandler } from 'express'

/** Every answer, an error too, may be read by the page that asked. */
export const cors: RequestHandler = (_request, response, next) => {
  response.setHeader('Access-Control-Allow-Origin', '*')
  response.setHeader('Access-Control-Expose-Headers', 'Retry-After, X-Request-Id')
  next()
}

/** Answers browsers that ask before they send; they need not ask again for a day. */
export const preflight: RequestHandler = (_request, response) => {
  response.set({
    'Access-Control-Allow-Methods': 'POST',
    'Access-Control-Allow-Headers': 'Authorization, Content-Type',
    'Access-Control-Max-Age': '86400',
  })
  response.status(204).end()
}
