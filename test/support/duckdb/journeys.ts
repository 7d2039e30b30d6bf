/** Answers requests for journeys by SQL of its own. */
import type { JourneyKind, JourneysRequest, JourneysResponse } from '../../../src/contract/api.js'
import type { DuckDatabase } from './database.js'
import { buildFilters } from './filters.js'
import { resolvePeriod, type Clock } from './period.js'
import { raw, sql } from './sql.js'

type Row = Readonly<Record<'step' | 'visits' | 'users', number>> &
  Readonly<{ kind: JourneyKind; value: string; share: number | null }>

/** Answers a request whose defaults are filled in. */
export async function answerJourneys(
  database: DuckDatabase,
  request: JourneysRequest,
  clock: Clock,
): Promise<JourneysResponse> {
  const {
    date_range,
    from: start,
    to: end,
    kinds,
    depth,
    limit,
    filters,
    filtersOperator,
  } = request
  const { from, to } = await resolvePeriod(database, date_range, clock)
  const anchor = start ?? end!
  const order = raw(start === undefined ? 'DESC' : 'ASC')
  const isAway = raw(start === undefined ? '<' : '>')
  const isStep = sql`kind IN (${raw(kinds.map((kind) => `'${kind}'`).join())})`
  const rows = await database.run<Row>(sql`
WITH
  entries AS (
    SELECT *, (${isStep} AND name <> 'pageleave') AS is_step FROM (
      SELECT "user", session, name, epoch_ms(occurred) AS ms, ${buildFilters(anchor)} AS is_anchor,
        CASE WHEN name = 'pageview' THEN 'page' ELSE 'event' END AS kind,
        CASE WHEN name = 'pageview' THEN 0 ELSE 1 END AS kind_order,
        CASE WHEN name = 'pageview' THEN path ELSE name END AS value
      FROM events
      WHERE ${buildFilters(request)} AND occurred >= CAST(${from} AS TIMESTAMP)
        AND occurred < CAST(${to} AS TIMESTAMP) + INTERVAL 1 SECOND
    )
  ),
  anchors AS (
    SELECT * FROM entries WHERE is_anchor
    QUALIFY row_number() OVER (PARTITION BY session ORDER BY ms, kind_order, value) = 1
  ),
  lines AS (
    SELECT "user", session, ms, kind, kind_order, value, 0 AS away FROM anchors
    UNION ALL
    SELECT one."user", one.session, one.ms, one.kind, one.kind_order, one.value, 1 AS away
    FROM entries AS one JOIN anchors ON anchors.session = one.session
    WHERE one.is_step AND row(one.ms, one.kind_order, one.value) ${isAway} row(anchors.ms, anchors.kind_order, anchors.value)
  ),
  changes AS (
    SELECT *, away = 0 OR kind != lag(kind) OVER line OR value != lag(value) OVER line AS is_new FROM lines
    WINDOW line AS (PARTITION BY session ORDER BY away, ms ${order}, kind_order ${order}, value ${order})
  ),
  walked AS (
    SELECT "user", session, kind, value, row_number() OVER (
      PARTITION BY session ORDER BY away, ms ${order}, kind_order ${order}, value ${order}
    ) - 1 AS step
    FROM changes WHERE is_new
  ),
  found AS (
    SELECT "user", session, step, CASE WHEN step = 0 THEN 'anchor' ELSE kind END AS kind,
      CASE WHEN step = 0 THEN '' ELSE value END AS value
    FROM walked WHERE step <= ${raw(String(depth))}
    UNION ALL
    SELECT any_value("user"), session, max(step) + 1, 'none', '' FROM walked GROUP BY session
    HAVING max(step) < ${raw(String(depth))}
  ),
  large AS (
    SELECT step, kind, value FROM found WHERE kind IN ('page', 'event') GROUP BY step, kind, value
    QUALIFY row_number() OVER (PARTITION BY step ORDER BY count(*) DESC, kind = 'event', value) <= ${raw(String(limit))}
  ),
  named AS (
    SELECT "user", found.step AS step,
      CASE WHEN found.kind IN ('page', 'event') AND large.value IS NULL THEN 'other' ELSE found.kind END AS kind,
      CASE WHEN large.value IS NULL THEN '' ELSE found.value END AS value
    FROM found LEFT JOIN large ON large.step = found.step AND large.kind = found.kind AND large.value = found.value
  ),
  counted AS (
    SELECT step, kind, value, count(*) AS visits, count(DISTINCT "user") AS users FROM named GROUP BY ALL
  )
SELECT
  CAST(step AS DOUBLE) AS step, kind, value, CAST(visits AS DOUBLE) AS visits, CAST(users AS DOUBLE) AS users,
  ((20000 * visits + max(visits) FILTER (step = 0) OVER ()) // (2 * max(visits) FILTER (step = 0) OVER ())) / 100 AS share
FROM counted
ORDER BY step, CASE kind WHEN 'other' THEN 1 WHEN 'none' THEN 2 ELSE 0 END, visits DESC, kind = 'event', value`)
  const none: Row = { step: 0, kind: 'anchor', value: '', visits: 0, users: 0, share: null }
  return {
    period: { from, to },
    query: {
      date_range,
      ...(start === undefined ? {} : { from: start }),
      ...(end === undefined ? {} : { to: end }),
      ...{ kinds, depth, limit, filters, filtersOperator },
    },
    data: (rows.length === 0 ? [none] : rows).map(
      ({ step, kind, value, visits, users, share }) => ({
        step,
        kind,
        value: kind === 'page' || kind === 'event' ? value : null,
        visits,
        users,
        share_of_visits: share,
      }),
    ),
  }
}
