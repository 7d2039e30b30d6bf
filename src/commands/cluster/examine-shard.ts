/** Asks one shard how it is. Nothing is written. */
import { types } from 'node:util'
import { getSkew, readClocks } from '../../clickhouse/clocks.js'
import { getClickHouseReason } from '../../clickhouse/errors.js'
import { readLeaseStatus } from '../../clickhouse/lease/lease-status.js'
import { readMigrationStatus } from '../../clickhouse/migrations/migration-status.js'
import { sql, statement } from '../../clickhouse/sql.js'
import type { Store } from '../../clickhouse/store.js'
import { readBytes } from '../../cluster/place-project.js'
import { countWaitingRows } from '../../ingest/loader/stream.js'
import { SECOND_MS } from '../../lib/time.js'

/** What a shard reports of itself. */
export interface ShardFacts {
  readonly version: string
  /** The files of the migrations that it lacks. */
  readonly missing: readonly string[]
  /** The rows that wait to be loaded, and for how many milliseconds the oldest has waited; null before the first migration. */
  readonly waiting: { readonly rows: number; readonly oldestMs: number } | null
  /** Who loads its events; null if nobody does. */
  readonly loader: string | null
  readonly bytes: number
  /** Milliseconds by which the clock of this host is ahead of that of the shard. */
  readonly aheadMs: number
}

/** A shard that takes longer than this counts as away. */
export const RESPONSE_MS = 5 * SECOND_MS

export async function examineShard(store: Store, now: () => Date): Promise<ShardFacts> {
  const greeting = await greet(store, now)
  const { isSetUp, missing } = await readMigrationStatus(store.reader)
  if (!isSetUp) return { ...greeting, missing, waiting: null, loader: null, bytes: 0 }
  const [waiting, lease, bytes] = await Promise.all([
    countWaitingRows(store.lookups),
    readLeaseStatus(store.writer, 'loader'),
    readBytes(store.writer),
  ])
  return {
    ...greeting,
    missing,
    waiting: { rows: waiting.rows, oldestMs: waiting.oldestMs },
    loader: lease.state === 'held' ? (lease.holder ?? 'a process') : null,
    bytes,
  }
}

async function greet(
  { lookups }: Store,
  now: () => Date,
): Promise<Pick<ShardFacts, 'version' | 'aheadMs'>> {
  const signal = AbortSignal.timeout(RESPONSE_MS)
  const { rows } = await lookups.query<{ version: string }>(
    statement(sql`SELECT version() AS version`),
    { signal },
  )
  const aheadMs = Math.round(getSkew(await readClocks(lookups, now, signal)))
  return { version: rows[0]?.version ?? '', aheadMs }
}

/** The texts of ClickHouse can be long. */
const MAX_REASON = 200

/** Says in one line why a shard did not answer. */
export function describeFailure(error: unknown): string {
  const text =
    getClickHouseReason(error) ??
    (types.isNativeError(error) ? error.message : 'it does not answer')
  return text.replaceAll(/\s+/g, ' ').slice(0, MAX_REASON)
}
