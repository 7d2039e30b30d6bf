/** Sets the headers that every answer bears. */
import type { RequestHandler } from 'express'
import type { ServerResponse } from 'node:http'

/** An answer is about one caller at one moment, and is what its content type says. */
export function setCommonHeaders(response: ServerResponse): void {
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('X-Content-Type-Options', 'nosniff')
}

/** The same as a middleware. */
export const commonHeaders: RequestHandler = (_request, response, next) => {
  setCommonHeaders(response)
  next()
}
