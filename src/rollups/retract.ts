/**
 * Takes what some facts came to out of the rollups that add up.
 *
 * What is to be left is computed before anything is written. A rollup then gets the difference from what it
 * has to that: done again, or half done before, it comes to the same.
 */
import type { Connection } from '../clickhouse/connection.js'
import { identifier, join, sql, statement, type Sql } from '../clickhouse/sql.js'
import { dateColumn } from './shadow-tables.js'
import { sumsOf, SUM_NAMES, type SumName } from '../model/rollup-measures.js'
import { LIVE, type RollupTables } from '../model/rollup-tables.js'

/** What is to be left of the groups that a rollup loses something of. */
const restOf = (name: SumName, { prefix }: RollupTables): Sql => identifier(`${prefix}rest_${name}`)

/**
 * Computes what the rollups come to without what the tables hold, beside them. The caller holds the lease of
 * the loader until it is applied, so that nothing is added meanwhile.
 */
export async function stageRetraction(writer: Connection, lost: RollupTables): Promise<void> {
  for (const name of SUM_NAMES) {
    const groups = lost.rollups[name]
    await writer.execute(
      statement(sql`
CREATE TABLE ${restOf(name, lost)} ENGINE = MergeTree ORDER BY (project_id, dimension, value, ${dateColumn(name)}) AS
${difference(name, LIVE.rollups[name], groups, groups)}`),
    )
  }
}

/** Makes the rollups what was staged. */
export async function applyRetraction(writer: Connection, lost: RollupTables): Promise<void> {
  for (const name of SUM_NAMES) {
    const [live, rest] = [LIVE.rollups[name], restOf(name, lost)]
    const columns = Object.values(sumsOf(name))
    await writer.execute(
      statement(sql`
INSERT INTO ${live} (project_id, dimension, value, ${dateColumn(name)}, ${join(columns)})
${difference(name, rest, live, rest)}
HAVING arrayExists(one -> one != 0, [${join(columns)}])`),
      { insert_deduplicate: 0, max_partitions_per_insert_block: '0' },
    )
  }
}

/** What one table has more than another, of the groups of a third. */
function difference(name: SumName, table: Sql, less: Sql, groups: Sql): Sql {
  const key = sql`project_id, dimension, value, ${dateColumn(name)}`
  const columns = Object.values(sumsOf(name))
  const rowsOf = (from: Sql, side: Sql): Sql => sql`
  SELECT ${key}, ${join(columns)}, ${side} AS side FROM ${from}
  WHERE project_id IN (SELECT project_id FROM ${groups}) AND (${key}) IN (SELECT ${key} FROM ${groups})`
  return sql`SELECT ${key}, ${join(columns.map((column) => sql`sum(side * both.${column}) AS ${column}`))}
FROM (${rowsOf(table, sql`1`)} UNION ALL ${rowsOf(less, sql`-1`)}) AS both
GROUP BY ${key}`
}
