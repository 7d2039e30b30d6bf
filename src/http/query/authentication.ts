/** Lets a request pass once its API key is known to be good. */
import type { RequestHandler } from 'express'
import { setCaller, type Authenticate } from './auth-context.js'

/** Authenticates the request; a second Authorization header makes the key ambiguous, hence none. */
export function authentication(authenticate: Authenticate): RequestHandler {
  return async (request, _response, next) => {
    const [header, ...others] = request.headersDistinct['authorization'] ?? []
    setCaller(request, await authenticate(others.length === 0 ? header : undefined))
    next()
  }
}
