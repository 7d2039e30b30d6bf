/**
 * Retracts facts from the rollups that hold sums: subtracts what the facts added.
 *
 * The remaining sums are staged in tables before anything is written. Applying them inserts the difference between the
 * live sums and the staged ones, so it can be repeated, or resumed halfway, with the same result.
 */
import type { Connection } from '../clickhouse/connection.js'
import { identifier, join, sql, statement, string, type Sql } from '../clickhouse/sql.js'
import { settleAll } from '../lib/settle.js'
import { LIVE, type RollupTables } from '../model/rollup-table-sets.js'
import {
  isOfPairedProjects,
  listKeyColumns,
  listSumColumns,
  SUM_ROLLUPS,
  type Rollup,
} from '../model/rollups.js'

/** The names of the tables that `stageRetraction` creates, without the prefix. */
export const REST_TABLES = SUM_ROLLUPS.map(({ name }) => `rest_${name}`)

/** Names the table with the remaining sums of the groups that a rollup has to change. */
const nameRestTable = ({ name }: Rollup, { prefix }: RollupTables): Sql =>
  identifier(`${prefix}rest_${name}`)

/**
 * Stages the live sums minus those in `retracted`. The caller holds the loader lease until they are applied, so that
 * nothing is added in between.
 */
export async function stageRetraction(writer: Connection, retracted: RollupTables): Promise<void> {
  const stage = (rollup: Rollup): Promise<void> => {
    const groups = retracted.rollups[rollup.name]
    return writer.execute(
      statement(sql`
CREATE TABLE ${nameRestTable(rollup, retracted)} ENGINE = MergeTree
ORDER BY (${join(listKeyColumns(rollup))}) AS
${subtract(rollup, LIVE.rollups[rollup.name], groups, groups)}`),
    )
  }
  await settleAll(SUM_ROLLUPS.map(stage))
}

/** Changes the live rollups to the staged sums. The caller still holds the loader lease. */
export async function applyRetraction(writer: Connection, retracted: RollupTables): Promise<void> {
  const apply = async (rollup: Rollup): Promise<void> => {
    if (isOfPairedProjects(rollup) && !(await isStaged(writer, rollup, retracted))) return
    const [live, rest] = [LIVE.rollups[rollup.name], nameRestTable(rollup, retracted)]
    const columns = listSumColumns(rollup)
    await writer.execute(
      statement(sql`
INSERT INTO ${live} (${join([...listKeyColumns(rollup), ...columns])})
${subtract(rollup, rest, live, rest)}
HAVING arrayExists(one -> one != 0, [${join(columns)}])`),
      { insert_deduplicate: 0, max_partitions_per_insert_block: '0' },
    )
  }
  await settleAll(SUM_ROLLUPS.map(apply))
}

/** Whether a rollup was staged. An older build may not have known it; this build then rebuilds it, without the facts. */
async function isStaged(
  writer: Connection,
  { name }: Rollup,
  { prefix }: RollupTables,
): Promise<boolean> {
  const { rows } = await writer.query(
    statement(sql`
SELECT 1 FROM system.tables WHERE database = currentDatabase() AND name = ${string(`${prefix}rest_${name}`)}`),
  )
  return rows.length > 0
}

/** Selects the sums of one table minus those of another, for the groups that a third table has. */
function subtract(rollup: Rollup, minuend: Sql, subtrahend: Sql, groups: Sql): Sql {
  const key = join(listKeyColumns(rollup))
  const columns = listSumColumns(rollup)
  const selectRows = (table: Sql, side: Sql): Sql => sql`
  SELECT ${key}, ${join(columns)}, ${side} AS side FROM ${table}
  WHERE project_id IN (SELECT project_id FROM ${groups}) AND (${key}) IN (SELECT ${key} FROM ${groups})`
  return sql`SELECT ${key}, ${join(columns.map((column) => sql`sum(side * both.${column}) AS ${column}`))}
FROM (${selectRows(minuend, sql`1`)} UNION ALL ${selectRows(subtrahend, sql`-1`)}) AS both
GROUP BY ${key}`
}
