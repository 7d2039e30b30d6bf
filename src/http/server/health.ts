/** The two health probes. */
import type { RequestHandler } from 'express'
import { ApiError } from '../../contract/errors.js'
import { isLate, type LoaderState } from '../../ingest/loader/loader-state.js'
import { SECOND_MS } from '../../lib/time.js'

/** GET /livez: the process runs. Depends on nothing else. */
export const getLivez: RequestHandler = (_request, response) => {
  response.json({ status: 'alive' })
}

/**
 * GET /readyz: the store responds, and the service is not stopping. When events wait to be counted for too long, the
 * answer says so, and is still 200: every process waits for the same store, so without them nobody would answer
 * queries or accept events.
 *
 * @param isReady is called for every probe, so it must be cheap
 * @param getLoaderState undefined in a process without a loader
 */
export function getReadyz(
  isReady: () => Promise<boolean>,
  draining: AbortSignal,
  getLoaderState: (() => LoaderState) | undefined,
): RequestHandler {
  return async (_request, response) => {
    if (draining.aborted || !(await isReady())) {
      throw new ApiError('SERVICE_UNAVAILABLE', 'The service is not ready.')
    }
    response.json(describeReadiness(getLoaderState?.()))
  }
}

function describeReadiness(loader: LoaderState | undefined): object {
  if (loader === undefined || !isLate(loader)) return { status: 'ready' }
  return {
    status: 'degraded',
    waiting_events: loader.waitingRows,
    oldest_waiting_seconds: Math.floor(loader.oldestWaitingMs / SECOND_MS),
  }
}

const PROBE_TIMEOUT_MS = SECOND_MS
const PROBE_LIFETIME_MS = SECOND_MS

/**
 * Caches the result of a probe for a second from its start. Concurrent callers share one call.
 *
 * @param probe is called with the milliseconds that it may take
 */
export function cacheProbe(probe: (timeoutMs: number) => Promise<boolean>): () => Promise<boolean> {
  let startedAt = -Infinity
  let result: Promise<boolean> | undefined
  return () => {
    const now = performance.now()
    if (result === undefined || now - startedAt > PROBE_LIFETIME_MS) {
      startedAt = now
      result = probe(PROBE_TIMEOUT_MS)
    }
    return result
  }
}
