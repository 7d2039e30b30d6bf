/** The statements that publish a load. Each may be repeated. */
import { deleteFromPartitions, isOneOf } from '../../../clickhouse/temporary-tables.js'
import { join, sql, string, uint32, uint64, type Sql } from '../../../clickhouse/sql.js'
import {
  ATTRIBUTES,
  CHANGE_COLUMNS,
  COUNTED_COLUMNS,
  EVENT_COLUMNS,
  OWN_COLUMNS,
  SESSION_COLUMNS,
} from '../../../model/fact-columns.js'
import { createFormerUsers, listHeldGroups } from '../../../rollups/former-users.js'
import type { LoadTables } from './shared/load-tables.js'
import { countUsage } from './usage.js'

const EVENT_COLUMN_LIST = join(EVENT_COLUMNS)
const SESSION_COLUMN_LIST = join(SESSION_COLUMNS)
const CHANGE_COLUMN_LIST = join([...CHANGE_COLUMNS, ...COUNTED_COLUMNS])

/** Selects the project of each row of a load: their data changes. */
export const selectProjects = ({ rows }: LoadTables): Sql =>
  sql`SELECT toString(project_id) AS project_id FROM ${rows} WHERE fate = 'kept'`

/** Selects the months of the stored events of changed sessions, as partitions of `events`. */
export const selectMonthsOfMovedEvents = (tables: LoadTables): Sql => sql`
SELECT DISTINCT toYYYYMM(timestamp) AS month FROM ${tables.movedEvents} ORDER BY month`

/**
 * Deletes the stored events of changed sessions, which are in these months; they are inserted again with their new values. No
 * two sessions of a store have the same number.
 */
export const deleteMovedEvents = (
  tables: LoadTables,
  load: number,
  months: readonly number[],
): Sql =>
  deleteFromPartitions(
    sql`events`,
    months.map((month) => ({
      partition: month,
      isOne: sql`load < ${uint64(load)} AND ${isOneOf(sql`session`, sql`past_session`, sql`FROM ${tables.movedEvents} WHERE toYYYYMM(timestamp) = ${uint32(month)}`)}`,
    })),
  )

/** Builds the FROM clause that joins the new events to their sessions. */
const buildFromNewEvents = (tables: LoadTables): Sql => sql`
FROM ${tables.rows} AS load_rows
INNER JOIN ${tables.runs} AS load_items ON load_items.seq = load_rows.seq
INNER JOIN ${tables.sessions} AS load_sessions ON load_sessions.run = load_items.run
WHERE is_new`

const qualifySessionColumn = (column: Sql): Sql => sql`load_sessions.${column}`

/** Builds the inserts of a load, by the names that their deduplication tokens contain. */
export const buildInserts = (tables: LoadTables, load: number): Readonly<Record<string, Sql>> => ({
  users: sql`
INSERT INTO users (project_id, user_id, user, load)
SELECT project_id, user_id, user, load FROM ${tables.users} WHERE is_new`,

  user_keys: sql`
INSERT INTO user_keys (project_id, user_key, user, load)
SELECT project_id, user_key, user, load FROM ${tables.users} WHERE is_new`,

  user_counts: sql`
INSERT INTO user_counts (project_id, last)
SELECT project_id, max(user) FROM ${tables.users} WHERE is_new GROUP BY project_id`,

  event_ids: sql`
INSERT INTO event_ids
SELECT project_id, event_key
FROM ${tables.rows} AS load_rows
WHERE event_key != 0 AND seq IN (SELECT seq FROM ${tables.kept})`,

  usage: countUsage(tables, load),

  events: sql`
INSERT INTO events (${EVENT_COLUMN_LIST})
SELECT
  load_rows.project_id, timestamp, load_sessions.user, load_sessions.session, load_sessions.load,
  ${join(OWN_COLUMNS)}, ${join(ATTRIBUTES.map(qualifySessionColumn))}
${buildFromNewEvents(tables)}
UNION ALL
SELECT ${EVENT_COLUMN_LIST} FROM ${tables.movedEvents}`,

  sessions: sql`
INSERT INTO sessions (${SESSION_COLUMN_LIST})
SELECT ${SESSION_COLUMN_LIST} FROM ${tables.sessions} AS load_sessions
UNION ALL
SELECT * REPLACE (toInt8(-1) AS sign) FROM (SELECT ${SESSION_COLUMN_LIST} FROM ${tables.previousStates})`,

  // An event of a changed session is subtracted with its former values, and added with its new ones.
  event_changes: sql`
INSERT INTO event_changes (session, sign, ${CHANGE_COLUMN_LIST})
SELECT
  load_sessions.session, 1, load_rows.project_id, timestamp, load_sessions.user, name, origin, path, properties,
  ${join(COUNTED_COLUMNS.map(qualifySessionColumn))}
${buildFromNewEvents(tables)}
UNION ALL
SELECT session, 1, ${CHANGE_COLUMN_LIST} FROM ${tables.movedEvents}
UNION ALL
SELECT
  past_session, -1, ${join(CHANGE_COLUMNS.map((column) => sql`load_moved.${column}`))},
  ${join(COUNTED_COLUMNS.map((column) => sql`load_past.${column}`))}
FROM ${tables.movedEvents} AS load_moved
INNER JOIN ${tables.previousStates} AS load_past ON load_past.session = load_moved.past_session`,
})

/**
 * Stores the rejected rows of a batch, each with its reason. Those of the stream, the batch '', are stored with their text.
 * The import of any other batch has the text itself.
 */
export const insertRejections = (tables: LoadTables, batch: string): Sql => sql`
INSERT INTO rejections (batch, row, project_id, reason, line)
SELECT
  ${string(batch)}, row, if(rejection = 'project', '', project_id), reason,
  ${batch === '' ? sql`rejected_line` : sql`''`}
FROM ${tables.rows} AS load_rows
WHERE fate = 'rejected'`

/** The groups of an event before its session changed, and after. */
const FORMER_GROUPS = listHeldGroups((column) => sql`load_past.${column}`)
const NEW_GROUPS = listHeldGroups((column) => sql`load_past.new_${column}`)

/** Puts the users that will have no event left in a group into a table. Gives the same rows while the load is published. */
export const findStaleRollupUsers = (tables: LoadTables, load: number): Sql =>
  createFormerUsers(
    tables.staleRollupUsers,
    sql`
SELECT DISTINCT load_moved.project_id AS project_id, load_moved.user AS user, toDate(timestamp) AS day, former.1 AS dimension, former.2 AS value, former.3 AS other
FROM ${tables.movedEvents} AS load_moved
INNER JOIN ${tables.previousStates} AS load_past ON load_past.session = load_moved.past_session
ARRAY JOIN ${FORMER_GROUPS} AS former, ${NEW_GROUPS} AS new
WHERE former != new`,
    {
      stays: sql`NOT (load < ${uint64(load)} AND session IN (SELECT past_session FROM ${tables.movedEvents}))`,
      arriving: sql`
SELECT
  load_rows.project_id AS project_id, timestamp, load_sessions.user AS user, name, path,
  ${join(COUNTED_COLUMNS.map((column) => sql`load_sessions.${column} AS ${column}`))}
${buildFromNewEvents(tables)}
UNION ALL
SELECT project_id, timestamp, user, name, path, ${join(COUNTED_COLUMNS)} FROM ${tables.movedEvents}`,
    },
  )
