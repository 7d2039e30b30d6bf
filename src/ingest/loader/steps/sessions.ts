/** Builds the sessions of a load, from its new events and the stored sessions that these belong to. */
import { join, sql, uint64, type Sql } from '../../../clickhouse/sql.js'
import { SESSION_ATTRIBUTES } from '../../../model/event-fields.js'
import {
  ATTRIBUTES,
  OWN_COLUMNS,
  SESSION_COLUMNS,
  SESSION_STATE_COLUMNS,
} from '../../../model/fact-columns.js'
import { isCustomEvent, isPageleave, isPageview, LEAST_EXIT_AT } from '../../../model/facts.js'
import { DERIVED_ATTRIBUTES, joinEnrichment, SOURCE_COLUMNS } from './derived-attributes.js'
import { insertStaged, type LoadTables } from './shared/load-tables.js'
import { SESSION_PAUSE_MS } from './shared/session-pause.js'

const mapAttributes = (map: (column: Sql) => Sql): Sql => join(ATTRIBUTES.map(map))

/**
 * Puts new events and nearby sessions, the items, into the table `items`, each with the number of its `run`. A run
 * becomes one session. Items with a session id are in the run of that id; the other items of a user are cut
 * where the pause is too long. `opens` marks the first item of a run. If a stored session and a new event start at
 * the same moment, the session comes first.
 */
export const cutRuns = (tables: LoadTables): Sql =>
  insertStaged(
    tables,
    'runs',
    sql`
SELECT
  seq, project_id, user, session_id, is_new, session, load, opens,
  sum(opens) OVER (ORDER BY project_id, user, session_id, since, is_new, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS run
FROM (
  SELECT
    *,
    row_number() OVER earlier = 1
      OR (session_id = '' AND toUnixTimestamp64Milli(since) - max(toUnixTimestamp64Milli(until)) OVER before > ${SESSION_PAUSE_MS}) AS opens
  FROM (
    SELECT seq, project_id, user, session_id, timestamp AS since, timestamp AS until, true AS is_new, 0 AS session, 0 AS load
    FROM ${tables.kept} AS load_kept INNER JOIN ${tables.users} AS load_users USING (project_id, user_key)
    UNION ALL
    SELECT 0, project_id, user, session_id, start_at, end_at, false, session, load
    FROM ${tables.nearbySessions} AS load_near
  )
  WINDOW
    earlier AS (PARTITION BY project_id, user, session_id ORDER BY since, is_new, seq),
    before AS (PARTITION BY project_id, user, session_id ORDER BY since, is_new, seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)`,
  )

/**
 * Puts the new state of every session that gets events into the table `sessions` of the load, with the columns of
 * the stored `sessions` and the run.
 */
export const buildSessions = (tables: LoadTables, load: number): Sql =>
  insertStaged(
    tables,
    'sessions',
    sql`
SELECT ${join(SESSION_STATE_COLUMNS)}, ${join(ATTRIBUTE_VALUES)}, aggregated.run AS run
FROM (${aggregateRuns(tables, load)}) AS aggregated
INNER JOIN (${selectFirstItems(tables)}) AS built ON built.run = aggregated.run
${joinEnrichment(tables)}`,
  )

/** The attributes of a session: derived ones, or else those of its first item. */
const ATTRIBUTE_VALUES = SESSION_ATTRIBUTES.map(
  ({ column, field }) => sql`${DERIVED_ATTRIBUTES.get(field) ?? sql`built.${column}`} AS ${column}`,
)

/** Joins `load_items` to the nearby sessions. */
const joinNearbySessions = (tables: LoadTables): Sql => sql`
INNER JOIN ${tables.nearbySessions} AS load_near ON load_near.session = load_items.session AND load_near.load = load_items.load`

/** Aggregates the items of each run that has new events into the columns before the attributes. */
const aggregateRuns = (tables: LoadTables, load: number): Sql => sql`
WITH
  (item_entry_at, is_new, seq) AS place,
  -- Of pageviews at the same moment, the path that sorts last counts: it does not depend on what came in which load.
  maxIf((item_exit_at, item_exit_path), item_pageviews > 0) AS last
SELECT
  any(project_id) AS project_id,
  if(max(NOT is_new), argMinIf(item_session, item_since, NOT is_new), bitShiftLeft(${uint64(load)}, 32) + run) AS session,
  ${uint64(load)} AS load,
  toInt8(1) AS sign,
  any(user) AS user,
  any(session_id) AS session_id,
  min(item_since) AS start_at,
  max(item_until) AS end_at,
  toUInt32(sum(item_pageviews)) AS pageviews,
  toUInt32(sum(item_events)) AS events,
  toUInt32(sum(item_pageleaves)) AS pageleaves,
  argMinIf(item_origin, place, item_pageviews > 0) AS entry_origin,
  argMinIf(item_path, place, item_pageviews > 0) AS entry_path,
  minIf(item_entry_at, item_pageviews > 0) AS entry_at,
  last.2 AS exit_path,
  greatest(if(sum(item_pageviews) > 0, last.1, max(item_until)), ${LEAST_EXIT_AT}) AS exit_at,
  run
FROM (
  SELECT
    run, is_new, seq, project_id, user, session_id,
    toUInt64(0) AS item_session, timestamp AS item_since, timestamp AS item_until,
    ${isPageview(sql`name`)} AS item_pageviews, ${isCustomEvent(sql`name`)} AS item_events, ${isPageleave(sql`name`)} AS item_pageleaves,
    origin AS item_origin, path AS item_path, timestamp AS item_entry_at, path AS item_exit_path, timestamp AS item_exit_at
  FROM ${tables.runs} AS load_items INNER JOIN ${tables.rows} AS load_rows USING (seq)
  WHERE is_new
  UNION ALL
  SELECT
    run, is_new, seq, load_items.project_id, load_items.user, load_items.session_id,
    load_near.session, start_at, end_at,
    pageviews, events, pageleaves,
    entry_origin, entry_path, entry_at, exit_path, exit_at
  FROM ${tables.runs} AS load_items ${joinNearbySessions(tables)}
  WHERE NOT is_new
)
GROUP BY run
HAVING max(is_new)`

/** Selects the attributes of the first item of each run, and the columns that others are derived from. */
const selectFirstItems = (tables: LoadTables): Sql => sql`
SELECT run, ${mapAttributes((column) => column)}, ${join(SOURCE_COLUMNS)}
FROM (SELECT seq, run FROM ${tables.runs} WHERE is_new AND opens) AS load_items INNER JOIN ${tables.rows} AS load_rows USING (seq)
UNION ALL
SELECT run, ${mapAttributes((column) => sql`load_near.${column}`)}, ${join(SOURCE_COLUMNS.map(() => sql`''`))}
FROM ${tables.runs} AS load_items ${joinNearbySessions(tables)}
WHERE NOT is_new AND opens`

/**
 * Puts the stored states that new ones replace into the table `past`, each with the new number and the new
 * attributes of its session. `is_moved` marks sessions whose stored events change.
 */
export const findPreviousStates = (tables: LoadTables): Sql =>
  insertStaged(
    tables,
    'previousStates',
    sql`
SELECT
  ${join(SESSION_COLUMNS.map((column) => sql`load_near.${column} AS ${column}`))},
  load_sessions.session AS new_session,
  load_sessions.session != load_near.session OR ${join(
    ATTRIBUTES.map((column) => sql`load_sessions.${column} != load_near.${column}`),
    sql` OR `,
  )} AS is_moved,
  ${mapAttributes((column) => sql`load_sessions.${column} AS new_${column}`)}
FROM ${tables.runs} AS load_items
INNER JOIN ${tables.nearbySessions} AS load_near ON load_near.session = load_items.session AND load_near.load = load_items.load
INNER JOIN ${tables.sessions} AS load_sessions ON load_sessions.run = load_items.run
WHERE NOT is_new`,
  )

/**
 * Puts the stored events of sessions that were joined, or that got an earlier first event, into the table `moved`
 * with their new values; `past_session` is the session that each event belonged to before.
 */
export const moveEvents = (tables: LoadTables, load: number): Sql =>
  insertStaged(
    tables,
    'movedEvents',
    sql`
SELECT
  events.project_id AS project_id, timestamp, events.user AS user, new_session AS session, ${uint64(load)} AS load,
  load_past.session AS past_session,
  ${join(OWN_COLUMNS)},
  ${mapAttributes((column) => sql`new_${column} AS ${column}`)}
FROM (SELECT * FROM events WHERE ${isInMovedSession(tables)}) AS events
INNER JOIN ${tables.previousStates} AS load_past ON load_past.session = events.session`,
  )

/**
 * Whether a stored event is in a moved session; earlier loads wrote these events. The first condition is a prefix of the
 * sorting key, so few other events are read. Use it on `events` alone: joined to other tables or under an alias, column
 * names would be ambiguous.
 */
const isInMovedSession = (tables: LoadTables): Sql => sql`(project_id, toDate(timestamp), user) IN (
    SELECT project_id, toDate(start_at) + arrayJoin(range(dateDiff('day', start_at, end_at) + 1)), user
    FROM ${tables.previousStates} AS load_past WHERE is_moved)
  AND session IN (SELECT session FROM ${tables.previousStates} AS load_past WHERE is_moved)`
