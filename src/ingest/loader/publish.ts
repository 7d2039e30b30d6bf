/** Last step of a load: the inserts that make it visible, each safe to repeat. */
import { join, sql, string, uint64, type Sql } from '../../clickhouse/sql.js'
import { ATTRIBUTES, EVENT_COLUMNS, OWN_COLUMNS, SESSION_COLUMNS } from './columns.js'
import { ofMovedSessions } from './sessions.js'

const EVENTS = join(EVENT_COLUMNS)
const SESSIONS = join(SESSION_COLUMNS)

/** Takes the events of changed sessions away, before they come back changed. */
export const removeMovedEvents = (load: number): Sql => sql`
DELETE FROM events WHERE load < ${uint64(load)} AND ${ofMovedSessions}`

/** What a load adds to each table. */
export const inserts: Readonly<Record<string, Sql>> = {
  users: sql`INSERT INTO users SELECT project_id, user_id, user, load FROM load_users WHERE is_new`,

  event_ids: sql`
INSERT INTO event_ids
SELECT project_id, event_key FROM load_rows WHERE event_key != 0 AND seq IN (SELECT seq FROM load_kept)`,

  events: sql`
INSERT INTO events (${EVENTS})
SELECT
  load_rows.project_id, timestamp, load_sessions.user, load_sessions.session, load_sessions.load,
  ${join(OWN_COLUMNS)}, ${join(ATTRIBUTES.map((column) => sql`load_sessions.${column}`))}
FROM load_rows
INNER JOIN load_items ON load_items.seq = load_rows.seq
INNER JOIN load_sessions ON load_sessions.run = load_items.run
WHERE is_new
UNION ALL
SELECT ${EVENTS} FROM load_moved`,

  sessions: sql`
INSERT INTO sessions (${SESSIONS})
SELECT ${SESSIONS} FROM load_sessions
UNION ALL
SELECT * REPLACE (toInt8(-1) AS sign) FROM (SELECT ${SESSIONS} FROM load_past)`,
}

/** Keeps the rejected rows of a batch, each with its reason. */
export const insertRejections = (batch: string): Sql => sql`
INSERT INTO rejections (batch, row, reason, line)
SELECT ${string(batch)}, row, reason, rejected_line FROM load_rows WHERE fate = 'rejected'`
