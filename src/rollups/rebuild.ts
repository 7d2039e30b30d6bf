/** Recomputes the rollups from the facts, one month at a time, while queries are served. */
import type { Connection } from '../clickhouse/connection.js'
import type { Lease } from '../clickhouse/lease/lease.js'
import { sql, statement } from '../clickhouse/sql.js'
import { LIVE, SHADOW } from '../model/rollup-table-sets.js'
import { ROLLUPS } from '../model/rollups.js'
import { findPartition, isOfMonth, type Month } from './months.js'
import { forEachMonth, type MonthsOptions } from './shadow-tables.js'

/**
 * Rebuilds the rollups. One statement swaps in the new partition of a rollup, so a query reads each rollup either before
 * or after the rebuild of a month.
 */
export function rebuildRollups(writer: Connection, options: MonthsOptions): Promise<void> {
  return forEachMonth(writer, options, (holder, month, lease) =>
    swapInMonth(holder, month, options.projectId, lease),
  )
}

/**
 * Swaps in the shadow tables of a month. A partition is replaced as a whole, so its other rows (other months of the
 * year, other projects) are copied into the shadow table first.
 */
async function swapInMonth(
  writer: Connection,
  month: Month,
  projectId: string | undefined,
  lease: Lease,
): Promise<void> {
  for (const rollup of ROLLUPS) {
    const [shadow, live] = [SHADOW.rollups[rollup.name], LIVE.rollups[rollup.name]]
    const { partition, isInPartition } = findPartition(rollup, month)
    const isRebuilt = isOfMonth(rollup.dateColumn, month, projectId)
    await writer.execute(
      statement(
        sql`INSERT INTO ${shadow} SELECT * FROM ${live} WHERE ${isInPartition} AND NOT (${isRebuilt})`,
      ),
      { insert_deduplicate: 0 },
    )
    // The partition will be read for a long time: merge it once, because fewer parts are read faster.
    await writer.execute(statement(sql`OPTIMIZE TABLE ${shadow} FINAL`))
    // While this process was suspended, another may have loaded events, and the shadow table lacks their rows.
    await lease.assertHeld()
    await writer.execute(
      statement(sql`ALTER TABLE ${live} REPLACE PARTITION ${partition} FROM ${shadow}`),
      // A month may have no facts left: its users were deleted.
      { allow_replace_partition_from_empty_source: 1 },
    )
  }
}
