/** Backs up each store between two of its loads, and restores a backup into an empty store. */
import { backUp } from '../clickhouse/backup/back-up.js'
import { parsePlace } from '../clickhouse/backup/backup-place.js'
import { restoreBackup } from '../clickhouse/backup/restore.js'
import type { Endpoint } from '../clickhouse/endpoint.js'
import { ensureDatabase } from '../clickhouse/ensure-database.js'
import { loadWaiting } from '../ingest/loader/loader.js'
import { hasLoadedRows, restartStream } from '../ingest/loader/stream.js'
import { withLoaderLease } from '../ingest/loader/with-loader-lease.js'
import { UserError } from '../lib/errors.js'
import type { OpenedCluster } from './open-cluster.js'
import { openEngine } from './open-engine.js'
import type { OpenedStore } from './open-store.js'
import { listPlaces, type ShardPlace, type StoresConfig } from './shard-places.js'

/**
 * Writes a backup of every store: in a cluster, into a folder per shard. The home, which has the projects, is the last: it knows
 * every project that the others have.
 *
 * @throws UserError when a backup cannot be written
 */
export async function backUpStores({ stores }: OpenedCluster, target: string): Promise<void> {
  const [home, ...others] = stores
  if (others.length === 0) return backUpStore(home, target)
  for (const one of [...others, home]) {
    await nameFailure(one.name, () => backUpStore(one, nameFolder(target, one.name)))
  }
}

/**
 * Restores what `backUpStores` wrote, into empty stores.
 *
 * @throws UserError when a store is not empty or a backup cannot be read
 */
export async function restoreStores(config: StoresConfig, source: string): Promise<void> {
  const [home, ...others] = await listPlaces(config)
  if (others.length === 0) return restoreStore(home, source)
  for (const place of [home, ...others]) {
    await nameFailure(place.name, () => restoreStore(place, nameFolder(source, place.name)))
  }
}

/** The folder of a shard in the place of a backup. */
const nameFolder = (place: string, shard: string): string => `${place.replace(/\/+$/, '')}/${shard}`

/**
 * Writes a backup of a store. Queries and the collector keep working; loads wait until it is written. Events that arrive meanwhile are
 * in the inbox of the backup, or only in the store. What waits is loaded first: a backup has no deduplication log, so a load
 * that is half published could not be finished exactly once after a restore.
 *
 * @throws UserError when the backup cannot be written
 */
async function backUpStore(
  { store, endpoint, loader }: OpenedStore,
  target: string,
): Promise<void> {
  const place = parsePlace(target)
  requireOneServer(endpoint)
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
async function restoreStore(
  { clickhouse, dataDir, member }: Pick<ShardPlace, 'clickhouse' | 'dataDir' | 'member'>,
  source: string,
): Promise<void> {
  const place = parsePlace(source)
  const { endpoint, engine } =
    clickhouse === undefined
      ? await openEngine({ dataDir, member, purpose: 'tallyhouse restore' })
      : { endpoint: clickhouse, engine: undefined }
  try {
    requireOneServer(endpoint)
    await ensureDatabase(endpoint)
    await restoreBackup(endpoint, place, restartStream)
  } finally {
    await engine?.stop()
  }
}

/** @throws UserError for a store of several replicas, whose tables no other server can take as they are */
function requireOneServer({ replicas }: Endpoint): void {
  if (replicas === undefined) return
  throw new UserError(
    'a shard with replicas cannot be backed up or restored by this command: copy its tables with BACKUP of ClickHouse',
  )
}

/** Does work on a shard. @throws UserError with the name of the shard before the message; other errors as they are */
async function nameFailure<Result>(shard: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof UserError ? new UserError(`${shard}: ${error.message}`) : error
  }
}
