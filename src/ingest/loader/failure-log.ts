/** Logs that a loader fails, loudly but not with every attempt. */
import type { Logger } from '../../lib/log.js'
import { MINUTE_MS } from '../../lib/time.js'
import type { LoaderFailure, LoaderState } from './loader-state.js'

/** A failure that lasts is logged at least this often. */
const MAX_INTERVAL_MS = 10 * MINUTE_MS

/**
 * Returns a function that logs a failure, each time after it has lasted twice as long. The first attempt is a warning
 * only: the failure may pass by itself, as a restart of the store does.
 *
 * @param minIntervalMs the interval after the first line of a failure
 */
export function createFailureLog(
  logger: Logger,
  minIntervalMs: number,
): (failure: LoaderFailure, state: LoaderState) => void {
  let nextMs = 0
  return ({ attempts, ms, error, load }, { waitingRows, oldestWaitingMs }) => {
    if (attempts > 1 && ms < nextMs) return
    nextMs = ms + Math.min(Math.max(ms, minIntervalMs), MAX_INTERVAL_MS)
    const details = { err: error, load, attempts, waitingRows, oldestWaitingMs }
    if (attempts === 1) logger.warn(details, 'events wait to be loaded')
    else logger.error(details, 'events cannot be loaded')
  }
}
