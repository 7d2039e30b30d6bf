/** Finds the stored sessions that the new events of a load may belong to. */
import { sql, uint32, type Sql } from '../../../clickhouse/sql.js'
import type { LoadTables } from './shared/load-tables.js'
import { SESSION_PAUSE } from './shared/session-pause.js'

/** The days on which a session near the events of a day started, if it is shorter than LONG_HOURS. */
const NEARBY_DAYS = sql`[toDate(first - INTERVAL 1410 MINUTE), on, toDate(last + ${SESSION_PAUSE})]`
const LONG_HOURS = uint32(23)

/** A prefix of the sorting key, so that ClickHouse reads only what it needs. */
const isOfProject = (tables: LoadTables): Sql =>
  sql`project_id IN (SELECT project_id FROM ${tables.users})`

/** Whether a stored session belongs to a user of the load. */
const isOfKnownUser = (tables: LoadTables): Sql => sql`${isOfProject(tables)}
      AND (project_id, user) IN (SELECT project_id, user FROM ${tables.users} WHERE NOT is_new)`

/**
 * Puts the stored sessions that new events may belong to into the table `near`: sessions of the same users that
 * are within 30 minutes of the new events, and sessions that the events name by id.
 *
 * Most sessions are short. They are looked up by user and day, which is the sorting key, so an event of long ago does not
 * make the load read all sessions since. The few that last for most of a day are found by their end.
 */
export const findNearbySessions = (tables: LoadTables): Sql => sql`
CREATE TABLE ${tables.nearbySessions} ENGINE = MergeTree ORDER BY (session, load) AS
WITH
  days AS (
    SELECT project_id, arrayJoin(${NEARBY_DAYS}) AS day, user
    FROM (
      SELECT project_id, user_key, toDate(timestamp) AS on, min(timestamp) AS first, max(timestamp) AS last
      FROM ${tables.kept} WHERE session_id = '' GROUP BY ALL
    ) AS load_days
    INNER JOIN ${tables.users} AS load_users USING (project_id, user_key)
    WHERE NOT is_new
  ),
  (SELECT (min(timestamp) - ${SESSION_PAUSE}, max(timestamp) + ${SESSION_PAUSE}) FROM ${tables.kept}) AS around,
  near AS (
    SELECT * FROM sessions
    WHERE (project_id, toDate(start_at), user) IN (SELECT project_id, day, user FROM days) AND session_id = ''
      AND dateDiff('hour', start_at, end_at) < ${LONG_HOURS} AND end_at >= around.1 AND start_at <= around.2
    UNION ALL
    SELECT * FROM sessions
    WHERE ${isOfKnownUser(tables)} AND session_id = ''
      AND dateDiff('hour', start_at, end_at) >= ${LONG_HOURS} AND end_at >= around.1 AND start_at <= around.2
    UNION ALL
    SELECT *
    FROM sessions
    WHERE ${isOfKnownUser(tables)} AND session_id IN (SELECT session_id FROM ${tables.kept} WHERE session_id != '')
  )
-- A replaced state has a second row with the sign -1.
SELECT * EXCEPT least_sign FROM (SELECT *, min(sign) OVER (PARTITION BY session, load) AS least_sign FROM near)
WHERE least_sign = 1`
