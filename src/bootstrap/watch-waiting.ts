/** Watches what waits in the inbox of a store that another process loads, so that the collector can limit it. */
import type { Connection } from '../clickhouse/connection.js'
import { startRepeating } from '../lib/repeat.js'
import { SECOND_MS } from '../lib/time.js'
import type { LoaderMonitor } from '../ingest/loader/loader-state.js'
import { countWaitingRows } from '../ingest/loader/stream.js'

const INTERVAL_MS = SECOND_MS

/** Starts to report the waiting rows at intervals, as a loader does. Returns the function that stops it. */
export function watchWaiting(
  lookups: Connection,
  monitor: Pick<LoaderMonitor, 'reportWaiting' | 'reportSuccess'>,
  intervalMs = INTERVAL_MS,
): () => Promise<void> {
  const look = async (): Promise<void> => {
    const askedAt = performance.now()
    monitor.reportWaiting(await countWaitingRows(lookups), askedAt)
    monitor.reportSuccess()
  }
  return startRepeating(() => look().catch(() => undefined), intervalMs)
}
