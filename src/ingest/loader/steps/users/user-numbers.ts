/**
 * The numbers of users: `user_keys` has the number of each user by the hash of the user id, and `user_counts` the last number
 * of each project.
 */
import type { Connection } from '../../../../clickhouse/connection.js'
import { sql, statement, uint64, type Sql } from '../../../../clickhouse/sql.js'
import type { LoadTables } from '../shared/load-tables.js'

/** The highest number that a user can have, 4,294,967,295: rollups count 32-bit numbers. */
export const MAX_USER_NUMBER = 2 ** 32 - 1
const IS_UNNUMBERED = sql`number > ${uint64(MAX_USER_NUMBER)}`

/** Returns the key of a user id. Two ids with the same hash are one user. */
export const hashUserId = (userId: Sql): Sql => sql`reinterpretAsUInt128(sipHash128(${userId}))`

/**
 * Returns whether new users of a load get no number, because their project has no more. Then their rows are in the table `full`.
 */
export async function findUnnumberedRows(writer: Connection, tables: LoadTables): Promise<boolean> {
  const { rows } = await writer.query(
    statement(sql`SELECT 1 FROM ${tables.users} WHERE ${IS_UNNUMBERED} LIMIT 1`),
  )
  if (rows.length === 0) return false
  await writer.execute(
    statement(
      sql`CREATE TABLE IF NOT EXISTS ${tables.unnumbered} (seq UInt64) ENGINE = MergeTree ORDER BY seq`,
    ),
  )
  await writer.execute(
    statement(sql`
INSERT INTO ${tables.unnumbered} SELECT seq FROM ${tables.kept}
WHERE (project_id, user_key) IN (SELECT project_id, user_key FROM ${tables.users} WHERE ${IS_UNNUMBERED})`),
  )
  return true
}
