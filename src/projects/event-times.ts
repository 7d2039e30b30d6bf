/** Finds the times of a project's earliest and latest events. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string, strings, time } from '../clickhouse/sql.js'
import { SECOND_MS } from '../lib/time.js'
import { createNonce, requireOrigin, selectOrigin, type MarkedRow } from '../model/origin.js'

/**
 * Returns the time of the project's earliest event; null when it has none.
 *
 * The table is sorted by project and day. A read in that order stops at the first row of each part and yields the first
 * day, so only that day is scanned for its earliest event.
 *
 * @throws ApiError INTERNAL_ERROR for a row of another project or request
 */
export async function findFirstEventTime(
  connection: Connection,
  projectId: string,
): Promise<Date | null> {
  const id = string(projectId)
  const project = sql`project_id = ${id}`
  const nonce = createNonce()
  const { rows } = await connection.query<MarkedRow & { first_ms: number | null }>(
    statement(sql`
      WITH (
        SELECT toDate(timestamp) FROM events WHERE ${project}
        ORDER BY project_id, toDate(timestamp) LIMIT 1
      ) AS first_day
      SELECT toUnixTimestamp64Milli(minOrNull(timestamp)) AS first_ms, ${selectOrigin(id, nonce)}
      FROM events
      WHERE ${project} AND toDate(timestamp) = first_day
        AND timestamp >= toDateTime64(first_day, 3, 'UTC')
        AND timestamp < toDateTime64(first_day + 1, 3, 'UTC')`),
  )
  requireOrigin(rows, { projectId, nonce })
  const first = rows[0]?.first_ms ?? null
  return first === null ? null : new Date(first)
}

/** Returns the time of the earliest event of any of some projects; null when none has one. It reads the days of all their events. */
export async function findFirstEventTimeOfAny(
  connection: Connection,
  projectIds: readonly string[],
): Promise<Date | null> {
  const isOfProjects = sql`project_id IN ${strings(projectIds)}`
  const { rows } = await connection.query<{ first_ms: number | null }>(
    statement(sql`
      WITH (SELECT minOrNull(day) FROM events WHERE ${isOfProjects}) AS first_day
      SELECT toUnixTimestamp64Milli(minOrNull(timestamp)) AS first_ms
      FROM events
      WHERE ${isOfProjects} AND day = first_day AND indexHint(toDate(timestamp) = first_day)`),
  )
  const first = rows[0]?.first_ms ?? null
  return first === null ? null : new Date(first)
}

/**
 * Returns whether the project has an event at a moment or later.
 *
 * @throws ApiError INTERNAL_ERROR for a row of another project or request
 */
export async function hasEventsFrom(
  connection: Connection,
  projectId: string,
  moment: Date,
): Promise<boolean> {
  const id = string(projectId)
  const nonce = createNonce()
  const { rows } = await connection.query<MarkedRow & { events: number }>(
    statement(sql`
      SELECT count() AS events, ${selectOrigin(id, nonce)} FROM (
        SELECT 1 FROM events WHERE project_id = ${id} AND timestamp >= ${time(moment)} LIMIT 1
      )`),
    { signal: AbortSignal.timeout(SECOND_MS), settings: { max_threads: 1 } },
  )
  requireOrigin(rows, { projectId, nonce })
  return rows[0]?.events !== 0
}

/** Returns the time of the latest event from an origin, up to and including `now`; null when there is none. */
export async function findLastEventTime(
  connection: Connection,
  projectId: string,
  origin: string,
  now: Date,
): Promise<Date | null> {
  const { rows } = await connection.query<{ last_ms: number | null }>(
    statement(sql`
      SELECT toUnixTimestamp64Milli(maxOrNull(timestamp)) AS last_ms
      FROM events
      WHERE project_id = ${string(projectId)} AND origin = ${string(origin)} AND timestamp <= ${time(now)}`),
  )
  const last = rows[0]?.last_ms ?? null
  return last === null ? null : new Date(last)
}

/** Returns the time of the latest event of a project, up to and including `now`; null when there is none. */
export async function findNewestEventTime(
  connection: Connection,
  projectId: string,
  now: Date,
): Promise<Date | null> {
  const project = sql`project_id = ${string(projectId)} AND timestamp <= ${time(now)}`
  // The table is sorted by project and day, so a read against that order stops at the last day.
  const { rows } = await connection.query<{ newest_ms: number | null }>(
    statement(sql`
      WITH (
        SELECT toDate(timestamp) FROM events WHERE ${project}
        ORDER BY project_id DESC, toDate(timestamp) DESC LIMIT 1
      ) AS last_day
      SELECT toUnixTimestamp64Milli(maxOrNull(timestamp)) AS newest_ms
      FROM events
      WHERE ${project} AND toDate(timestamp) = last_day AND timestamp >= toDateTime64(last_day, 3, 'UTC')`),
  )
  const newest = rows[0]?.newest_ms ?? null
  return newest === null ? null : new Date(newest)
}
