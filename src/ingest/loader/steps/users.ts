/** Drops duplicates and numbers the users of a load. */
import type { Connection } from '../../../clickhouse/connection.js'
import { sql, statement, uint64, type Sql } from '../../../clickhouse/sql.js'
import { IS_FRESH, NEW_SALT, storeSalts, type ShareSalts } from '../../../cluster/salts.js'
import { DURABLE, type LoadTables } from './load-tables.js'
import { hashUserId } from './user-numbers.js'

const isIncluded = (tables: LoadTables): Sql =>
  sql`fate = 'kept' AND seq NOT IN (SELECT seq FROM ${tables.excludedEvents})`

/** Selects the days that have events without a user id and no salt yet. */
const selectDaysWithoutSalt = (tables: LoadTables): Sql => sql`
FROM (SELECT DISTINCT toDate(timestamp) AS day FROM ${tables.rows} AS load_rows WHERE ${isIncluded(tables)} AND user_id = '')
WHERE day NOT IN (SELECT day FROM salts WHERE ${IS_FRESH})`

/**
 * Stores a salt for each day that needs one.
 *
 * @param shareSalts undefined for a store that makes its own
 */
export async function saltDays(
  writer: Connection,
  tables: LoadTables,
  shareSalts: ShareSalts | undefined,
): Promise<void> {
  if (shareSalts === undefined) {
    await writer.execute(
      statement(sql`
INSERT INTO salts (day, salt)
SELECT day, ${NEW_SALT}${selectDaysWithoutSalt(tables)}`),
    )
    return
  }
  const { rows } = await writer.query<{ missing: string }>(
    statement(sql`SELECT toString(day) AS missing${selectDaysWithoutSalt(tables)}`),
  )
  if (rows.length === 0) return
  const salts = await shareSalts(rows.map(({ missing }) => missing))
  if (salts.length > 0) await storeSalts(writer, salts)
}

/** The salt of each day: the first, if two loaders made one at the same moment. */
const SALTS = sql`SELECT day, argMin(salt, (created_at, salt)) AS salt FROM salts GROUP BY day`

/**
 * Puts the rows that become events into the table `kept`. Only the first row to arrive with an event id is
 * kept, and none when an earlier load had the id. A user without an id is identified by IP address and user agent, for
 * one day. `user_key` is the hash of the user id, by which users are told apart.
 */
export const keepRows = (tables: LoadTables): Sql => sql`
CREATE TABLE ${tables.kept} ENGINE = MergeTree ORDER BY seq ${DURABLE} AS
SELECT *, ${hashUserId(sql`user_id`)} AS user_key FROM (
  SELECT
    seq, project_id, timestamp, session_id,
    if(user_id != '', user_id, concat('anonymous-', lower(hex(sipHash128(salts.salt, project_id, ip, user_agent))))) AS user_id
  FROM ${tables.rows} AS load_rows
  LEFT JOIN (${SALTS}) AS salts ON salts.day = toDate(load_rows.timestamp)
  WHERE ${isIncluded(tables)} AND (event_key = 0 OR seq IN (
    SELECT min(seq) FROM ${tables.rows} AS load_rows
    WHERE ${isIncluded(tables)} AND event_key != 0 AND (project_id, event_key) NOT IN (
      SELECT project_id, event_id FROM event_ids
      WHERE project_id IN (SELECT project_id FROM ${tables.rows} AS load_rows)
        AND event_id IN (SELECT event_key FROM ${tables.rows} AS load_rows))
    GROUP BY project_id, event_key))
)`

/**
 * Puts the users of the load with their numbers into the table `users`. Each project numbers its users from 1; the number
 * of a new user is the next after those of earlier loads, in order of first appearance. It may be too high to be stored:
 * `number` is the number, and `user` the same if it is not.
 */
export const numberUsers = (tables: LoadTables, load: number): Sql => sql`
CREATE TABLE ${tables.users} ENGINE = MergeTree ORDER BY (project_id, user_key) ${DURABLE} AS
SELECT
  batch.project_id AS project_id, batch.user_key AS user_key, batch.user_id AS user_id,
  known.user = 0 AS is_new,
  if(is_new, counts.last + row_number() OVER (PARTITION BY project_id, is_new ORDER BY first), known.user) AS number,
  toUInt32(number) AS user,
  ${uint64(load)} AS load
FROM (
  SELECT project_id, user_key, argMin(user_id, (timestamp, seq)) AS user_id, min((timestamp, seq)) AS first
  FROM ${tables.kept} GROUP BY ALL
) AS batch
LEFT JOIN (
  SELECT DISTINCT project_id, user_key, user FROM user_keys
  WHERE project_id IN (SELECT project_id FROM ${tables.kept}) AND user_key IN (SELECT user_key FROM ${tables.kept})
) AS known ON known.project_id = batch.project_id AND known.user_key = batch.user_key
LEFT JOIN (
  SELECT project_id, toUInt64(max(last)) AS last FROM user_counts
  WHERE project_id IN (SELECT project_id FROM ${tables.kept}) GROUP BY project_id
) AS counts ON counts.project_id = batch.project_id`
