/** Fills the shadow tables: the rollups of one month, computed from the facts beside the live tables. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../clickhouse/connection.js'
import { fenceConnection } from '../clickhouse/connection-wrappers.js'
import { dropTables } from '../clickhouse/drop-tables.js'
import { withLease, type Lease } from '../clickhouse/lease/lease.js'
import { sql } from '../clickhouse/sql.js'
import { SHADOW } from '../model/rollup-tables.js'
import { backfillRollups } from './backfill.js'
import { isOfMonth, listMonths, type Month } from './months.js'

export interface MonthsOptions {
  /** Finishes loads and deletions that were interrupted. It is called by the holder of the loader lease. */
  readonly finishInterruptedWork: (writer: Connection) => Promise<void>
  /** The only project to process; absent: all. */
  readonly projectId?: string | undefined
  /** Called after each month. */
  readonly onMonth?: (month: Month) => void
}

/** Between two months a loader that waits for the lease gets its turn. */
const PAUSE_MS = 250
/** A loader at work may be in the middle of a large batch. */
export const LEASE_TIMEOUT_MS = 600_000

/**
 * Calls `work` once per month, the earliest first, each time under the loader lease and with the month's rollups in
 * the shadow tables.
 */
export async function forEachMonth(
  writer: Connection,
  { projectId, onMonth, finishInterruptedWork }: MonthsOptions,
  work: (holder: Connection, month: Month, lease: Lease) => Promise<void>,
): Promise<void> {
  for (const month of await listMonths(writer, projectId)) {
    await withLease(
      writer,
      'loader',
      async (lease) => {
        const holder = fenceConnection(writer, lease.signal)
        // A load that is half published would be counted here, and again when it is finished.
        await finishInterruptedWork(holder)
        await withShadowTables(holder, month, projectId, () => work(holder, month, lease))
      },
      { waitMs: LEASE_TIMEOUT_MS },
    )
    onMonth?.(month)
    await sleep(PAUSE_MS)
  }
}

/** Calls `work` with the shadow tables filled, and drops them however it ends. The caller holds the loader lease. */
async function withShadowTables(
  writer: Connection,
  month: Month,
  projectId: string | undefined,
  work: () => Promise<void>,
): Promise<void> {
  await dropTables(writer, SHADOW.prefix)
  try {
    await backfillRollups(writer, SHADOW, {
      events: isOfMonth(sql`timestamp`, month, projectId),
      sessions: isOfMonth(sql`start_at`, month, projectId),
    })
    await work()
  } finally {
    await dropTables(writer, SHADOW.prefix)
  }
}
