/** Writes the one statement that answers a plan. */
import { int64, join, sql, statement, uint32 } from '../clickhouse/sql.js'
import type { Sql, Statement } from '../clickhouse/sql.js'
import { GRANULARITIES } from './model/granularities.js'
import { METRICS } from './model/metrics.js'
import { MEASURE_COLUMNS, RELATIONS, type Measure } from './model/relations.js'
import { inclusiveEnd } from './period.js'
import type { Plan, Scan } from './planner.js'
import type { Query } from './query.js'
import { scanned } from './scan.js'

/**
 * The statement of a plan. Its columns: `group_key` (the group's value, or the number of a bucket),
 * and a `metric_…` for each metric asked for. Its total before LIMIT is that of the answer.
 */
export function buildStatement(plan: Plan): Statement {
  const { limit, offset } = plan.query
  return statement(
    sql`SELECT ${join([sql`group_key`, ...outputs(plan)])} FROM (${groups(plan, usersOf(plan))}) ORDER BY ${orderBy(plan.query)} LIMIT ${uint32(limit)} OFFSET ${uint32(offset)}`,
  )
}

function outputs({ query, scans }: Plan): readonly Sql[] {
  const available = new Set(scans.flatMap((scan) => scan.measures))
  return query.metrics.map((metric) => {
    const { measures, expression, column } = METRICS[metric]
    const answered = measures.every((measure) => available.has(measure))
    return sql`${answered ? expression : sql`NULL`} AS ${column}`
  })
}

function orderBy({ order }: Query): Sql {
  const direction = order.direction === 'asc' ? sql`ASC` : sql`DESC`
  return order.by === 'group'
    ? sql`group_key ${direction}`
    : sql`${METRICS[order.by].column} ${direction} NULLS LAST, group_key ASC`
}

/** One row a group, with the measures of all scans; `keys` are the groups that rollups count users of. */
function groups({ query, scans, rows }: Plan, keys?: Sql): Sql {
  const [only, ...others] = scans
  const isFact = only !== undefined && RELATIONS[only.relation].rollup === undefined
  if (
    only !== undefined &&
    others.length === 0 &&
    (rows === 'one' || (rows === 'events' && isFact))
  ) {
    return scanned(
      query,
      only,
      only.measures.map((measure) =>
        given(only, measure, RELATIONS[only.relation].measures[measure]),
      ),
      keys,
    )
  }
  const measures = [...new Set(scans.flatMap((scan) => scan.measures))]
  const areSets = scans.filter((scan) => scan.measures.includes('users')).length > 1
  const parts = scans.map((scan) => {
    const columns = measures.map((measure) => partOf(scan, measure, areSets))
    const isGroup = rows === 'one' ? sql`true` : (RELATIONS[scan.relation].isGroup ?? sql`false`)
    return scanned(query, scan, [...columns, sql`${isGroup} AS is_row`], keys)
  })
  if (rows === 'buckets') parts.push(buckets(query, measures, areSets))
  const united = measures.map((measure) => {
    const column = MEASURE_COLUMNS[measure]
    const unite = measure === 'users' && areSets ? sql`groupBitmapMerge` : sql`sum`
    return sql`${unite}(parts.${column}) AS ${column}`
  })
  return sql`SELECT ${join([sql`group_key`, ...united])} FROM (${join(parts, sql` UNION ALL `)}) AS parts GROUP BY group_key HAVING max(is_row)`
}

/** A measure of a scan's groups; one that the scan does not give adds nothing. */
function partOf(scan: Scan, measure: Measure, areSets: boolean): Sql {
  const { measures, userSet } = RELATIONS[scan.relation]
  const isSet = measure === 'users' && areSets
  if (!scan.measures.includes(measure)) return nothing(measure, isSet)
  return given(scan, measure, isSet ? userSet : measures[measure])
}

function given(scan: Scan, measure: Measure, expression: Sql | undefined): Sql {
  if (expression === undefined) throw new TypeError(`${scan.relation} has no ${measure}`)
  return sql`${expression} AS ${MEASURE_COLUMNS[measure]}`
}

const nothing = (measure: Measure, isSet: boolean): Sql =>
  sql`${isSet ? sql`bitmapBuild(emptyArrayUInt32())` : sql`0`} AS ${MEASURE_COLUMNS[measure]}`

/** Every bucket of the period as a row without counts. */
function buckets({ grouping, period }: Query, measures: readonly Measure[], areSets: boolean): Sql {
  if (grouping.kind !== 'interval') throw new TypeError('only a time series has buckets')
  const { bucketOf } = GRANULARITIES[grouping.granularity]
  const [first, last] = [bucketOf(period.start), bucketOf(inclusiveEnd(period))]
  const nothings = measures.map((measure) => nothing(measure, areSets && measure === 'users'))
  const bucket = sql`arrayJoin(range(${int64(first)}, ${int64(last + 1)})) AS group_key`
  return sql`SELECT ${join([bucket, ...nothings, sql`true AS is_row`])}`
}

/** The groups whose users are to be counted, as a subquery of their keys; undefined where it is each. */
function usersOf(plan: Plan): Sql | undefined {
  switch (plan.usersOf) {
    case 'all':
      return undefined
    case 'page':
      return page(plan)
    case 'bounded':
      return bounded(plan)
    default:
      return plan.usersOf satisfies never
  }
}

/** The groups on the page: they are told by other metrics than users. */
function page(plan: Plan): Sql {
  const { query } = plan
  const counts = withoutUsers(plan)
  const metrics = outputs(counts)
  return sql`SELECT group_key FROM (SELECT ${join([sql`group_key`, ...metrics])} FROM (${groups(counts)})) ORDER BY ${orderBy(query)} LIMIT ${uint32(query.limit)} OFFSET ${uint32(query.offset)}`
}

/**
 * The groups that can get onto the page by their users. Whoever is counted has an event, so a group has
 * at most as many users as events: of the groups with most events as many as the page reaches down to
 * are counted, and what has fewer events than the least of them has users cannot come before any.
 */
function bounded(plan: Plan): Sql {
  const { query, scans } = plan
  const counts = groups(withoutUsers(plan))
  const bound = sql`measure_pageviews + measure_events`
  const top = sql`SELECT group_key FROM (${counts}) ORDER BY ${bound} DESC LIMIT ${uint32(query.limit + query.offset)}`
  const users = groups(
    { ...plan, scans: scans.filter(givesUsers).map(usersAlone), rows: 'one' },
    top,
  )
  return sql`SELECT group_key FROM (${counts}) WHERE ${bound} >= (SELECT min(measure_users) FROM (${users}))`
}

const givesUsers = (scan: Scan): boolean => scan.measures.includes('users')
const usersAlone = (scan: Scan): Scan => ({ ...scan, measures: ['users'] })

/** The plan without the scans that are there for users. */
const withoutUsers = (plan: Plan): Plan => ({
  ...plan,
  query: { ...plan.query, metrics: plan.query.metrics.filter((metric) => metric !== 'users') },
  scans: plan.scans
    .filter(({ relation }) => RELATIONS[relation].rollup !== 'users')
    .map((scan) => ({
      ...scan,
      measures: scan.measures.filter((measure) => measure !== 'users'),
    })),
})
