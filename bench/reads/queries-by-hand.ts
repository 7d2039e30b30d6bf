/** The queries as an expert writes them by hand, on the facts, without rollups: one exact statement each. */
import {
  and,
  sql,
  statement,
  string,
  time,
  type Sql,
  type Statement,
} from '../../src/clickhouse/sql.js'
import type { BenchQuery } from './queries.js'

/** A hand-written statement of a query; the name says how it differs from the others. */
export interface Way {
  readonly name: string
  readonly statement: Statement
}

/** Lists statements that return the same rows; the service is compared with the fastest. */
export function listWays(query: BenchQuery): readonly Way[] {
  const exact = selectEvents(query, sql`uniqExact(user)`)
  const bitmap = selectEvents(query, sql`groupBitmap(user)`)
  if (!hasVisits(query)) {
    return [
      { name: 'uniqExact', statement: selectEventsOnly(query, exact) },
      { name: 'groupBitmap', statement: selectEventsOnly(query, bitmap) },
    ]
  }
  return [
    { name: 'uniqExact, joined', statement: joinVisits(query, exact) },
    { name: 'uniqExact, united', statement: uniteVisits(query, exact) },
    { name: 'groupBitmap, united', statement: uniteVisits(query, bitmap) },
  ]
}

const writeKey = (key: Sql | undefined): Sql => key ?? sql`''`
const writeGroupBy = ({ shape }: BenchQuery): Sql =>
  shape.event === undefined ? sql`` : sql`GROUP BY key`

function eventRows({ project, period, shape }: BenchQuery): Sql {
  return sql`events WHERE ${and([
    sql`project_id = ${string(project)}`,
    sql`timestamp >= ${time(period.start)}`,
    sql`timestamp < ${time(period.end)}`,
    shape.isEvent,
  ])}`
}

/** Selects what events contribute to each group. */
const selectEvents = (query: BenchQuery, users: Sql): Sql => sql`
  SELECT
    ${writeKey(query.shape.event?.(query.period))} AS key, ${users} AS users,
    countIf(name = 'pageview') AS pageviews, countIf(name != 'pageview') AS others
  FROM ${eventRows(query)} ${writeGroupBy(query)}`

/** Selects what sessions contribute to each group; a cancelled state has a second row with sign -1. */
function selectVisits(query: BenchQuery): Sql {
  const { project, period, shape } = query
  return sql`
  SELECT
    ${writeKey(shape.visit?.(period))} AS key, sum(sign) AS visits,
    sumIf(sign, pageviews = 1 AND events = 0) AS bounces,
    sum(sign * (toUnixTimestamp64Milli(end_at) - toUnixTimestamp64Milli(start_at))) AS duration
  FROM sessions WHERE ${and([
    sql`project_id = ${string(project)}`,
    sql`start_at >= ${time(period.start)}`,
    sql`start_at < ${time(period.end)}`,
    sql`pageviews > 0`,
    shape.isVisit,
  ])} ${writeGroupBy(query)}`
}

/** Whether the result needs sessions as well as events. */
const hasVisits = ({ shape }: BenchQuery): boolean =>
  shape.event === undefined || shape.visit !== undefined

const METRICS = sql`
  toInt64(users) AS metric_users, toInt64(pageviews) AS metric_pageviews, toInt64(others) AS metric_events,
  if(visits > 0, intDivOrZero(20000 * bounces + visits, 2 * visits) / 100, NULL) AS metric_bounce_rate,
  if(visits > 0, intDivOrZero(duration + 5 * visits, 10 * visits) / 100, NULL) AS metric_visit_duration`
const NO_VISITS = sql`0 AS visits, 0 AS bounces, 0 AS duration`

const selectEventsOnly = (query: BenchQuery, ofEvents: Sql): Statement =>
  selectMetrics(query, sql`SELECT *, ${NO_VISITS} FROM (${ofEvents})`)

function joinVisits(query: BenchQuery, ofEvents: Sql): Statement {
  const ofVisits = sql`(${selectVisits(query)}) AS of_visits`
  const join =
    query.shape.event === undefined
      ? sql`CROSS JOIN ${ofVisits}`
      : sql`LEFT JOIN ${ofVisits} USING (key)`
  return selectMetrics(query, sql`SELECT * FROM (${ofEvents}) AS of_events ${join}`)
}

function uniteVisits(query: BenchQuery, ofEvents: Sql): Statement {
  return selectMetrics(
    query,
    sql`
SELECT
  key, sum(parts.users) AS users, sum(parts.pageviews) AS pageviews, sum(parts.others) AS others,
  sum(parts.visits) AS visits, sum(parts.bounces) AS bounces, sum(parts.duration) AS duration
FROM (
  SELECT *, ${NO_VISITS} FROM (${ofEvents})
  UNION ALL
  SELECT key, 0 AS users, 0 AS pageviews, 0 AS others, visits, bounces, duration FROM (${selectVisits(query)})
) AS parts
GROUP BY key HAVING users > 0`,
  )
}

function selectMetrics(query: BenchQuery, groups: Sql): Statement {
  return statement(sql`SELECT key, ${METRICS} FROM (${groups}) ${writeOrder(query)} LIMIT 100`)
}

function writeOrder({ shape, period }: BenchQuery): Sql {
  if (shape.order !== undefined) return shape.order
  if (shape.isSeries !== true) return sql`ORDER BY metric_users DESC, key`
  return sql`ORDER BY key WITH FILL FROM ${day(period.start)} TO ${day(period.end)} STEP ${period.step}`
}

const day = (bound: Date): Sql => sql`toDate(${time(bound)})`
