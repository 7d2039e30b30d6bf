/** The two health probes. */
import type { RequestHandler } from 'express'
import { ApiError } from '../../contract/errors.js'

/** GET /livez: the process runs. Depends on nothing else. */
export const getLivez: RequestHandler = (_request, response) => {
  response.json({ status: 'alive' })
}

/**
 * GET /readyz: the store responds, and the service is not stopping.
 *
 * @param isReady is called for every probe, so it must be cheap
 */
export function getReadyz(isReady: () => Promise<boolean>, draining: AbortSignal): RequestHandler {
  return async (_request, response) => {
    if (draining.aborted || !(await isReady())) {
      throw new ApiError('SERVICE_UNAVAILABLE', 'The service is not ready.')
    }
    response.json({ status: 'ready' })
  }
}
