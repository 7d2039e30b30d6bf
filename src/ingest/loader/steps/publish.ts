/** The statements that publish a load. Each may be repeated. */
import { join, sql, string, uint64, type Sql } from '../../../clickhouse/sql.js'
import {
  ATTRIBUTES,
  CHANGE_COLUMNS,
  COUNTED_ATTRIBUTES,
  EVENT_COLUMNS,
  OWN_COLUMNS,
  SESSION_COLUMNS,
} from '../../../model/fact-columns.js'
import { isInMovedSession } from './sessions.js'
import type { LoadTables } from './load-tables.js'
import { countExcludedEvents } from './excluded-events.js'

const EVENTS = join(EVENT_COLUMNS)
const SESSIONS = join(SESSION_COLUMNS)
const COUNTED = COUNTED_ATTRIBUTES.map(({ column }) => column)
const CHANGES = join([...CHANGE_COLUMNS, ...COUNTED])

/** Deletes the stored events of changed sessions; they are inserted again with their new values. */
export const deleteMovedEvents = (tables: LoadTables, load: number): Sql => sql`
DELETE FROM events WHERE load < ${uint64(load)} AND ${isInMovedSession(tables)}`

/** Joins the new events to their sessions. */
const fromNewEvents = (tables: LoadTables): Sql => sql`
FROM ${tables.rows} AS load_rows
INNER JOIN ${tables.runs} AS load_items ON load_items.seq = load_rows.seq
INNER JOIN ${tables.sessions} AS load_sessions ON load_sessions.run = load_items.run
WHERE is_new`

const sessionColumn = (column: Sql): Sql => sql`load_sessions.${column}`

/** Builds the inserts of a load, by the names that their deduplication tokens contain. */
export const buildInserts = (tables: LoadTables): Readonly<Record<string, Sql>> => ({
  users: sql`INSERT INTO users SELECT project_id, user_id, user, load FROM ${tables.users} WHERE is_new`,

  event_ids: sql`
INSERT INTO event_ids
SELECT project_id, event_key FROM ${tables.rows} AS load_rows WHERE event_key != 0 AND seq IN (SELECT seq FROM ${tables.kept})`,

  exclusions: countExcludedEvents(tables),

  events: sql`
INSERT INTO events (${EVENTS})
SELECT
  load_rows.project_id, timestamp, load_sessions.user, load_sessions.session, load_sessions.load,
  ${join(OWN_COLUMNS)}, ${join(ATTRIBUTES.map(sessionColumn))}
${fromNewEvents(tables)}
UNION ALL
SELECT ${EVENTS} FROM ${tables.movedEvents}`,

  sessions: sql`
INSERT INTO sessions (${SESSIONS})
SELECT ${SESSIONS} FROM ${tables.sessions} AS load_sessions
UNION ALL
SELECT * REPLACE (toInt8(-1) AS sign) FROM (SELECT ${SESSIONS} FROM ${tables.previousStates})`,

  // An event of a changed session is subtracted with its former values, and added with its new ones.
  event_changes: sql`
INSERT INTO event_changes (session, sign, ${CHANGES})
SELECT
  load_sessions.session, 1, load_rows.project_id, timestamp, load_sessions.user, name, origin, path, properties,
  ${join(COUNTED.map(sessionColumn))}
${fromNewEvents(tables)}
UNION ALL
SELECT session, 1, ${CHANGES} FROM ${tables.movedEvents}
UNION ALL
SELECT
  past_session, -1, ${join(CHANGE_COLUMNS.map((column) => sql`load_moved.${column}`))},
  ${join(COUNTED.map((column) => sql`load_past.${column}`))}
FROM ${tables.movedEvents} AS load_moved
INNER JOIN ${tables.previousStates} AS load_past ON load_past.session = load_moved.past_session`,
})

/** Stores the rejected rows of a batch, each with its reason. */
export const insertRejections = (tables: LoadTables, batch: string): Sql => sql`
INSERT INTO rejections (batch, row, reason, line)
SELECT ${string(batch)}, row, reason, rejected_line FROM ${tables.rows} AS load_rows WHERE fate = 'rejected'`
