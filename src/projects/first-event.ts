/** Finds when a project's first event happened. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string } from '../clickhouse/sql.js'

/**
 * The moment of the project's earliest event; null when it has none.
 *
 * The table is sorted by project and day: a read in that order ends at the first row of each part
 * and gives the day, and only this day is looked through for its earliest moment.
 */
export async function firstEventAt(
  connection: Connection,
  projectId: string,
): Promise<Date | null> {
  const project = sql`project_id = ${string(projectId)}`
  const { rows } = await connection.query<{ first_ms: number | null }>(
    statement(sql`
      WITH (
        SELECT toDate(timestamp) FROM events WHERE ${project}
        ORDER BY project_id, toDate(timestamp) LIMIT 1
      ) AS first_day
      SELECT toUnixTimestamp64Milli(minOrNull(timestamp)) AS first_ms
      FROM events
      WHERE ${project} AND toDate(timestamp) = first_day
        AND timestamp >= toDateTime64(first_day, 3, 'UTC')
        AND timestamp < toDateTime64(first_day + 1, 3, 'UTC')`),
  )
  const first = rows[0]?.first_ms ?? null
  return first === null ? null : new Date(first)
}
