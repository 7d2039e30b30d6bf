/**
 * The numbers of users: `user_keys` has the number of each user by the hash of the user id, and `user_counts` the last number
 * of each project. Stores of earlier versions have both in `users` only, from where a project's first load fills them.
 */
import type { Connection } from '../../../../clickhouse/connection.js'
import { sql, statement, string, uint32, uint64, type Sql } from '../../../../clickhouse/sql.js'
import type { LoadTables } from '../shared/load-tables.js'

/** The highest number that a user can have, 4,294,967,295: rollups count 32-bit numbers. */
export const MAX_USER_NUMBER = 2 ** 32 - 1

/** Returns the key of a user id. Two ids with the same hash are one user. */
export const hashUserId = (userId: Sql): Sql => sql`reinterpretAsUInt128(sipHash128(${userId}))`

/** How many numbers one statement copies. It takes less than a minute. */
const MAX_COPIED = 50_000_000

/** A project of a load. */
interface Project {
  readonly id: string
  /** The number of its last user; 0 without any. */
  readonly last: number
  /** How many rows of it the load has that may become events, so it has not more new users. */
  readonly events: number
}

/**
 * Makes the users of all projects of a load known to it. Reads only its parsed rows.
 *
 * @returns whether a project may have more users than there are numbers
 */
export async function prepareUserNumbers(writer: Connection, tables: LoadTables): Promise<boolean> {
  const { rows: projects } = await writer.query<Project>(
    statement(sql`
SELECT batch.project_id AS id, counts.last AS last, events
FROM (SELECT project_id, count() AS events FROM ${tables.rows} WHERE fate = 'kept' GROUP BY project_id) AS batch
LEFT JOIN (
  SELECT project_id, max(last) AS last FROM user_counts
  WHERE project_id IN (SELECT project_id FROM ${tables.rows} WHERE fate = 'kept') GROUP BY project_id
) AS counts ON counts.project_id = batch.project_id
WHERE last = 0 OR last + events > ${uint64(MAX_USER_NUMBER)}`),
  )
  let mayOverflow = false
  for (const { id, last, events } of projects) {
    const number = last === 0 ? await copyUsers(writer, id) : last
    mayOverflow ||= number + events > MAX_USER_NUMBER
  }
  return mayOverflow
}

/**
 * Copies the users of a project from `users`. A copy that was interrupted is made again, which leaves equal rows. Returns the
 * number of the last user; 0 without any.
 */
async function copyUsers(writer: Connection, projectId: string): Promise<number> {
  const inProject = sql`project_id = ${string(projectId)}`
  const { rows } = await writer.query<{ last: number }>(
    statement(sql`SELECT max(user) AS last FROM users WHERE ${inProject}`),
  )
  const last = rows[0]?.last ?? 0
  if (last === 0) return 0
  for (let from = 0; from < last; from += MAX_COPIED) {
    await writer.execute(
      statement(sql`
INSERT INTO user_keys (project_id, user_key, user, load)
SELECT project_id, ${hashUserId(sql`user_id`)}, user, load FROM users
WHERE ${inProject} AND user > ${uint32(from)} AND user <= ${uint64(from + MAX_COPIED)}`),
      { insert_deduplicate: 0 },
    )
  }
  await writer.execute(
    statement(
      sql`INSERT INTO user_counts (project_id, last) SELECT ${string(projectId)}, ${uint32(last)}`,
    ),
  )
  return last
}

/**
 * Puts the rows of new users that get no number into the table `full`. Returns whether there are any.
 */
export async function findUnnumberedRows(writer: Connection, tables: LoadTables): Promise<boolean> {
  await writer.execute(
    statement(
      sql`CREATE TABLE IF NOT EXISTS ${tables.unnumbered} (seq UInt64) ENGINE = MergeTree ORDER BY seq`,
    ),
  )
  await writer.execute(
    statement(sql`
INSERT INTO ${tables.unnumbered} SELECT seq FROM ${tables.kept}
WHERE (project_id, user_key) IN (SELECT project_id, user_key FROM ${tables.users} WHERE number > ${uint64(MAX_USER_NUMBER)})`),
  )
  const { rows } = await writer.query(
    statement(sql`
SELECT 1 FROM ${tables.users} WHERE number > ${uint64(MAX_USER_NUMBER)} LIMIT 1`),
  )
  return rows.length > 0
}
