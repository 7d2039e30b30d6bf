/** Drops duplicates and numbers the users of a load. */
import { sql, uint64, type Sql } from '../../../../clickhouse/sql.js'
import { deriveUserId, isIncluded, SALTS, selectFirstOfIds } from './derived-users.js'
import { insertStaged, type LoadTables } from '../shared/load-tables.js'
import { selectNightEvents } from './night-events.js'
import { hashUserId } from './user-numbers.js'

/**
 * Puts the rows that become events into the table `kept`. Only the first row to arrive with an event id is
 * kept, and none when an earlier load had the id. A user without an id is identified by IP address and user agent, for
 * one day or until the end of a visit over midnight. `user_key` is the hash of the user id, by which users are told apart.
 *
 * @param hasNights whether there is a table `nights`
 */
export const keepRows = (tables: LoadTables, hasNights: boolean): Sql => {
  const saltDay = hasNights
    ? sql`toDate(load_rows.timestamp) - (load_rows.seq IN (${selectNightEvents(tables)}))`
    : sql`toDate(load_rows.timestamp)`
  return insertStaged(
    tables,
    'kept',
    sql`
SELECT *, ${hashUserId(sql`user_id`)} AS user_key FROM (
  SELECT seq, project_id, timestamp, session_id, if(user_id != '', user_id, ${deriveUserId(SALT)}) AS user_id
  FROM (SELECT *, ${saltDay} AS salt_day FROM ${tables.rows} AS load_rows) AS load_rows
  LEFT JOIN (${SALTS}) AS salts ON salts.day = load_rows.salt_day
  WHERE ${isIncluded(tables)} AND (event_key = 0 OR seq IN (${selectFirstOfIds(tables)}))
)`,
  )
}

/** A dry run makes no salts: its users need not be those of the import, but they must be as many. */
const SALT = sql`if(salts.salt != '', salts.salt, toString(load_rows.salt_day))`

/**
 * Puts the users of the load with their numbers into the table `users`. Each project numbers its users from 1; the number
 * of a new user is the next after those of earlier loads, in order of first appearance. It may be too high to be stored:
 * `number` is the number, and `user` the same if it is not.
 */
export const numberUsers = (tables: LoadTables, load: number): Sql =>
  insertStaged(
    tables,
    'users',
    sql`
SELECT
  batch.project_id AS project_id, batch.user_key AS user_key, batch.user_id AS user_id,
  known.user = 0 AS is_new,
  if(is_new, counts.last + row_number() OVER (PARTITION BY project_id, is_new ORDER BY first), known.user) AS number,
  toUInt32(number) AS user,
  ${uint64(load)} AS load
FROM (
  SELECT project_id, user_key, argMin(user_id, (timestamp, seq)) AS user_id, min((timestamp, seq)) AS first
  FROM ${tables.kept} AS load_kept GROUP BY ALL
) AS batch
LEFT JOIN (
  SELECT DISTINCT project_id, user_key, user FROM user_keys
  WHERE project_id IN (SELECT project_id FROM ${tables.kept}) AND user_key IN (SELECT user_key FROM ${tables.kept})
) AS known ON known.project_id = batch.project_id AND known.user_key = batch.user_key
LEFT JOIN (
  SELECT project_id, toUInt64(max(last)) AS last FROM user_counts
  WHERE project_id IN (SELECT project_id FROM ${tables.kept}) GROUP BY project_id
) AS counts ON counts.project_id = batch.project_id`,
  )
