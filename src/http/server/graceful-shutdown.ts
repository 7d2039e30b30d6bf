/** Stops the HTTP layer in two steps: it drains, then rejects requests. */
import type { RequestHandler } from 'express'
import { setMaxListeners } from 'node:events'
import { ApiError } from '../../contract/errors.js'

/** The progress of a shutdown, as signals that stay aborted. */
export interface Shutdown {
  /** Requests are still served, but the service is not ready, and responses close their connections. */
  readonly draining: AbortSignal
  /** The grace period is over: pending requests get SERVICE_UNAVAILABLE. */
  readonly stopping: AbortSignal
}

/** Starts the steps of a shutdown. The server calls them in order. */
export type ShutdownSteps = Readonly<Record<keyof Shutdown, () => void>>

/** Creates the signals of a running service, and the functions that abort them. */
export function createShutdown(): { readonly shutdown: Shutdown; readonly steps: ShutdownSteps } {
  const draining = new AbortController()
  const stopping = new AbortController()
  // Every pending request adds a listener.
  setMaxListeners(0, stopping.signal)
  return {
    shutdown: { draining: draining.signal, stopping: stopping.signal },
    steps: { draining: () => draining.abort(), stopping: () => stopping.abort() },
  }
}

/** Creates the error for a request that arrives, or is still pending, when the grace period is over. */
export const createStoppingError = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', 'The service is stopping. Try again in a moment.', {
    headers: { Connection: 'close' },
  })

/** Rejects requests once stopping. */
export const followShutdown =
  ({ stopping }: Pick<Shutdown, 'stopping'>): RequestHandler =>
  (_request, _response, next) => {
    if (stopping.aborted) throw createStoppingError()
    next()
  }
