/** Writes the metrics from the measures of groups, and the order of the rows. */
import { join, sql, type Sql } from '../../clickhouse/sql.js'
import type { Metric } from '../../contract/api.js'
import { EVENT_SUMS, MEASURE_COLUMNS, type Measure } from '../../model/measures.js'
import { METRICS } from '../../model/metrics.js'
import type { Query } from '../request/query.js'
import { isAlwaysNull } from '../request/visit-groups.js'

/**
 * Writes the users of a group. Every user has an event, and every event a user; but a load fills the rollups one after the
 * other, so a query may read users that are older or newer than the events beside them.
 *
 * @param sums the sums of events that are available
 */
function writeUsers(sums: readonly (typeof EVENT_SUMS)[number][]): Sql {
  const { users } = MEASURE_COLUMNS
  if (sums.length === 0) return users
  const events = join(
    sums.map((sum) => MEASURE_COLUMNS[sum]),
    sql` + `,
  )
  const atLeast = sql`greatest(toInt64(${users}), toInt64(${events} > 0))`
  return sums.length < EVENT_SUMS.length ? atLeast : sql`least(${atLeast}, toInt64(${events}))`
}

/**
 * Writes the columns of some metrics of a query.
 *
 * @param available the measures that the groups have
 */
export const selectMetrics = (
  { grouping }: Query,
  metrics: readonly Metric[],
  available: readonly Measure[],
): readonly Sql[] => {
  const sums = EVENT_SUMS.filter((sum) => available.includes(sum))
  return metrics.map((metric) => {
    const { expression, column } = METRICS[metric]
    if (isAlwaysNull(metric, grouping)) return sql`NULL AS ${column}`
    return sql`${metric === 'users' ? writeUsers(sums) : expression} AS ${column}`
  })
}

/** Writes the order of the rows: by a metric and then by group, or by group alone. */
export function orderRows({ order }: Query): Sql {
  const direction = order.direction === 'asc' ? sql`ASC` : sql`DESC`
  return order.by === 'group'
    ? sql`group_key ${direction}`
    : sql`${METRICS[order.by].column} ${direction} NULLS LAST, group_key ASC`
}
