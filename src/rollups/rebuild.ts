/** Recomputes the rollups from the facts, a month at a time, while questions go on being answered. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../clickhouse/connection.js'
import { withLease, type Lease } from '../clickhouse/lease/lease.js'
import { sql, statement, uint32, type Sql } from '../clickhouse/sql.js'
import { fenceConnection } from '../clickhouse/connection-wrappers.js'
import { listMonths, ofMonth, withShadowTables, type Month } from './shadow-tables.js'
import { SHADOW, LIVE, ROLLUP_NAMES, type RollupName } from '../model/rollup-tables.js'

export interface MonthsOptions {
  /** Finishes loads and deletions that were interrupted; the caller of it holds the loader lease. */
  readonly finishInterruptedWork: (writer: Connection) => Promise<void>
  /** The only project to look at; absent: all. */
  readonly projectId?: string | undefined
  /** Is told of each month when it is done. */
  readonly onMonth?: (month: Month) => void
}

/** Between two months a loader that waits gets its turn. */
const PAUSE_MS = 250
/** A loader at work may be in the middle of a large batch. */
export const PATIENCE_MS = 600_000

/** Does the work for each month there is, under the lease of the loader; a month at a time. */
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
        // What is half published would be counted here, and then once more when it is finished.
        await finishInterruptedWork(holder)
        await withShadowTables(holder, month, projectId, () => work(holder, month, lease))
      },
      { waitMs: PATIENCE_MS },
    )
    onMonth?.(month)
    await sleep(PAUSE_MS)
  }
}

/**
 * Rebuilds the rollups. A question sees each of them as it was or as it is then: a month takes the place
 * of the month before in one step.
 */
export function rebuildRollups(writer: Connection, options: MonthsOptions): Promise<void> {
  return forEachMonth(writer, options, (holder, month, lease) =>
    replaceMonth(holder, month, options.projectId, lease),
  )
}

/**
 * Puts the drafts of a month in the place of what is there. A partition is replaced as a whole: what else is
 * in it, other months of the year or other projects, goes with it as it is.
 */
async function replaceMonth(
  writer: Connection,
  month: Month,
  projectId: string | undefined,
  lease: Lease,
): Promise<void> {
  for (const name of ROLLUP_NAMES) {
    const [draft, live] = [SHADOW.rollups[name], LIVE.rollups[name]]
    const partition = partitionOf(name, month)
    await writer.execute(
      statement(
        sql`INSERT INTO ${draft} SELECT * FROM ${live} WHERE ${isIn(name, partition)} AND NOT (${ofMonth(name, month, projectId)})`,
      ),
      { insert_deduplicate: 0 },
    )
    // What stays for long is merged once, here: fewer parts are quicker to read.
    await writer.execute(statement(sql`OPTIMIZE TABLE ${draft} FINAL`))
    // After a long sleep others may have loaded events since: the shadow table would undo their rows.
    await lease.assertHeld()
    await writer.execute(
      statement(sql`ALTER TABLE ${live} REPLACE PARTITION ${uint32(partition)} FROM ${draft}`),
      // A month that facts say nothing of any more: its users were deleted.
      { allow_replace_partition_from_empty_source: 1 },
    )
  }
}

/** Days are partitioned by month, months by year. */
const partitionOf = (name: RollupName, month: Month): number =>
  name.endsWith('_daily') ? month : Math.floor(month / 100)
const isIn = (name: RollupName, partition: number): Sql =>
  name.endsWith('_daily')
    ? sql`toYYYYMM(day) = ${uint32(partition)}`
    : sql`toYear(month) = ${uint32(partition)}`
