/** Answers requests for retention by SQL of its own. */
import type { RetentionRequest, RetentionResponse } from '../../../src/contract/api.js'
import type { DuckDatabase } from './database.js'
import { buildFilters } from './filters.js'
import { resolvePeriod, type Clock } from './period.js'
import { raw, sql } from './sql.js'

type Row = Readonly<{ start: string; counts: string }>

/** Answers a request whose defaults, but that of `intervals`, are filled in. */
export async function answerRetention(
  database: DuckDatabase,
  request: RetentionRequest,
  clock: Clock,
): Promise<RetentionResponse> {
  const { interval, date_range, filters, filtersOperator } = request
  const { from, to } = await resolvePeriod(database, date_range, clock)
  const unit = raw(`'${interval}'`)
  const step = raw(`INTERVAL 1 ${interval}`)
  const sent = request.intervals === undefined ? sql`NULL` : raw(String(request.intervals))
  const rows = await database.run<Row>(sql`
WITH
  bounds AS (
    SELECT CAST(${from} AS TIMESTAMP) AS first, CAST(${to} AS TIMESTAMP) + INTERVAL 1 SECOND AS next,
      date_trunc('second', CAST(${clock.now.toISOString()} AS TIMESTAMP)) + INTERVAL 1 SECOND AS ahead
  ),
  cohorts AS (
    SELECT unnest(generate_series(date_trunc(${unit}, first), next - INTERVAL 1 SECOND, ${step})) AS start FROM bounds
  ),
  ks AS (SELECT unnest(range(0, 1 + coalesce(${sent}, greatest(1, (SELECT count(*) FROM cohorts) - 1)))) AS k),
  matching AS (
    SELECT "user", occurred, first_occurred, date_trunc(${unit}, occurred) AS start
    FROM events, bounds WHERE ${buildFilters(request)} AND occurred < ahead
  ),
  members AS (
    SELECT DISTINCT "user", start FROM matching, bounds
    WHERE occurred >= first AND occurred < next AND first_occurred >= first AND date_trunc(${unit}, first_occurred) = start
  ),
  active AS (SELECT DISTINCT "user", start FROM matching),
  returned AS (
    SELECT members.start AS start, active.start AS later, count(*) AS users
    FROM members JOIN active ON members."user" = active."user" GROUP BY ALL
  ),
  cells AS (
    SELECT cohorts.start AS start, k, cohorts.start + to_${raw(interval)}s(CAST(k AS INTEGER)) AS later FROM cohorts, ks
  )
SELECT
  strftime(cells.start, '%Y-%m-%dT%H:%M:%SZ') AS start,
  to_json(list(CASE WHEN cells.later < ahead THEN coalesce(users, CASE WHEN k = 0 THEN (SELECT count(*) FROM members WHERE members.start = cells.start) ELSE 0 END) END ORDER BY k)) AS counts
FROM cells CROSS JOIN bounds LEFT JOIN returned ON returned.start = cells.start AND returned.later = cells.later
GROUP BY cells.start ORDER BY cells.start`)
  const data = rows.map(({ start, counts }) => {
    const [size = null, ...following] = JSON.parse(counts) as readonly (number | null)[]
    return { start, size, counts: following }
  })
  const intervals = data[0]!.counts.length
  return {
    period: { from, to },
    query: { interval, date_range, intervals, filters, filtersOperator },
    data,
  }
}
