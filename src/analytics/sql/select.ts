/** Writes the metrics from the measures of groups, and the order of the rows. */
import { sql, type Sql } from '../../clickhouse/sql.js'
import type { Metric } from '../../contract/api.js'
import type { Measure } from '../../model/measures.js'
import { METRICS } from '../../model/metrics.js'
import type { Query } from '../request/query.js'

/** Writes the columns of the metrics. A metric is null if one of its measures is not available. */
export const selectMetrics = (
  metrics: readonly Metric[],
  available: readonly Measure[],
): readonly Sql[] =>
  metrics.map((metric) => {
    const { measures, expression, column } = METRICS[metric]
    const isAvailable = measures.every((measure) => available.includes(measure))
    return sql`${isAvailable ? expression : sql`NULL`} AS ${column}`
  })

/** Writes the order of the rows: by a metric and then by group, or by group alone. */
export function orderRows({ order }: Query): Sql {
  const direction = order.direction === 'asc' ? sql`ASC` : sql`DESC`
  return order.by === 'group'
    ? sql`group_key ${direction}`
    : sql`${METRICS[order.by].column} ${direction} NULLS LAST, group_key ASC`
}
