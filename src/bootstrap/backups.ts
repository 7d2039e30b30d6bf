/** Backs up the store between two loads, and restores a backup into an empty store. */
import { backUp } from '../clickhouse/backup/back-up.js'
import { parsePlace } from '../clickhouse/backup/backup-place.js'
import { restoreBackup } from '../clickhouse/backup/restore.js'
import { ensureDatabase } from '../clickhouse/migrations/migrate.js'
import type { Config } from '../config/config.js'
import { loadWaiting } from '../ingest/loader/loader.js'
import { hasLoadedRows, restartStream } from '../ingest/loader/stream.js'
import { withLoaderLease } from '../ingest/loader/with-loader-lease.js'
import { openEngine } from './open-engine.js'
import type { OpenedStore } from './open-store.js'

/**
 * Writes a backup. Queries and the collector keep working; loads wait until it is written. Events that arrive meanwhile are
 * in the inbox of the backup, or only in the store. What waits is loaded first: a backup has no deduplication log, so a load
 * that is half published could not be finished exactly once after a restore.
 *
 * @throws UserError when the backup cannot be written
 */
export async function backUpStore(
  { store, endpoint, loader }: OpenedStore,
  target: string,
): Promise<void> {
  const place = parsePlace(target)
  await withLoaderLease(store.writer, async (fenced) => {
    // A restored inbox is loaded from its start, so it must not have rows that are loaded already.
    do await loadWaiting(fenced, loader)
    while (await hasLoadedRows(fenced))
    await backUp(endpoint, place)
  })
}

/**
 * Restores a backup. Parts get new block numbers, so the inbox is then loaded from its start; it has only rows that were
 * not loaded.
 *
 * @throws UserError when the store is not empty or the backup cannot be read
 */
export async function restoreStore(
  config: Pick<Config, 'clickhouse' | 'dataDir'>,
  source: string,
): Promise<void> {
  const place = parsePlace(source)
  const { endpoint, engine } =
    config.clickhouse === undefined
      ? await openEngine({ dataDir: config.dataDir, purpose: 'tallyhouse restore' })
      : { endpoint: config.clickhouse, engine: undefined }
  try {
    await ensureDatabase(endpoint)
    await restoreBackup(endpoint, place, restartStream)
  } finally {
    await engine?.stop()
  }
}
