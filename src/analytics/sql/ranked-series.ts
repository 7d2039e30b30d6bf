/** Writes the time series of the largest groups: which these are, and a row for each of them in every bucket. */
import { join, sql, uint32, type Sql } from '../../clickhouse/sql.js'
import { getColumn, getNothing, mergeMeasure } from '../../model/measures.js'
import { listScans, type Plan } from '../plan/plan.js'
import { listGroupMeasures, listMeasures, writeBucketKeys } from './groups.js'
import type { StatementContext } from './rows.js'
import { listKeys, orderRows, RANKED_KEYS, selectMetrics } from './select.js'
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
  const metrics = sql`SELECT ${join([sql`group_key`, ...columns])} FROM ${groups}`
  const largest = sql`SELECT group_key FROM (${metrics}) ORDER BY ${orderRows(query)} LIMIT ${uint32(query.limit)}`
  return sql`WITH (SELECT groupArray(group_key) FROM (${largest})) AS ${RANKED_KEYS} `
}

/**
 * Writes the series of the ranked groups: `group_key`, `then_key`, and a column for each measure. Every bucket is a row, even if no
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
    sql`arrayJoin(${RANKED_KEYS}) AS then_key`,
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

/** Writes the buckets of the ranked groups that are not empty. */
function writePairs(context: StatementContext, plan: Plan, group: ShardGroup | undefined): Sql {
  // Every bucket is a row anyway, whatever is in it.
  const pairs = { ...plan, rows: 'one' } as const
  return writeGroupsOfProject(context, pairs, group, RANKED_KEYS)
}
