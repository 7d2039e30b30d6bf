/** Recomputes the rollups from the facts, one month at a time, while queries are served. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, TRUE, type Sql } from '../clickhouse/sql.js'
import { LIVE } from '../model/rollup-table-sets.js'
import { ROLLUPS } from '../model/rollups.js'
import { findPartition, isOfMonth } from './months.js'
import { forEachMonth, type MonthsOptions, type ShadowMonth } from './shadow-tables.js'

/**
 * Rebuilds the rollups. One statement swaps in the new partition of a rollup, so a query reads each rollup either before
 * or after the rebuild of a month.
 */
export function rebuildRollups(writer: Connection, options: MonthsOptions): Promise<void> {
  return forEachMonth(writer, options, (shadowMonth) => swapInMonth(shadowMonth, options.projectId))
}

/**
 * Swaps in the shadow tables of a month. A partition is replaced as a whole, so its other rows (other months of the
 * year, other projects) are copied into the shadow table first.
 */
async function swapInMonth(
  { holder, month, shadow: tables, lease }: ShadowMonth,
  projectId: string | undefined,
): Promise<void> {
  for (const rollup of ROLLUPS) {
    const [shadow, live] = [tables.rollups[rollup.name], LIVE.rollups[rollup.name]]
    const { partition, isInPartition } = findPartition(rollup, month)
    const isRebuilt = isOfMonth(rollup.dateColumn, month, projectId)
    await holder.execute(
      statement(
        sql`INSERT INTO ${shadow} SELECT * FROM ${live} WHERE ${isInPartition} AND NOT (${isRebuilt})`,
      ),
      { insert_deduplicate: 0 },
    )
    // The partition will be read for a long time: merge it once, because fewer parts are read faster.
    await holder.execute(statement(sql`OPTIMIZE TABLE ${shadow} FINAL`))
    // A month without facts has no groups left: its users were deleted. Nothing else may empty a partition.
    const isEmpty = !(await hasRows(holder, shadow, TRUE))
    if (
      isEmpty &&
      (await hasRows(holder, sql`events`, isOfMonth(sql`timestamp`, month, projectId)))
    ) {
      throw new Error(
        `the rebuild of ${rollup.name} found no groups for ${month}, but there are events`,
      )
    }
    // While this process was suspended, another may have loaded events, and the shadow table lacks their rows. If it is
    // suspended here, the other process drops the shadow table, and the next statement fails.
    await lease.assertHeld()
    await holder.execute(
      statement(sql`ALTER TABLE ${live} REPLACE PARTITION ${partition} FROM ${shadow}`),
      isEmpty ? { allow_replace_partition_from_empty_source: 1 } : {},
    )
  }
}

async function hasRows(holder: Connection, table: Sql, isSelected: Sql): Promise<boolean> {
  const { rows } = await holder.query(
    statement(sql`SELECT 1 FROM ${table} WHERE ${isSelected} LIMIT 1`),
  )
  return rows.length > 0
}
