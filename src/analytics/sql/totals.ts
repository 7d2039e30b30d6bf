/** Writes the totals of a query into the statement of its rows, so that both are read at the same moment. */
import { join, sql, type Sql } from '../../clickhouse/sql.js'
import { describeMetric } from '../../model/metrics.js'
import { listScans, type Plan } from '../plan/plan.js'
import { joinCompared, selectCompared } from './comparison.js'
import { listMeasures } from './groups.js'
import { moveContext, type StatementContext } from './rows.js'
import { listCurrencies, nameTotalCurrencies } from './numbers.js'
import { selectMetrics } from './select.js'
import { writeGroupsOfProject, type ShardGroup } from './shards.js'

/**
 * Writes the columns of the totals, and of what they are compared with: none without totals, or if the only row has them as its
 * metrics.
 */
export const selectTotals = ({ query, totals }: Plan): readonly Sql[] =>
  totals === undefined || query.grouping.kind === 'none'
    ? []
    : [
        ...query.metrics.map((metric) => describeMetric(metric).totalColumn),
        ...(totals.comparison === undefined
          ? []
          : query.metrics.map((metric) => describeMetric(metric).comparedTotalColumn)),
      ]

/**
 * Joins the totals to every group, if the plan has some.
 *
 * @param context that of the groups: the totals share its values
 * @param groups a table of FROM
 */
export function joinTotals(
  context: StatementContext,
  { query, totals }: Plan,
  groups: Sql,
  group: ShardGroup | undefined,
): Sql {
  if (totals === undefined || query.grouping.kind === 'none') return groups
  const own = moveContext(context, totals)
  const total = writeGroupsOfProject(own, totals, group)
  const metrics = [
    ...selectMetrics(totals.query, query.metrics, listMeasures(listScans(totals))),
    ...selectCompared(totals),
    ...listCurrencies(totals),
  ]
  const columns = query.metrics.flatMap((metric) => {
    const { column, totalColumn, comparedColumn, comparedTotalColumn } = describeMetric(metric)
    return [
      sql`${column} AS ${totalColumn}`,
      ...(totals.comparison === undefined
        ? []
        : [sql`${comparedColumn} AS ${comparedTotalColumn}`]),
    ]
  })
  const currencies = nameTotalCurrencies(totals)
  return sql`${groups} CROSS JOIN (SELECT ${join([...columns, ...currencies])} FROM (SELECT ${join(metrics)} FROM ${joinCompared(own, totals, total, group)})) AS totals`
}
