/** Writes the period that a query is compared with into the statement of its rows, so that both are read together. */
import { int64, int64s, join, sql, type Sql } from '../../clickhouse/sql.js'
import { describeMetric } from '../../model/metrics.js'
import { listScans, type Plan } from '../plan/plan.js'
import { numberBuckets } from '../request/buckets.js'
import type { Query } from '../request/query.js'
import { isRanked } from '../request/derived-queries.js'
import { getColumn } from '../../model/measures.js'
import { listGroupMeasures, listMeasures } from './groups.js'
import { listComparedCurrencies, listOwnCurrencies, nameComparedCurrencies } from './numbers.js'
import { moveContext, type StatementContext } from './rows.js'
import { writeRankedSeries } from './ranked-series.js'
import { listKeys, nameColumns, selectMetrics } from './select.js'
import { writeGroupsOfProject, type ShardGroup } from './shards.js'

/** Writes the columns of the other period; none without a comparison. */
export const selectCompared = ({ query, comparison }: Plan): readonly Sql[] =>
  comparison === undefined
    ? []
    : query.metrics.map((metric) => describeMetric(metric).comparedColumn)

/** Writes a SELECT of groups as a table of FROM, with a name if others are joined to it. */
export const writeTable = ({ query, totals, comparison }: Plan, groups: Sql): Sql =>
  comparison === undefined && (totals === undefined || query.grouping.kind === 'none')
    ? sql`(${groups})`
    : sql`(${groups}) AS all_groups`

/**
 * Writes groups with their metrics in the other period, if the plan has one, as a table of FROM. A group without an event there
 * has counts of 0, and null for what is null without a visit.
 *
 * @param context that of the groups
 * @param groups a SELECT of groups
 */
export function joinCompared(
  context: StatementContext,
  plan: Plan,
  groups: Sql,
  group: ShardGroup | undefined,
): Sql {
  const table = writeTable(plan, groups)
  const compared = writeCompared(context, plan, group)
  if (compared === undefined) return table
  // Without grouping both are a single row, and their keys are constants, which ClickHouse does not join.
  if (plan.query.grouping.kind === 'none') {
    return sql`${table} CROSS JOIN (${compared}) AS compared`
  }
  const others = listComparedKeys(plan.query)
  const isSame = listKeys(plan.query).flatMap((key, i) =>
    others.slice(i, i + 1).map((other) => sql`compared.${other} = all_groups.${key}`),
  )
  const on = sql`(${compared}) AS compared ON ${join(isSame, sql` AND `)}`
  return plan.query.includesLost ? joinLost(plan, groups, on) : sql`${table} LEFT JOIN ${on}`
}

/** Joins the groups of the other period as well that are not among the groups. Their counts are 0. @param on what is joined, and how */
function joinLost(plan: Plan, groups: Sql, on: Sql): Sql {
  const keys = listKeys(plan.query).flatMap((key, i) =>
    listComparedKeys(plan.query)
      .slice(i, i + 1)
      .map((other) => sql`if(is_now, all_groups.${key}, compared.${other}) AS ${key}`),
  )
  const columns = [
    ...keys,
    ...listGroupMeasures(plan).map(
      (measure) => sql`all_groups.${getColumn(measure)} AS ${getColumn(measure)}`,
    ),
    ...selectCompared(plan),
    ...listComparedCurrencies(plan.query),
  ]
  return sql`(SELECT ${join(columns)} FROM (SELECT *, true AS is_now FROM (${groups})) AS all_groups FULL JOIN ${on}) AS all_groups`
}

/**
 * Writes a SELECT of the groups of the other period: the keys of the rows, as `compared_…`, and the columns of `selectCompared`.
 *
 * @param keys a subquery that has all groups that are compared, and perhaps others; absent: all
 */
export function writeCompared(
  context: StatementContext,
  { query, comparison }: Plan,
  group: ShardGroup | undefined,
  keys?: Sql,
): Sql | undefined {
  if (comparison === undefined) return undefined
  const own = moveContext(context, comparison)
  const groups = writeOtherGroups(own, comparison, group, keys)
  const metrics = selectMetrics(
    comparison.query,
    query.metrics,
    listMeasures(listScans(comparison)),
  )
  const columns = query.metrics.map((metric) => {
    const { column, comparedColumn } = describeMetric(metric)
    return sql`${column} AS ${comparedColumn}`
  })
  const currencies = nameComparedCurrencies(query)
  const { key, condition } = matchKey(query, comparison.query)
  const keysOfRows = join(listComparedKeys(query))
  const others = nameColumns(listKeys(query).slice(1), listComparedKeys(query).slice(1))
  return sql`SELECT ${join([keysOfRows, ...columns, ...currencies])} FROM (SELECT ${join([sql`${key} AS compared_key`, ...others, ...metrics, ...listOwnCurrencies(query)])} FROM (${groups})${condition})`
}

/** Lists the columns that have the keys of the rows. */
const listComparedKeys = (query: Query): readonly Sql[] =>
  COMPARED_KEYS.slice(0, listKeys(query).length)

const COMPARED_KEYS = [
  sql`compared_key`,
  sql`compared_then_key`,
  sql`compared_then_key_2`,
  sql`compared_then_key_3`,
]

/** Writes a SELECT of the groups of the other period. If they are series, it selects those of the largest groups of the query. */
function writeOtherGroups(
  context: StatementContext,
  plan: Plan,
  group: ShardGroup | undefined,
  keys: Sql | undefined,
): Sql {
  return isRanked(plan.query)
    ? writeRankedSeries(context, plan, group)
    : writeGroupsOfProject(context, plan, group, keys)
}

/**
 * Writes the key of the rows that a group of the other period is compared with, and the condition that there is one. For a bucket,
 * it is that of the bucket of the same number.
 */
function matchKey(
  { grouping, period }: Query,
  other: Query,
): { readonly key: Sql; readonly condition: Sql } {
  const always = sql``
  if (grouping.kind !== 'interval' || other.grouping.kind !== 'interval') {
    return { key: sql`group_key`, condition: always }
  }
  if (grouping.zoned === undefined || other.grouping.zoned === undefined) {
    const [first] = numberBuckets(grouping.granularity, period)
    const [firstOther] = numberBuckets(grouping.granularity, other.period)
    return { key: sql`group_key + ${int64(first - firstOther)}`, condition: always }
  }
  const [starts, otherStarts] = [grouping.zoned.starts, other.grouping.zoned.starts]
  const matched = otherStarts.slice(0, starts.length)
  return {
    key: sql`transform(group_key, ${int64s(matched)}, ${int64s(starts.slice(0, matched.length))})`,
    condition: sql` WHERE group_key <= ${int64(matched.at(-1) ?? 0)}`,
  }
}
