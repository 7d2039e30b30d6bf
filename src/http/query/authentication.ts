/** Authenticates requests to the query API by their API key. */
import type { RequestHandler } from 'express'
import type { AuthContext } from '../server/request-context.js'

/**
 * Finds the key and the project that an Authorization header stands for.
 *
 * @throws ApiError UNAUTHORIZED for a missing or invalid key, SERVICE_UNAVAILABLE if it cannot be checked
 */
export type Authenticate = (header: string | undefined) => Promise<AuthContext>

/** Sets `request.authContext`. With a second Authorization header no key is taken to be sent. */
export function authenticateRequests(authenticate: Authenticate): RequestHandler {
  return async (request, _response, next) => {
    const [header, ...others] = request.headersDistinct['authorization'] ?? []
    request.authContext = await authenticate(others.length === 0 ? header : undefined)
    next()
  }
}
