/** Answers requests for funnels by SQL of its own. */
import type { FunnelRequest, FunnelResponse } from '../../../src/contract/api.js'
import type { DuckDatabase } from './database.js'
import { buildFilters } from './filters.js'
import { resolvePeriod, type Clock } from './period.js'
import { join, raw, sql, type Sql } from './sql.js'

type Row = Readonly<Record<'users' | 'of_first' | 'of_previous' | 'median', number | null>>

/** Answers a request whose defaults are filled in. */
export async function answerFunnel(
  database: DuckDatabase,
  request: FunnelRequest,
  clock: Clock,
): Promise<FunnelResponse> {
  const { date_range, steps, within, filters, filtersOperator } = request
  const { from, to } = await resolvePeriod(database, date_range, clock)
  const rows = await database.run<Row>(sql`
WITH
  matching AS (
    SELECT *, epoch_ms(occurred) AS ms FROM events
    WHERE ${buildFilters(request)} AND occurred >= CAST(${from} AS TIMESTAMP)
      AND occurred < CAST(${to} AS TIMESTAMP) + INTERVAL 1 SECOND
  ),
  ${join(steps.map((step, i) => sql`${raw(`chains_${i}`)} AS (${selectChains(i, buildFilters(step), within)})`))},
  counted AS (${join(
    steps.map((_step, i) => countStep(i)),
    ' UNION ALL ',
  )})
SELECT
  CAST(users AS DOUBLE) AS users,
  ${showShare(sql`first(users) OVER (ORDER BY step)`)} AS of_first,
  ${showShare(sql`lag(users) OVER (ORDER BY step)`)} AS of_previous,
  floor(median / 10 + 0.5) / 100 AS median
FROM counted ORDER BY step`)
  return {
    period: { from, to },
    query: { date_range, steps, within, filters, filtersOperator },
    data: rows.map((row, i) => ({
      step: i + 1,
      users: row.users ?? 0,
      share_of_first: row.of_first,
      share_of_previous: row.of_previous,
      median_seconds: i === 0 ? null : row.median,
    })),
  }
}

/** A share in hundredths of per cent by whole numbers, half up. */
const showShare = (base: Sql): Sql =>
  sql`CASE WHEN ${base} > 0 THEN ((20000 * users + ${base}) // (2 * ${base})) / 100 END`

/** Selects the chains up to a step: who, where they start, the event that ends them, and the event before it. */
function selectChains(i: number, condition: Sql, within: FunnelRequest['within']): Sql {
  if (i === 0) {
    return sql`SELECT DISTINCT "user", session, ms AS started, ms, ms AS previous FROM matching WHERE ${condition}`
  }
  const together =
    within === 'visit'
      ? sql`chains.session = events.session`
      : sql`events.ms - chains.started <= ${raw(String(within * 1_000))}`
  return sql`
SELECT events."user" AS "user", events.session AS session, chains.started AS started, events.ms AS ms, max(chains.ms) AS previous
FROM (SELECT * FROM matching WHERE ${condition}) AS events
JOIN ${raw(`chains_${i - 1}`)} AS chains ON chains."user" = events."user" AND chains.ms < events.ms AND ${together}
GROUP BY ALL`
}

/** Counts the users of a step, each with the shortest time of the first event that completes it. */
const countStep = (i: number): Sql => sql`
SELECT ${raw(String(i))} AS step, count(*) AS users, quantile_cont(gap, 0.5) AS median FROM (
  SELECT "user", min(ms - previous) AS gap FROM (
    SELECT *, min(ms) OVER (PARTITION BY "user") AS first_ms FROM ${raw(`chains_${i}`)}
  ) WHERE ms = first_ms GROUP BY "user")`
