/** Answers requests by SQL of its own: a second implementation of the contract, which shares no code with the service. */
import { isDeepStrictEqual } from 'node:util'
import type {
  AnalyticsQueryRequest,
  AnalyticsQueryResponse,
  BucketSize,
  Metric,
  Row,
} from '../../../src/contract/api.js'
import { compareMetrics, resolveCompared } from './comparison.js'
import type { DuckDatabase } from './database.js'
import { buildFilters } from './filters.js'
import { findBucketSize, findGrouping, isInterval, type Grouping } from './groupings.js'
import { AGGREGATES, writeMetric } from './metrics.js'
import { resolvePeriod, type Clock, type DuckPeriod } from './period.js'
import { combine, join, raw, sql, type Sql } from './sql.js'

const DEFAULT_METRICS: readonly Metric[] = ['users', 'pageviews', 'events']

/** Answers a request whose defaults are filled in, about the events of the database. */
export async function answer(
  database: DuckDatabase,
  request: AnalyticsQueryRequest,
  clock: Clock,
): Promise<AnalyticsQueryResponse> {
  const body = await answerCompared(database, request, clock)
  if (request.include?.totals !== true) return body
  const whole = { ...request, group_by: [], order_by: [], limit: 1, offset: 0 }
  const [total] = (await answerCompared(database, whole, clock)).data
  const { metrics, comparison } = total!
  return { ...body, totals: { metrics, ...(comparison === undefined ? {} : { comparison }) } }
}

/** Answers a request, and compares each row with that of the other period. */
async function answerCompared(
  database: DuckDatabase,
  request: AnalyticsQueryRequest,
  clock: Clock,
): Promise<AnalyticsQueryResponse> {
  const { period, query, ...rest } = await answerRows(database, request, clock)
  if (request.compare === undefined) return { period, query, ...rest }
  const { compare, time_zone, group_by } = request
  const own = await resolvePeriod(database, request.date_range, clock, time_zone)
  const range =
    typeof compare === 'string' ? await resolveCompared(database, request, own) : compare
  const isSeries = isInterval(group_by[0])
  const everything: AnalyticsQueryRequest = {
    ...request,
    group_by: isSeries ? [`interval:${query.interval!}`] : group_by,
    order_by: [],
    limit: Infinity,
    offset: 0,
  }
  const others = await answerRows(database, { ...everything, date_range: range }, clock)
  const numbered = isSeries ? (await answerRows(database, everything, clock)).data : []
  const data = rest.data.map(({ group, metrics }) => {
    const isSame = (row: Row): boolean => isDeepStrictEqual(row.group, group)
    const other = isSeries ? others.data[numbered.findIndex(isSame)] : others.data.find(isSame)
    const nothing = Object.fromEntries(
      Object.entries(metrics).map(([name, value]) => [
        name,
        isSeries || value === null || !COUNTS.has(name) ? null : 0,
      ]),
    )
    return { group, metrics, comparison: compareMetrics(metrics, other?.metrics ?? nothing) }
  })
  return { period, query, comparison: { period: others.period }, ...rest, data }
}

const COUNTS: ReadonlySet<string> = new Set(['users', 'new_users', 'pageviews', 'events', 'visits'])

async function answerRows(
  database: DuckDatabase,
  request: AnalyticsQueryRequest,
  clock: Clock,
): Promise<AnalyticsQueryResponse> {
  const { limit, offset } = request
  const period = await resolvePeriod(database, request.date_range, clock, request.time_zone)
  const metrics = request.metrics.length === 0 ? DEFAULT_METRICS : request.metrics
  const groupings = request.group_by.map((token) => findGrouping(token, period))
  const asked = { ...request, metrics }
  const rows = await database.run<Readonly<Record<string, string | number | null>>>(
    buildStatement(asked, groupings, period),
  )
  const page = rows.slice(offset, offset + limit)
  return {
    period: { from: period.from, to: period.to },
    query: {
      date_range: asked.date_range,
      metrics: asked.metrics,
      group_by: asked.group_by,
      order_by: asked.order_by,
      limit,
      offset,
      filters: asked.filters,
      filtersOperator: asked.filtersOperator,
      ...showOptional(asked, period),
    },
    pagination: { limit, offset, returned: page.length, total: rows.length },
    data: page.map((row) => ({
      group: Object.fromEntries(
        groupings.map(({ member }, i) => [member, row[nameKey(i)] as string]),
      ),
      metrics: Object.fromEntries(
        metrics.map((metric) => [metric, row[`of_${metric}`] as number | null]),
      ),
    })),
  }
}

/** The members that are shown only if they were sent, and the size of the buckets: always but for `interval:auto` without those. */
function showOptional(
  { group_by: [token], include, time_zone, compare, compare_align }: AnalyticsQueryRequest,
  period: DuckPeriod,
): Pick<
  AnalyticsQueryResponse['query'],
  'include' | 'time_zone' | 'compare' | 'compare_align' | 'interval'
> {
  const sent = {
    ...(include === undefined ? {} : { include }),
    ...(time_zone === undefined ? {} : { time_zone }),
    ...(compare === undefined ? {} : { compare }),
    ...(compare_align === undefined ? {} : { compare_align }),
  }
  if (token === undefined || !isInterval(token)) return sent
  if (token === 'interval:auto' && Object.keys(sent).length === 0) return {}
  return { ...sent, interval: findBucketSize(token, period) as BucketSize }
}

const nameKey = (i: number): string => `key_${i}`

/** Selects all rows of a response in their order, before limit and offset. */
function buildStatement(
  request: AnalyticsQueryRequest,
  groupings: readonly Grouping[],
  { from, to }: DuckPeriod,
): Sql {
  const inPeriod = (moment: Sql): Sql =>
    sql`(${moment} >= CAST(${from} AS TIMESTAMP) AND ${moment} < CAST(${to} AS TIMESTAMP) + INTERVAL 1 SECOND)`
  const keys = groupings.map((_grouping, i) => raw(nameKey(i)))
  const columns = (part: 'event' | 'visit'): readonly Sql[] =>
    groupings.map((grouping, i) => sql`${grouping[part]} AS ${raw(nameKey(i))}`)
  const isNew = sql`${combine(
    [
      inPeriod(sql`first_occurred`),
      ...groupings.flatMap(({ isNew: inBucket }) => (inBucket === undefined ? [] : [inBucket])),
    ],
    'AND',
  )} AS is_new`
  const aggregate = (over: 'events' | 'visits'): readonly Sql[] =>
    Object.entries(AGGREGATES).flatMap(([name, one]) =>
      one.over === over ? [sql`${one.aggregate} AS ${raw(name)}`] : [],
    )
  const isIn = combine([sql`TRUE`, ...keys.map((key) => sql`${key} IS NOT NULL`)], 'AND')
  const group = sql`GROUP BY (${join(keys)})`
  const joinOn = (table: string): Sql =>
    combine([sql`TRUE`, ...keys.map((key) => sql`groups.${key} = ${raw(table)}.${key}`)], 'AND')
  return sql`
WITH
  matching AS (SELECT * FROM events WHERE ${buildFilters(request)}),
  grouped_events AS (SELECT ${join([...columns('event'), isNew, sql`matching.*`])} FROM matching WHERE ${inPeriod(sql`occurred`)}),
  grouped_visits AS (
    SELECT ${join([...columns('visit'), sql`visits.*`])} FROM visits
    WHERE ${inPeriod(sql`start_at`)} AND session IN (SELECT session FROM matching)
  ),
  of_events AS (SELECT ${join([...keys, sql`count(*) AS matched`, ...aggregate('events')])} FROM grouped_events WHERE ${isIn} ${group}),
  of_visits AS (SELECT ${join([...keys, sql`count(*) AS matched`, ...aggregate('visits')])} FROM grouped_visits WHERE ${isIn} ${group}),
  groups AS (${selectKeys(groupings)})
SELECT ${join([...keys.map((key) => sql`groups.${key} AS ${key}`), ...request.metrics.map((metric) => selectMetric(metric, groupings))])}
FROM groups LEFT JOIN of_events ON ${joinOn('of_events')} LEFT JOIN of_visits ON ${joinOn('of_visits')}
ORDER BY ${join(buildOrder(request, keys))}`
}

/** Selects the groups that are rows: those of events, and those that a grouping lists. Without groupings there is one row. */
function selectKeys(groupings: readonly Grouping[]): Sql {
  if (groupings.length === 0) return sql`SELECT 1 AS one`
  const listed = groupings.flatMap(({ keys }) => (keys === undefined ? [] : [keys]))
  const keys = groupings.map((_grouping, i) => raw(nameKey(i)))
  return join([sql`SELECT ${join(keys)} FROM of_events`, ...listed], ' UNION ')
}

/** A number in JSON is a floating-point number; all of these are small enough to be exact. */
const selectMetric = (metric: Metric, [grouping]: readonly Grouping[]): Sql =>
  sql`CAST(${writeMetric(metric, grouping?.visitGroups ?? 'same')} AS DOUBLE) AS ${raw(`of_${metric}`)}`

/** The given order, else that of a series by its date, else that of the first metric. Groups decide between equal values. */
function buildOrder(
  { order_by, metrics, group_by: [token] }: AnalyticsQueryRequest,
  [key = sql`TRUE`]: readonly Sql[],
): readonly Sql[] {
  const isSeries = isInterval(token)
  const [field, direction] =
    order_by[0] ?? (isSeries ? ['date', 'asc'] : [metrics[0] ?? '', 'desc'])
  const metric = metrics.find((name) => name === field)
  // A label with an offset does not order moments.
  const group = isSeries ? sql`CAST(groups.${key} AS TIMESTAMPTZ)` : key
  const by = metric === undefined ? group : raw(`of_${metric}`)
  return [sql`${by} ${raw(direction)} NULLS LAST`, group]
}
