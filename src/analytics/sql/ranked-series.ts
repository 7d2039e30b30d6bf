/** Writes the time series of the largest groups: which these are, and a row for each of them in every bucket. */
import { join, sql, uint32, type Sql } from '../../clickhouse/sql.js'
import { getColumn, getNothing, mergeMeasure } from '../../model/measures.js'
import { listScans, type Plan } from '../plan/plan.js'
import { listGroupMeasures, listMeasures, writeBucketKeys } from './groups.js'
import type { Query } from '../request/query.js'
import type { StatementContext } from './rows.js'
import {
  listKeys,
  orderRows,
  RANKED_KEYS,
  selectMetrics,
  writeKey,
  writeSeriesKey,
} from './select.js'
import { writeGroupsOfProject, type ShardGroup } from './shards.js'

/**
 * Writes the WITH clause of a statement for series: the values of the largest groups as one array, the largest first. The engine
 * computes it before the rest, across shards as well, so the rest reads nothing of other groups.
 *
 * @param groups the groups of the plan that finds the largest, as a table of FROM
 */
export function writeRanking(ranking: Plan, groups: Sql): Sql {
  const { query } = ranking
  const columns = selectMetrics(query, query.metrics, listMeasures(listScans(ranking)))
  const keys = join(listKeys(query))
  const metrics = sql`SELECT ${join([keys, ...columns])} FROM ${groups}`
  const largest = sql`SELECT ${keys} FROM (${metrics}) ORDER BY ${orderRows(query)} LIMIT ${uint32(query.limit)}`
  return sql`WITH (SELECT groupArray(${writeKey(query)}) FROM (${largest})) AS ${RANKED_KEYS} `
}

/**
 * Writes the series of the ranked groups: the keys of the rows, and a column for each measure. Every bucket is a row, even if no
 * measure is read because all metrics are null.
 */
export function writeRankedSeries(
  context: StatementContext,
  plan: Plan,
  group: ShardGroup | undefined,
): Sql {
  const measures = listGroupMeasures(plan)
  const empty = join([
    sql`arrayJoin(${writeBucketKeys(context)}) AS group_key`,
    ...listSeriesKeys(context.query),
    ...measures.map((measure) => sql`${getNothing(measure)} AS ${getColumn(measure)}`),
  ])
  const sums = measures.map((measure) => {
    const column = getColumn(measure)
    return sql`${mergeMeasure(measure, sql`series.${column}`)} AS ${column}`
  })
  const keys = listKeys(context.query)
  const parts = measures.length === 0 ? [] : [writePairs(context, plan, group)]
  const series = join([...parts, sql`SELECT ${empty}`], sql` UNION ALL `)
  return sql`SELECT ${join([...keys, ...sums])} FROM (${series}) AS series GROUP BY ${join(keys)}`
}

/** Writes the keys of the ranked groups as columns, a row for each group. */
function listSeriesKeys(query: Query): readonly Sql[] {
  const keys = listKeys(query).slice(1)
  const each = sql`arrayJoin(${RANKED_KEYS})`
  return keys.map((key, i) => {
    if (keys.length === 1) return sql`${each} AS ${key}`
    // All keys of a group are those of the same element, so the array is joined once.
    const group = i === 0 ? sql`${each} AS ranked_key` : sql`ranked_key`
    return sql`tupleElement(${group}, ${uint32(i + 1)}) AS ${key}`
  })
}

/** Writes the buckets of the ranked groups that are not empty. */
function writePairs(context: StatementContext, plan: Plan, group: ShardGroup | undefined): Sql {
  // Every bucket is a row anyway, whatever is in it.
  const pairs = { ...plan, rows: 'one' } as const
  const groups = writeGroupsOfProject(context, pairs, group, RANKED_KEYS)
  if (context.query.thenBy.length === 1) return groups
  // Scans choose by each key alone.
  return sql`SELECT * FROM (${groups}) WHERE ${writeSeriesKey(context.query)} IN (${RANKED_KEYS})`
}
