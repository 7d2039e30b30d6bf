/** Deletes rows of a partitioned table. */
import type { Connection, Settings } from '../clickhouse/connection.js'
import { sql, statement, uint32, type Sql } from '../clickhouse/sql.js'

/** The tables with a row for each user. Their numbers are not given to other users. */
export const USER_TABLES = [sql`users`, sql`user_keys`] as const

/**
 * Deletes rows, one partition after the other: the parts of other partitions stay as they are.
 *
 * @param partition the expression by which the table is partitioned
 */
export async function deleteRows(
  writer: Connection,
  table: Sql,
  partition: Sql,
  isDeleted: Sql,
  settings: Settings = {},
): Promise<void> {
  const { rows } = await writer.query<{ number: number }>(
    statement(
      sql`SELECT DISTINCT ${partition} AS number FROM ${table} WHERE ${isDeleted} ORDER BY number`,
    ),
  )
  for (const { number } of rows) {
    await writer.execute(
      statement(sql`DELETE FROM ${table} IN PARTITION ${uint32(number)} WHERE ${isDeleted}`),
      settings,
    )
  }
}
