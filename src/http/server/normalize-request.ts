/** Brings equivalent forms of a request into the one that all that follows knows. */
import type { RequestHandler } from 'express'

const SCHEME_AND_AUTHORITY = /^https?:\/\/[^/?#]*/i

/** Reduces the target `http://host/path`, which every server must take, to `/path`. */
export const originForm: RequestHandler = (request, _response, next) => {
  if (!request.url.startsWith('/')) {
    const target = request.url.replace(SCHEME_AND_AUTHORITY, '')
    if (target.startsWith('/')) request.url = request.originalUrl = target
  }
  next()
}

/** Lets the contract's GET answer HEAD; Node leaves the body out by itself. */
export const headAsGet: RequestHandler = (request, _response, next) => {
  if (request.method === 'HEAD') request.method = 'GET'
  next()
}
