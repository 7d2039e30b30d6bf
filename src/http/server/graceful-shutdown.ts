/** Makes answers fit the stopping of the service. */
import type { RequestHandler } from 'express'
import { setMaxListeners } from 'node:events'
import { ApiError } from '../../contract/errors.js'

/** How far a service has gone in stopping; each signal stays aborted. */
export interface Shutdown {
  /** No more traffic is wanted: requests are still answered, and their connections then closed. */
  readonly draining: AbortSignal
  /** The grace is over: what is unanswered now gets SERVICE_UNAVAILABLE. */
  readonly stopping: AbortSignal
}

/** What a server calls as it stops, a step after the other. */
export type StopSteps = Readonly<Record<keyof Shutdown, () => void>>

/** The signals of a service that is not stopping yet, and what makes them come. */
export function createShutdown(): { readonly shutdown: Shutdown; readonly steps: StopSteps } {
  const draining = new AbortController()
  const stopping = new AbortController()
  // Every request under way listens to it.
  setMaxListeners(0, stopping.signal)
  return {
    shutdown: { draining: draining.signal, stopping: stopping.signal },
    steps: { draining: () => draining.abort(), stopping: () => stopping.abort() },
  }
}

/** The answer to a request that comes, or is still unanswered, as the service stops. */
export const stoppingError = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', 'The service is stopping. Try again in a moment.', {
    headers: { 'Retry-After': '1', Connection: 'close' },
  })

/** Asks clients to leave while the service drains, and refuses requests once the grace is over. */
export function drain({ draining, stopping }: Shutdown): RequestHandler {
  return (_request, response, next) => {
    if (stopping.aborted) throw stoppingError()
    if (draining.aborted) response.setHeader('Connection', 'close')
    next()
  }
}
