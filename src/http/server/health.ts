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
 * queries or accept events. The same holds for a shard that is away: the projects on others are served.
 */
export function getReadyz(
  { isReady, listAway, getLoaderState }: Readiness,
  draining: AbortSignal,
): RequestHandler {
  return async (_request, response) => {
    const [isUp, away = []] = await Promise.all([isReady(), listAway?.()])
    if (draining.aborted || !isUp) {
      throw new ApiError('SERVICE_UNAVAILABLE', 'The service is not ready.')
    }
    response.json(describeReadiness(getLoaderState?.(), away))
  }
}

/** What readiness depends on. The first two are called for every probe, so they must be cheap. */
export interface Readiness {
  /** Returns whether the store with the projects and keys responds. */
  readonly isReady: () => Promise<boolean>
  /** Returns the names of the shards that do not respond; left out for a service with a single store. */
  readonly listAway?: (() => Promise<readonly string[]>) | undefined
  /** Left out in a process without a loader. */
  readonly getLoaderState?: (() => LoaderState) | undefined
}

function describeReadiness(loader: LoaderState | undefined, away: readonly string[]): object {
  const isLoadLate = loader !== undefined && isLate(loader)
  if (!isLoadLate && away.length === 0) return { status: 'ready' }
  return {
    status: 'degraded',
    ...(isLoadLate && {
      waiting_events: loader.waitingRows,
      oldest_waiting_seconds: Math.floor(loader.oldestWaitingMs / SECOND_MS),
    }),
    ...(away.length > 0 && { shards_away: away }),
  }
}

const PROBE_TIMEOUT_MS = SECOND_MS
const PROBE_LIFETIME_MS = SECOND_MS

/**
 * Caches the result of a probe for a second from its start. Concurrent callers share one call.
 *
 * @param probe is called with the milliseconds that it may take
 */
export function cacheProbe<Result>(
  probe: (timeoutMs: number) => Promise<Result>,
): () => Promise<Result> {
  let startedAt = -Infinity
  let result: Promise<Result> | undefined
  return () => {
    const now = performance.now()
    if (result === undefined || now - startedAt > PROBE_LIFETIME_MS) {
      startedAt = now
      result = probe(PROBE_TIMEOUT_MS)
    }
    return result
  }
}
