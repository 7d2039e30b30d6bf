/** Finds the stored sessions that the new events of a load may belong to. */
import { sql, uint32, type Sql } from '../../../clickhouse/sql.js'
import type { LoadTables } from './load-tables.js'

/** A longer pause starts a new session. */
export const SESSION_PAUSE = sql`INTERVAL 30 MINUTE`

/** The days on which a session near a new event started, if it is shorter than LONG_HOURS. */
const NEARBY_DAYS = sql`[toDate(timestamp - INTERVAL 1410 MINUTE), toDate(timestamp), toDate(timestamp + ${SESSION_PAUSE})]`
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
    SELECT DISTINCT project_id, arrayJoin(${NEARBY_DAYS}) AS day, user
    FROM ${tables.kept} INNER JOIN ${tables.users} USING (project_id, user_id)
    WHERE NOT is_new AND session_id = ''
  ),
  (SELECT (min(timestamp) - ${SESSION_PAUSE}, max(timestamp) + ${SESSION_PAUSE}) FROM ${tables.kept}) AS around,
  near AS (
    SELECT * FROM sessions WHERE (project_id, toDate(start_at), user) IN (SELECT project_id, day, user FROM days) AND session_id = ''
    UNION ALL
    SELECT * FROM sessions
    WHERE ${isOfKnownUser(tables)} AND session_id = ''
      AND dateDiff('hour', start_at, end_at) >= ${LONG_HOURS} AND end_at >= around.1 AND start_at <= around.2
      AND (project_id, toDate(start_at), user) NOT IN (SELECT project_id, day, user FROM days)
    UNION ALL
    SELECT * FROM sessions WHERE ${isOfKnownUser(tables)} AND session_id IN (SELECT session_id FROM ${tables.kept} WHERE session_id != '')
  )
SELECT * FROM near WHERE sign = 1 AND (session, load) NOT IN (SELECT session, load FROM near WHERE sign = -1)`
