/** Answers requests by SQL of its own: a second implementation of the contract, which shares no code with the service. */
import { isDeepStrictEqual } from 'node:util'
import type {
  AnalyticsQueryRequest,
  AnalyticsQueryResponse,
  BucketSize,
  GroupBy,
  Metric,
  Row,
  ThenBy,
} from '../../../src/contract/api.js'
import { compareMetrics, resolveCompared } from './comparison.js'
import type { DuckDatabase } from './database.js'
import { buildFilters } from './filters.js'
import { aggregateGoals, listGoals, selectConversions, showGoal } from './goals.js'
import { findBucketSize, findGrouping, isInterval, type Grouping } from './groupings.js'
import { AGGREGATES, writeMetric, ZERO } from './metrics.js'
import {
  aggregateNumbers,
  describeNumbers,
  listNumeric,
  orderByValue,
  selectNumbers,
  showNumbers,
  showValue,
} from './numbers.js'
import { resolvePeriod, type Clock, type DuckPeriod } from './period.js'
import { combine, join, raw, sql, type Sql } from './sql.js'

type AnyMetric = AnalyticsQueryRequest['metrics'][number]

const nameMetric = (metric: AnyMetric): string => (typeof metric === 'string' ? metric : metric.as)

const DEFAULT_METRICS: readonly Metric[] = ['users', 'pageviews', 'events']

/** Answers a request whose defaults are filled in, about the events of the database. */
export async function answer(
  database: DuckDatabase,
  request: AnalyticsQueryRequest,
  clock: Clock,
): Promise<AnalyticsQueryResponse> {
  const body = await answerCompared(database, request, clock)
  if (request.include?.totals !== true) return body
  const whole = {
    ...omitThenBy(request),
    group_by: [],
    order_by: [],
    limit: 1,
    offset: 0,
    include: { totals: true },
  }
  const [total] = (await answerCompared(database, whole, clock)).data
  const { metrics, comparison } = total!
  const { metadata, ...rest } = body
  return {
    ...rest,
    totals: { metrics, ...(comparison === undefined ? {} : { comparison }) },
    ...(metadata === undefined ? {} : { metadata }),
  }
}

/** Answers a request, and compares each row with that of the other period. */
async function answerCompared(
  database: DuckDatabase,
  request: AnalyticsQueryRequest,
  clock: Clock,
): Promise<AnalyticsQueryResponse> {
  const [field, direction] = request.order_by[0] ?? []
  const against = field?.includes(':') === true && /^(change|difference):/.test(field)
  // If rows are chosen or ordered by values that the statement lacks, all rows are read, in the order of their groups.
  const isWhole = against || request.having !== undefined || request.include?.lost === true
  const plain = against ? { ...request, order_by: [] } : request
  const { period, query, ...rest } = await answerRows(database, plain, clock, undefined, isWhole)
  if (request.compare === undefined) {
    return choosePage(request, { period, query, ...rest }, isWhole)
  }
  const { compare, time_zone, group_by } = request
  const own = await resolvePeriod(database, request.date_range, clock, time_zone)
  const range =
    typeof compare === 'string' ? await resolveCompared(database, request, own) : compare
  const isSeries = isInterval(group_by[0])
  const whole: AnalyticsQueryRequest = {
    ...request,
    group_by: isSeries ? [`interval:${query.interval!}`] : group_by,
    order_by: [],
    limit: Infinity,
    offset: 0,
  }
  const everything = isSeries ? await fixGroups(database, whole, request.limit, clock) : whole
  const others = await answerRows(database, { ...everything, date_range: range }, clock, own)
  const addsLost = request.include?.lost === true
  // Those that do not satisfy the conditions as well.
  const present = isSeries || addsLost ? (await answerRows(database, everything, clock)).data : []
  const data = rest.data.map(({ group, metrics }) => {
    const isSame = (row: Row): boolean => isDeepStrictEqual(row.group, group)
    const other = isSeries ? others.data[present.findIndex(isSame)] : others.data.find(isSame)
    const nothing = Object.fromEntries(
      Object.entries(metrics).map(([name, value]) => [
        name,
        isSeries || value === null || !isZero(request, name) ? null : 0,
      ]),
    )
    return { group, metrics, comparison: compareMetrics(metrics, other?.metrics ?? nothing) }
  })
  const lost = others.data.filter(
    ({ group }) => addsLost && !present.some((row) => isDeepStrictEqual(row.group, group)),
  )
  const added = lost.map(({ group, metrics: before }) => {
    const metrics = Object.fromEntries(
      Object.entries(before).map(([name, value]) => [
        name,
        value === null || !isZero(request, name) ? null : 0,
      ]),
    )
    return { group, metrics, comparison: compareMetrics(metrics, before) }
  })
  const all = {
    period,
    query,
    comparison: { period: others.period },
    ...rest,
    data: [...data, ...added],
  }
  if (!isWhole) return all
  const ordered = added.length > 0 || against ? orderRows(request, all.data) : all.data
  return choosePage(
    request,
    { ...all, data: ordered },
    isWhole,
    against ? [field, direction] : undefined,
  )
}

const bytes = (text: string): Buffer => Buffer.from(text)

/** Orders rows by a value, nulls last. Rows of the same value keep their order. */
function sortBy(
  rows: readonly Row[],
  direction: string,
  read: (row: Row) => number | null,
): readonly Row[] {
  return rows.toSorted((one, other) => {
    const [value, otherValue] = [read(one), read(other)]
    if (value === null || otherValue === null) {
      return Number(value === null) - Number(otherValue === null)
    }
    return (direction === 'asc' ? 1 : -1) * (value - otherValue)
  })
}

/** Orders rows by their groups, and then by a metric or one of the groups, as the request says. */
function orderRows(request: AnalyticsQueryRequest, rows: readonly Row[]): readonly Row[] {
  if (isInterval(request.group_by[0])) return rows
  const byGroup = rows.toSorted((one, other) => {
    const [values, others] = [one, other].map(({ group }) => Object.values(group))
    for (const [i, value] of values!.entries()) {
      const order = bytes(value).compare(bytes(others![i]!))
      if (order !== 0) return order
    }
    return 0
  })
  const [field, direction] = request.order_by[0] ?? [
    nameMetric(request.metrics[0] ?? 'users'),
    'desc',
  ]
  if (/^(change|difference):/.test(field)) return byGroup
  if (request.metrics.some((metric) => nameMetric(metric) === field)) {
    return sortBy(byGroup, direction, ({ metrics }) => metrics[field as Metric] ?? null)
  }
  const sign = direction === 'asc' ? 1 : -1
  return byGroup.toSorted(
    (one, other) => sign * bytes(one.group[field]!).compare(bytes(other.group[field]!)),
  )
}

const CONDITIONS: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  gt: (value, bound) => value > bound,
  gte: (value, bound) => value >= bound,
  lt: (value, bound) => value < bound,
  lte: (value, bound) => value <= bound,
  eq: (value, bound) => value === bound,
  ne: (value, bound) => value !== bound,
}

type Numbers = Readonly<Record<string, number | null>>

/** Whether a row satisfies the conditions of a request. */
const satisfies = (
  { having = [] }: AnalyticsQueryRequest,
  read: (metric: string) => number | null,
): boolean =>
  having.every(([metric, operator, bound]) => {
    const value = read(metric)
    return value !== null && CONDITIONS[operator]!(value, bound)
  })

/** Keeps the rows that satisfy the conditions of a request, orders them by how they differ, and takes the page. */
function choosePage(
  request: AnalyticsQueryRequest,
  body: AnalyticsQueryResponse,
  isWhole: boolean,
  order?: readonly [field: string | undefined, direction: string | undefined],
): AnalyticsQueryResponse {
  const [field = '', direction = ''] = order ?? []
  const name = field.slice(field.indexOf(':') + 1)
  const query = { ...body.query, order_by: request.order_by }
  if (!isWhole) return body
  const kept = body.data.filter(({ metrics }) =>
    satisfies(request, (name) => (metrics as Numbers)[name] ?? null),
  )
  const readDifference = ({ metrics, comparison }: Row): number | null => {
    const [now, before] = [metrics[name as Metric] ?? null, comparison!.metrics[name] ?? null]
    return now === null || before === null ? null : Number((now - before).toFixed(9))
  }
  const ordered =
    order === undefined
      ? kept
      : sortBy(
          kept,
          direction,
          field.startsWith('change:')
            ? ({ comparison }) => comparison!.change[name] ?? null
            : readDifference,
        )
  const page = ordered.slice(request.offset, request.offset + request.limit)
  const { limit, offset } = request
  return {
    ...body,
    query,
    pagination: { limit, offset, returned: page.length, total: kept.length },
    data: page,
    ...(page.length === 0 && kept.length > 0 ? forgetNumbers(body) : {}),
  }
}

/** Returns the metadata of a page after the last row. */
const forgetNumbers = ({
  metadata,
}: AnalyticsQueryResponse): Pick<AnalyticsQueryResponse, 'metadata'> =>
  metadata === undefined
    ? {}
    : {
        metadata: {
          numbers: metadata.numbers.map((one) => ({ ...one, counted: null, left_out: null })),
        },
      }

/** Fixes how many groups have a series, which otherwise depends on the limit. */
async function fixGroups(
  database: DuckDatabase,
  request: AnalyticsQueryRequest,
  limit: number,
  clock: Clock,
): Promise<AnalyticsQueryRequest> {
  if (request.then_by === undefined) return request
  const buckets = await answerRows(database, omitThenBy(request), clock)
  const fitting = Math.max(1, Math.floor(limit / buckets.pagination.total))
  return { ...request, group_limit: request.group_limit ?? fitting }
}

/** Whether a metric is 0 where there is nothing to count. */
const isZero = ({ metrics }: AnalyticsQueryRequest, name: string): boolean =>
  COUNTS.has(name) ||
  listGoals(metrics).some(({ as, metric }) => as === name && metric !== 'conversion_rate') ||
  listNumeric(metrics).some(
    ({ as, metric }) => as === name && (metric === 'sum' || metric === 'count'),
  )

/** The metrics with names of their own that are. */
const COUNTS: ReadonlySet<string> = new Set(
  Object.entries(AGGREGATES).flatMap(([metric, { empty }]) => (empty === ZERO ? [metric] : [])),
)

async function answerRows(
  database: DuckDatabase,
  request: AnalyticsQueryRequest,
  clock: Clock,
  ranked?: DuckPeriod,
  isWhole = false,
): Promise<AnalyticsQueryResponse> {
  const { limit, offset } = request
  const period = await resolvePeriod(database, request.date_range, clock, request.time_zone)
  const metrics: readonly AnyMetric[] =
    request.metrics.length === 0 ? DEFAULT_METRICS : request.metrics
  const groupings = listTokens(request).map((token) => findGrouping(token, period))
  const asked = { ...request, metrics }
  const all = await database.run<Readonly<Record<string, string | number | null>>>(
    buildStatement(asked, groupings, period, ranked),
  )
  const rows = isWhole
    ? all.filter((row) => satisfies(request, (name) => row[`of_${name}`] as number | null))
    : all
  const page = isWhole ? rows : rows.slice(offset, offset + limit)
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
        metrics.map((metric) => [
          nameMetric(metric),
          row[`of_${nameMetric(metric)}`] as number | null,
        ]),
      ),
    })),
    ...describeNumbers(listNumeric(metrics), rows, page.length),
  }
}

const omitThenBy = ({
  then_by: _by,
  group_limit: _limit,
  having: _having,
  ...plain
}: AnalyticsQueryRequest): AnalyticsQueryRequest => plain

const listTokens = ({ group_by, then_by = [] }: AnalyticsQueryRequest): readonly GroupBy[] => [
  ...group_by,
  ...then_by,
]

const OPTIONAL = [
  'include',
  'time_zone',
  'compare',
  'compare_align',
  'then_by',
  'group_limit',
  'having',
] as const

/** The members that are shown only if they were sent, and the size of the buckets. `interval:auto` has no size without those members. */
function showOptional(
  request: AnalyticsQueryRequest,
  period: DuckPeriod,
): Pick<AnalyticsQueryResponse['query'], (typeof OPTIONAL)[number] | 'interval'> {
  const [token] = request.group_by
  const sent = Object.fromEntries(
    OPTIONAL.flatMap((name) => (request[name] === undefined ? [] : [[name, request[name]]])),
  )
  if (token === undefined || !isInterval(token)) return sent
  if (token === 'interval:auto' && Object.keys(sent).length === 0) return {}
  return { ...sent, interval: findBucketSize(token, period) as BucketSize }
}

const nameKey = (i: number): string => `key_${i}`

/** Selects all rows of a response in their order, before limit and offset. */
function buildStatement(
  request: AnalyticsQueryRequest,
  groupings: readonly Grouping[],
  period: DuckPeriod,
  ranked = period,
): Sql {
  const { from, to } = period
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
  const numeric = listNumeric(request.metrics, request.time_zone)
  const goals = listGoals(request.metrics)
  const isIn = combine([sql`TRUE`, ...keys.map((key) => sql`${key} IS NOT NULL`)], 'AND')
  const group = sql`GROUP BY (${join(keys)})`
  const joinOn = (table: string): Sql =>
    combine([sql`TRUE`, ...keys.map((key) => sql`groups.${key} = ${raw(table)}.${key}`)], 'AND')
  return sql`
WITH
  matching AS (SELECT * FROM events WHERE ${buildFilters(request)}),
  grouped_events AS (SELECT ${join([...columns('event'), isNew, ...selectNumbers(numeric), ...selectConversions(goals, request.time_zone), sql`matching.*`])} FROM matching WHERE ${inPeriod(sql`occurred`)}),
  grouped_visits AS (
    SELECT ${join([...columns('visit'), sql`visits.*`])} FROM visits
    WHERE ${inPeriod(sql`start_at`)} AND session IN (SELECT session FROM matching)
  ),
  of_events AS (SELECT ${join([...keys, sql`count(*) AS matched`, ...aggregate('events'), ...aggregateNumbers(numeric), ...aggregateGoals(goals)])} FROM grouped_events WHERE ${isIn} ${group}),
  of_visits AS (SELECT ${join([...keys, sql`count(*) AS matched`, ...aggregate('visits')])} FROM grouped_visits WHERE ${isIn} ${group}),
  groups AS (${selectKeys(request, groupings, ranked)})
SELECT ${join([...keys.map((key) => sql`groups.${key} AS ${key}`), ...request.metrics.map((metric, place) => selectMetric(metric, place, groupings)), ...showNumbers(numeric)])}
FROM groups LEFT JOIN of_events ON ${joinOn('of_events')} LEFT JOIN of_visits ON ${joinOn('of_visits')}
ORDER BY ${join(buildOrder(request, keys))}`
}

/** Selects the groups that are rows: those of events, and those that a grouping lists. Without groupings there is one row. */
function selectKeys(
  request: AnalyticsQueryRequest,
  groupings: readonly Grouping[],
  period: DuckPeriod,
): Sql {
  if (groupings.length === 0) return sql`SELECT 1 AS one`
  const [{ keys: buckets } = {}, ...further] = groupings
  if (buckets !== undefined && further.length > 0) {
    return selectRanked(request, buckets, further, period)
  }
  const listed = groupings.flatMap(({ keys }) => (keys === undefined ? [] : [keys]))
  const keys = groupings.map((_grouping, i) => raw(nameKey(i)))
  return join([sql`SELECT ${join(keys)} FROM of_events`, ...listed], ' UNION ')
}

/** Selects every bucket of the largest groups of the further groupings, with the rank of the group. */
function selectRanked(
  { then_by: _, group_limit, ...request }: AnalyticsQueryRequest,
  buckets: Sql,
  further: readonly Grouping[],
  period: DuckPeriod,
): Sql {
  const [first, ...others] = further.map(({ member }) => member)
  const ranking = {
    ...request,
    group_by: [first as GroupBy],
    then_by: others as readonly ThenBy[],
    metrics: request.metrics.slice(0, 1),
    order_by: [],
  }
  const most = sql`greatest(1, CAST(${String(request.limit)} AS BIGINT) // (SELECT count(*) FROM (${buckets})))`
  const limit = group_limit === undefined ? most : sql`CAST(${String(group_limit)} AS BIGINT)`
  const keys = further.map((_grouping, i) => raw(nameKey(i)))
  const shown = keys.map((key, i) => sql`largest.${key} AS ${raw(nameKey(i + 1))}`)
  return sql`
    SELECT ${join([sql`buckets.key AS key_0`, ...shown, sql`largest.rank AS rank`])}
    FROM (${buckets}) AS buckets(key),
      (SELECT ${join([...keys, sql`row_number() OVER () AS rank`])} FROM (${buildStatement(ranking, further, period)})) AS largest
    WHERE largest.rank <= ${limit}`
}

/** A number in JSON is a floating-point number; all of these are small enough to be exact. */
const selectMetric = (metric: AnyMetric, place: number, groupings: readonly Grouping[]): Sql => {
  if (typeof metric !== 'string') {
    const [goal] = listGoals([metric])
    const [numeric] = listNumeric([metric])
    const value =
      goal === undefined ? showValue({ ...numeric!, place }) : showGoal({ ...goal, place })
    return sql`${value} AS ${raw(`of_${metric.as}`)}`
  }
  const kinds = groupings.map(({ visitGroups }) => visitGroups)
  const kind = (['none', 'entry'] as const).find((one) => kinds.includes(one)) ?? 'same'
  return sql`CAST(${writeMetric(metric, kind)} AS DOUBLE) AS ${raw(`of_${metric}`)}`
}

/** The given order, else that of a series by its date, else that of the first metric. Groups decide between equal values. */
function buildOrder(
  { order_by, metrics, group_by: [token], then_by: further = [] }: AnalyticsQueryRequest,
  [key = sql`TRUE`, ...others]: readonly Sql[],
): readonly Sql[] {
  const isSeries = isInterval(token)
  const [field, direction] =
    order_by[0] ?? (isSeries ? ['date', 'asc'] : [nameMetric(metrics[0] ?? 'users'), 'desc'])
  const metric = metrics.map(nameMetric).find((name) => name === field)
  const numeric = listNumeric(metrics).find(({ as }) => as === field)
  // A label with an offset does not order moments.
  const group = isSeries ? sql`CAST(groups.${key} AS TIMESTAMPTZ)` : key
  const own = others[further.findIndex((one) => one === field)] ?? group
  const shown = metric === undefined ? own : raw(`of_${metric}`)
  const by = numeric === undefined ? shown : orderByValue(numeric)
  const rest = isSeries && others.length > 0 ? [sql`groups.rank`] : others
  return [sql`${by} ${raw(direction)} NULLS LAST`, group, ...rest]
}
