/** Fills the shadow tables: the rollups of one month, computed from the facts beside the live tables. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../clickhouse/connection.js'
import { fenceConnection } from '../clickhouse/connection-wrappers.js'
import { withLease, type Lease } from '../clickhouse/lease/lease.js'
import { sql } from '../clickhouse/sql.js'
import { matchNames } from '../clickhouse/temporary-tables.js'
import { MINUTE_MS } from '../lib/time.js'
import {
  nameShadowTables,
  SET_TABLES,
  SHADOW_PREFIX,
  type RollupTables,
} from '../model/rollup-table-sets.js'
import { backfillRollups } from './backfill.js'
import { dropTableSets } from './materialized-views.js'
import { isOfMonth, listMonths, type Month } from './months.js'

export interface MonthsOptions {
  /** Finishes loads and deletions that were interrupted. It is called while the loader lease is held. */
  readonly finishInterruptedWork: (writer: Connection) => Promise<void>
  /** The only project to process; absent: all projects. */
  readonly projectId?: string | undefined
  /** Whether a month needs no work; absent: none does. */
  readonly isDone?: (month: Month) => boolean
  /** Called after each month, with the number of months that are left. */
  readonly onMonth?: (month: Month, left: number) => unknown
}

/** The pause between two months, in which a loader that waits for the lease gets its turn. */
const PAUSE_MS = 250
/** The longest wait for the loader lease: a loader may be in the middle of a large load. */
export const LEASE_TIMEOUT_MS = 10 * MINUTE_MS

/** A month whose rollups are in the shadow tables. */
export interface ShadowMonth {
  /** The connection of the writer; it refuses statements once the lease is lost. */
  readonly holder: Connection
  readonly month: Month
  readonly shadow: RollupTables
  /** The loader lease. */
  readonly lease: Lease
}

/**
 * Calls `work` once per month, the earliest first, each time with the loader lease held and the month's rollups in the
 * shadow tables.
 *
 * @throws LeaseTimeoutError when another process holds the lease for `LEASE_TIMEOUT_MS`
 */
export async function forEachMonth(
  writer: Connection,
  { projectId, isDone, onMonth, finishInterruptedWork }: MonthsOptions,
  work: (shadowMonth: ShadowMonth) => Promise<void>,
): Promise<void> {
  const months = (await listMonths(writer, projectId)).filter((month) => isDone?.(month) !== true)
  for (const [i, month] of months.entries()) {
    await withLease(
      writer,
      'loader',
      async (lease) => {
        const holder = fenceConnection(writer, lease.signal)
        // A load that is half published would be counted here, and again when it is finished.
        await finishInterruptedWork(holder)
        const shadow = nameShadowTables(lease.generation)
        await withShadowTables(holder, shadow, month, projectId, () =>
          work({ holder, month, shadow, lease }),
        )
      },
      { waitMs: LEASE_TIMEOUT_MS },
    )
    await onMonth?.(month, months.length - i - 1)
    await sleep(PAUSE_MS)
  }
}

/** Fills the shadow tables, calls `work`, and then drops them even if it failed. The caller holds the loader lease. */
async function withShadowTables(
  writer: Connection,
  shadow: RollupTables,
  month: Month,
  projectId: string | undefined,
  work: () => Promise<void>,
): Promise<void> {
  await dropShadowTables(writer)
  try {
    await backfillRollups(writer, shadow, {
      events: isOfMonth(sql`timestamp`, month, projectId),
      sessions: isOfMonth(sql`start_at`, month, projectId),
    })
    await work()
  } finally {
    await dropShadowTables(writer)
  }
}

/** The shadow tables of all rebuilds and checks, without the views between them. */
export const SHADOW_TABLES = matchNames(SHADOW_PREFIX, SET_TABLES)

/**
 * Drops all shadow tables. Under the loader lease no other process uses any, so every holder that changes facts calls
 * this first: a rebuild that was suspended could otherwise still swap in what it computed before the change.
 */
export const dropShadowTables = (writer: Connection): Promise<void> =>
  dropTableSets(writer, SHADOW_PREFIX)
