/** The two probes for whoever runs the service. */
import type { RequestHandler } from 'express'
import { ApiError } from '../../contract/errors.js'

/** The process is alive: depends on nothing. */
export const livez: RequestHandler = (_request, response) => {
  response.json({ status: 'alive' })
}

/**
 * Whether requests should be sent here: the store answers, and the service is not stopping.
 *
 * @param isReady is asked at every probe, hence must be cheap.
 */
export function readyz(isReady: () => Promise<boolean>, draining: AbortSignal): RequestHandler {
  return async (_request, response) => {
    if (draining.aborted || !(await isReady())) {
      throw new ApiError('SERVICE_UNAVAILABLE', 'The service is not ready.', {
        headers: { 'Retry-After': '1' },
      })
    }
    response.json({ status: 'ready' })
  }
}
