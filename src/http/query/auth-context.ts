/** Who sends a request: remembered from authentication to handler, limiter and log. */
import type { IncomingMessage } from 'node:http'
import type { StoredProject } from '../../projects/project.js'

/** Whose key a request bears, and the project that it reads. */
export interface Caller {
  readonly principal: { readonly keyId: string; readonly projectId: string }
  readonly project: StoredProject
}

/**
 * Finds the caller by the Authorization header.
 *
 * @throws ApiError UNAUTHORIZED for a key that is not good, SERVICE_UNAVAILABLE when that cannot be told.
 */
export type Authenticate = (header: string | undefined) => Promise<Caller>

const callers = new WeakMap<IncomingMessage, Caller>()

/** Remembers whose key a request bears. */
export function setCaller(request: IncomingMessage, caller: Caller): void {
  callers.set(request, caller)
}

/** Whose key the request bears; undefined before authentication and where none is needed. */
export const findCaller = (request: IncomingMessage): Caller | undefined => callers.get(request)

/**
 * Whose key the request bears.
 *
 * @throws Error on a route that is not behind authentication.
 */
export function callerOf(request: IncomingMessage): Caller {
  const caller = callers.get(request)
  if (caller === undefined) throw new Error('the route is not behind authentication')
  return caller
}
