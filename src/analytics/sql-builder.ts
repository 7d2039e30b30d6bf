/** Writes the one statement that answers a plan. */
import { TRUE, int64, join, sql, statement, string, time, uint32 } from '../clickhouse/sql.js'
import type { Sql, Statement } from '../clickhouse/sql.js'
import { DIMENSIONS } from './model/dimensions.js'
import { GRANULARITIES } from './model/granularities.js'
import { METRICS } from './model/metrics.js'
import { MEASURE_COLUMNS, RELATIONS, type Measure, type RelationName } from './model/relations.js'
import { inclusiveEnd, type Period } from './period.js'
import type { Plan, Scan } from './planner.js'
import { condition } from './condition.js'
import type { Query } from './query.js'

/**
 * The statement of a plan. Its columns: `group_key` (the group's value, or the number of a bucket),
 * and a `metric_…` for each metric asked for. Its total before LIMIT is that of the answer.
 */
export function buildStatement(plan: Plan): Statement {
  const { metrics, order, limit, offset } = plan.query
  const available = new Set(plan.scans.flatMap((scan) => scan.measures))
  const outputs = metrics.map((metric) => {
    const { measures, expression, column } = METRICS[metric]
    const answered = measures.every((measure) => available.has(measure))
    return sql`${answered ? expression : sql`NULL`} AS ${column}`
  })
  const direction = order.direction === 'asc' ? sql`ASC` : sql`DESC`
  const orderBy =
    order.by === 'group'
      ? sql`group_key ${direction}`
      : sql`${METRICS[order.by].column} ${direction} NULLS LAST, group_key ASC`
  return statement(
    sql`SELECT ${join([sql`group_key`, ...outputs])} FROM (${groups(plan)}) ORDER BY ${orderBy} LIMIT ${uint32(limit)} OFFSET ${uint32(offset)}`,
  )
}

/** One row a group, with the measures of all scans. */
function groups({ query, scans, rows }: Plan): Sql {
  const [only, ...others] = scans
  if (only !== undefined && others.length === 0 && rows !== 'buckets') {
    return scanned(
      query,
      only,
      only.measures.map((measure) => aggregate(only, measure)),
    )
  }
  const measures = scans.flatMap((scan) => scan.measures)
  const parts = scans.map((scan) => {
    const columns = measures.map((measure) => aggregate(scan, measure))
    return scanned(query, scan, [...columns, isRow(scan.relation === 'events')])
  })
  if (rows === 'buckets') parts.push(buckets(query, measures))
  const sums = measures.map((measure) => {
    const column = MEASURE_COLUMNS[measure]
    return sql`sum(parts.${column}) AS ${column}`
  })
  return sql`SELECT ${join([sql`group_key`, ...sums])} FROM (${join(parts, sql` UNION ALL `)}) AS parts GROUP BY group_key HAVING max(is_row)`
}

const isRow = (yes: boolean): Sql => sql`${yes ? sql`true` : sql`false`} AS is_row`

/** A measure of a scan's groups; one that the scan does not give adds nothing. */
function aggregate(scan: Scan, measure: Measure): Sql {
  const expression = RELATIONS[scan.relation].measures[measure]
  const given = scan.measures.includes(measure) && expression !== undefined
  return sql`${given ? expression : sql`0`} AS ${MEASURE_COLUMNS[measure]}`
}

/** A scan: the groups of a relation's matching rows. */
function scanned(query: Query, scan: Scan, columns: readonly Sql[]): Sql {
  const { grouping, predicate } = query
  const { key, groups } = groupKey(query, scan.relation)
  const matching =
    scan.filteredBy === 'columns'
      ? condition(predicate, scan.relation)
      : sql`session IN (${sessionsWithMatchingEvents(query)})`
  const conditions = [inPeriod(scan.relation, query.period), ...groups, matching]
  return sql`SELECT ${join([sql`${key} AS group_key`, ...columns])} FROM ${rowsOf(query, scan.relation, conditions)}${grouping.kind === 'none' ? sql`` : sql` GROUP BY group_key`}`
}

/**
 * A visit matches by any of its events, also one past the end of the period. Events are read up to the
 * end of the last session that started in the period.
 */
function sessionsWithMatchingEvents(query: Query): Sql {
  const started = rowsOf(query, 'sessions', [inPeriod('sessions', query.period)])
  return sql`SELECT session FROM ${rowsOf(query, 'events', [
    sql`timestamp >= ${time(stored(query.period.start))}`,
    sql`timestamp <= (SELECT max(end_at) FROM ${started})`,
    condition(query.predicate, 'events'),
  ])}`
}

/** The one place where a question names a table: none is read without the project's condition. */
function rowsOf(query: Query, relation: RelationName, conditions: readonly Sql[]): Sql {
  const { table, condition } = RELATIONS[relation]
  const all = [sql`project_id = ${string(query.projectId)}`, condition, ...conditions]
  return sql`${table} WHERE ${join(
    all.filter((one) => one !== TRUE),
    sql` AND `,
  )}`
}

function inPeriod(relation: RelationName, { start, end }: Period): Sql {
  const at = RELATIONS[relation].time
  return sql`${at} >= ${time(stored(start))} AND ${at} < ${time(stored(end))}`
}

/** Events lie between 1970 and 2100: the store's types hold no bounds far outside. */
const stored = (bound: Date): Date =>
  new Date(Math.min(Math.max(bound.getTime(), 0), Date.UTC(2100, 0)))

interface GroupKey {
  readonly key: Sql
  /** What a row must satisfy to make a group; empty where every row does. */
  readonly groups: readonly Sql[]
}

function groupKey({ grouping }: Query, relation: RelationName): GroupKey {
  switch (grouping.kind) {
    case 'none':
      return { key: sql`''`, groups: [] }
    case 'interval':
      return {
        key: GRANULARITIES[grouping.granularity].expression(RELATIONS[relation].time),
        groups: [],
      }
    case 'property': {
      const name = string(grouping.name)
      return { key: sql`properties[${name}]`, groups: [sql`mapContains(properties, ${name})`] }
    }
    case 'dimension': {
      const { event, session, entry, groups } = DIMENSIONS[grouping.dimension]
      if (relation === 'events') return { key: event, groups: groups === undefined ? [] : [groups] }
      return { key: session ?? entry ?? event, groups: [] }
    }
    default:
      return grouping satisfies never
  }
}

/** Every bucket of the period as a row without counts. */
function buckets({ grouping, period }: Query, measures: readonly Measure[]): Sql {
  if (grouping.kind !== 'interval') throw new TypeError('only a time series has buckets')
  const { bucketOf } = GRANULARITIES[grouping.granularity]
  const [first, last] = [bucketOf(period.start), bucketOf(inclusiveEnd(period))]
  const zeros = measures.map((measure) => sql`0 AS ${MEASURE_COLUMNS[measure]}`)
  const bucket = sql`arrayJoin(range(${int64(first)}, ${int64(last + 1)})) AS group_key`
  return sql`SELECT ${join([bucket, ...zeros, isRow(true)])}`
}
