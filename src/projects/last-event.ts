/** Finds when a project's last event happened. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string, time } from '../clickhouse/sql.js'

/** The moment of the project's latest event that is not later than `now`; null when it has none. */
export async function lastEventAt(
  connection: Connection,
  projectId: string,
  now: Date,
): Promise<Date | null> {
  const { rows } = await connection.query<{ last_ms: number | null }>(
    statement(sql`
      SELECT toUnixTimestamp64Milli(maxOrNull(timestamp)) AS last_ms
      FROM events
      WHERE project_id = ${string(projectId)} AND timestamp <= ${time(now)}`),
  )
  const last = rows[0]?.last_ms ?? null
  return last === null ? null : new Date(last)
}
