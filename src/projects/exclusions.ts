/** Reads how many events of a project were not tracked, and why. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string } from '../clickhouse/sql.js'

/** Events of one day, by the reason for which they were not tracked. */
export interface DailyExclusions {
  /** In UTC, as 2026-01-31. */
  readonly day: string
  /** Their user agent is a bot's. */
  readonly bot: number
  /** Their address is excluded. */
  readonly ip: number
  /** Their country is excluded. */
  readonly country: number
}

/** The last 30 days that have any, the latest first. */
export async function readExclusions(
  connection: Connection,
  projectId: string,
): Promise<readonly DailyExclusions[]> {
  const { rows } = await connection.query<DailyExclusions>(
    statement(sql`
SELECT
  day, sumIf(events, reason = 'bot') AS bot, sumIf(events, reason = 'ip') AS ip,
  sumIf(events, reason = 'country') AS country
FROM exclusions WHERE project_id = ${string(projectId)}
GROUP BY day ORDER BY day DESC LIMIT 30`),
  )
  return rows
}
