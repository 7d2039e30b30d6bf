/**
 * Visits over midnight of users without an id. Such a user is derived with the salt of the day, so the visit would end with the day.
 * An event that continues a visit of the day before is therefore derived with the salt of that day.
 *
 * A salt serves the visits that began on its day, until the end of the next day: an event never goes back by more than one day. A
 * visit that goes on over a second midnight is another visit of another user from there on.
 */
import type { Connection } from '../../../../clickhouse/connection.js'
import { sql, statement, strings, type Sql } from '../../../../clickhouse/sql.js'
import { storeSalts, type ShareSalts } from '../../../../cluster/salts.js'
import { deriveUserId, isIncluded, SALTS, selectFirstOfIds } from './derived-users.js'
import type { LoadTables } from '../shared/load-tables.js'
import { SESSION_PAUSE, SESSION_PAUSE_MS } from '../shared/session-pause.js'
import { hashUserId } from './user-numbers.js'

/** What a load has to look for. */
interface Nights {
  /** Whether it has events of two days that follow each other, of one project. */
  readonly hasNeighbours: boolean
  /** The days before those of its events on which stored sessions began that may go on: `2026-01-31`. */
  readonly openDays: readonly string[]
}

/** The projects and days of the events without a user id, each with its first moment. Excluded events are among them. */
const selectDays = (tables: LoadTables): Sql => sql`
  SELECT project_id, toDate(timestamp) AS day, min(timestamp) AS first
  FROM ${tables.rows} AS load_rows WHERE fate = 'kept' AND user_id = '' GROUP BY ALL`

/**
 * Selects the states of stored sessions that may go on, each with the `day` after it began: the sessions of a project that began
 * on the day before and had not ended, or that the events name by id.
 */
const selectOpenSessions = (tables: LoadTables): Sql => {
  const dayBefore = sql`(project_id, toDate(start_at)) IN (SELECT project_id, day - 1 FROM (${selectDays(tables)}))`
  const columns = sql`project_id, session, load, sign, user, session_id, start_at, end_at, toDate(start_at) + 1 AS day`
  return sql`
  SELECT ${columns} FROM sessions
  WHERE ${dayBefore} AND session_id = ''
    AND end_at >= (SELECT min(first) - ${SESSION_PAUSE} FROM (${selectDays(tables)}))
  UNION ALL
  SELECT ${columns} FROM sessions
  WHERE ${dayBefore} AND session_id IN (
    SELECT session_id FROM ${tables.rows} AS load_rows WHERE fate = 'kept' AND user_id = '' AND session_id != '')`
}

/** Nearly always there is nothing to look for, and this costs little: few sessions are open for long after midnight. */
async function surveyNights(writer: Connection, tables: LoadTables): Promise<Nights> {
  const { rows } = await writer.query<{ neighbours: number; openDays: readonly string[] }>(
    statement(sql`
SELECT
  (SELECT count() FROM (${selectDays(tables)}) WHERE (project_id, day - 1) IN (SELECT project_id, day FROM (${selectDays(tables)}))) AS neighbours,
  (SELECT groupUniqArray(toString(day - 1)) FROM (${selectOpenSessions(tables)})) AS openDays`),
  )
  const { neighbours = 0, openDays = [] } = rows[0] ?? {}
  return { hasNeighbours: neighbours > 0, openDays }
}

/** A project that moved may have sessions here of a day whose salt this shard never needed. */
async function fetchSalts(
  writer: Connection,
  days: readonly string[],
  shareSalts: ShareSalts,
): Promise<void> {
  const { rows } = await writer.query<{ missing: string }>(
    statement(sql`
SELECT toString(day) AS missing FROM (SELECT toDate(arrayJoin(${strings(days)})) AS day)
WHERE day NOT IN (SELECT day FROM salts)`),
  )
  if (rows.length === 0) return
  const salts = await shareSalts(
    rows.map(({ missing }) => missing),
    { onlyKnown: true },
  )
  if (salts.length > 0) await storeSalts(writer, salts)
}

/**
 * Puts the events of senders whose visit may have gone over midnight into the table `nights`. It needs the numbers of all users.
 *
 * @param shareSalts undefined for a store that makes its own salts
 * @returns whether there may be any; if not, there is no table
 */
export async function findNightEvents(
  writer: Connection,
  tables: LoadTables,
  shareSalts: ShareSalts | undefined,
): Promise<boolean> {
  const nights = await surveyNights(writer, tables)
  const isOpen = nights.openDays.length > 0
  if (!isOpen && !nights.hasNeighbours) return false
  if (isOpen && shareSalts !== undefined) await fetchSalts(writer, nights.openDays, shareSalts)
  await writer.execute(statement(createNights(tables, isOpen)))
  return true
}

/** Who sent an event, and its session if it names one. */
const SENDER = sql`sipHash128(ip, user_agent, session_id)`

const selectUnnamed = (tables: LoadTables): Sql => sql`
  SELECT seq, project_id, event_key, timestamp, session_id, ip, user_agent
  FROM ${tables.rows} AS load_rows WHERE ${isIncluded(tables)} AND user_id = ''`

/** Selects the senders with events of this load on both sides of a midnight, at most half an hour from it or of one session id. */
const selectCrossing = (tables: LoadTables): Sql => sql`
  SELECT project_id, ${SENDER} AS sender FROM (${selectUnnamed(tables)})
  WHERE session_id != '' OR toDate(timestamp - ${SESSION_PAUSE}) != toDate(timestamp + ${SESSION_PAUSE})
  GROUP BY project_id, ip, user_agent, session_id, if(session_id = '', toDate(timestamp + ${SESSION_PAUSE}), toDate(0))
  HAVING min(toDate(timestamp)) != max(toDate(timestamp))`

/** Selects the stored sessions of yesterday's users that events of this load may continue, each with its sender. */
const selectContinued = (tables: LoadTables): Sql => {
  const former = sql`
    SELECT
      project_id, ip, user_agent, session_id, senders.day AS day, first,
      ${hashUserId(deriveUserId(sql`salts.salt`))} AS user_key
    FROM (
      SELECT project_id, ip, user_agent, session_id, toDate(timestamp) AS day, min(timestamp) AS first
      FROM (${selectUnnamed(tables)}) GROUP BY ALL
    ) AS senders
    INNER JOIN (${SALTS}) AS salts ON salts.day = senders.day - 1`
  return sql`
  SELECT former.project_id AS project_id, ${SENDER} AS sender, session_id != '' AS is_named, start_at, end_at
  FROM (${former}) AS former
  INNER JOIN (
    SELECT DISTINCT project_id, user_key, user FROM user_keys
    WHERE project_id IN (SELECT project_id FROM ${tables.rows} AS load_rows) AND user_key IN (SELECT user_key FROM (${former}))
  ) AS known ON known.project_id = former.project_id AND known.user_key = former.user_key
  INNER JOIN (
    -- A replaced state has a second row with the sign -1.
    SELECT project_id, session, load, user, session_id AS id, start_at, end_at, day
    FROM (${selectOpenSessions(tables)}) GROUP BY ALL HAVING sum(sign) > 0
  ) AS open
    ON open.project_id = former.project_id AND open.user = known.user AND open.id = former.session_id AND open.day = former.day
  WHERE is_named OR end_at >= first - ${SESSION_PAUSE}`
}

const createNights = (tables: LoadTables, isOpen: boolean): Sql => {
  const isOfSender = (senders: Sql): Sql =>
    sql`(project_id, ${SENDER}) IN (SELECT project_id, sender FROM (${senders}))`
  const events = sql`
SELECT true AS is_new, seq, project_id, event_key, ${SENDER} AS sender, session_id != '' AS is_named, timestamp AS since, timestamp AS until
FROM (${selectUnnamed(tables)})
WHERE ${isOfSender(selectCrossing(tables))}${isOpen ? sql` OR ${isOfSender(selectContinued(tables))}` : sql``}`
  const sessions = sql`
UNION ALL
SELECT false, 0, project_id, 0, sender, is_named, start_at, end_at FROM (${selectContinued(tables)})`
  return sql`
CREATE TABLE ${tables.nights} ENGINE = MergeTree ORDER BY (project_id, sender, since) AS
${events}${isOpen ? sessions : sql``}`
}

/**
 * Selects the events, by `seq`, that are derived with the salt of the day before. The events of a sender are cut into runs where
 * the pause is too long; those with a session id, where a day is left out. A run that began yesterday keeps yesterday's user. A
 * stored session has its user already, so it begins a run.
 */
export const selectNightEvents = (tables: LoadTables): Sql => sql`
SELECT seq FROM (
  SELECT *, min(toDate(since)) OVER (PARTITION BY project_id, sender, run) AS began
  FROM (
    SELECT *, sum(opens) OVER (PARTITION BY project_id, sender ORDER BY since, is_new, seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS run
    FROM (
      SELECT
        *,
        NOT is_new OR row_number() OVER earlier = 1 OR if(
          is_named,
          toDate(since) - max(toDate(until)) OVER before > 1,
          toUnixTimestamp64Milli(since) - max(toUnixTimestamp64Milli(until)) OVER before > ${SESSION_PAUSE_MS}) AS opens
      FROM ${tables.nights}
      WHERE event_key = 0 OR seq IN (${selectFirstOfIds(tables, tables.nights)})
      WINDOW
        earlier AS (PARTITION BY project_id, sender ORDER BY since, is_new, seq),
        before AS (PARTITION BY project_id, sender ORDER BY since, is_new, seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    )
  )
)
WHERE is_new AND (toDate(since) - began) % 2 = 1`
