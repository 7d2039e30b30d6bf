/** Finds when the last event of a site happened. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string, time } from '../clickhouse/sql.js'

/** The moment of the latest event of an origin that is not later than `now`; null when it has none. */
export async function lastEventAt(
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
