/** Reads how many events of a project were excluded, and why. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string } from '../clickhouse/sql.js'

/** The excluded events of one day, by reason. */
export interface DailyExclusions {
  /** The day of their arrival in UTC, e.g. 2026-01-31. */
  readonly day: string
  /** Events whose user agent is that of a bot. */
  readonly bot: number
  /** Events from an excluded address. */
  readonly ip: number
  /** Events from an excluded country. */
  readonly country: number
}

/** Returns the last 30 days with excluded events, the latest first. */
export async function readExclusions(
  connection: Connection,
  projectId: string,
): Promise<readonly DailyExclusions[]> {
  const { rows } = await connection.query<DailyExclusions>(
    statement(sql`
SELECT
  day, sumIf(events, reason = 'bot') AS bot, sumIf(events, reason = 'ip') AS ip,
  sumIf(events, reason = 'country') AS country
FROM usage WHERE project_id = ${string(projectId)} AND reason IN ('bot', 'ip', 'country')
GROUP BY day ORDER BY day DESC LIMIT 30`),
  )
  return rows
}

/** The most days that `readExclusions` returns. */
const MAX_DAYS = 30

/** Adds the exclusions of a project on several shards: the last 30 days that any of them has, the latest first. */
export function sumExclusions(
  parts: readonly (readonly DailyExclusions[])[],
): readonly DailyExclusions[] {
  const sums = new Map<string, DailyExclusions>()
  for (const one of parts.flat()) {
    const sum = sums.get(one.day) ?? { day: one.day, bot: 0, ip: 0, country: 0 }
    sums.set(one.day, {
      day: one.day,
      bot: sum.bot + one.bot,
      ip: sum.ip + one.ip,
      country: sum.country + one.country,
    })
  }
  return [...sums.values()].toSorted((a, b) => (a.day < b.day ? 1 : -1)).slice(0, MAX_DAYS)
}
