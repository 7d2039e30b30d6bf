/** Writes the metrics of an answer, and the order of its rows, from the measures of its groups. */
import { sql, type Sql } from '../../clickhouse/sql.js'
import { METRICS } from '../../model/metrics.js'
import type { Plan } from '../plan/planner.js'
import type { Query } from '../request/query.js'

/** The columns of the metrics; one whose measures no scan gives is null. */
export function outputs({ query, scans }: Plan): readonly Sql[] {
  const available = new Set(scans.flatMap((scan) => scan.measures))
  return query.metrics.map((metric) => {
    const { measures, expression, column } = METRICS[metric]
    const answered = measures.every((measure) => available.has(measure))
    return sql`${answered ? expression : sql`NULL`} AS ${column}`
  })
}

/** The order of the rows: by a metric or the group, and then always by the group. */
export function orderBy({ order }: Query): Sql {
  const direction = order.direction === 'asc' ? sql`ASC` : sql`DESC`
  return order.by === 'group'
    ? sql`group_key ${direction}`
    : sql`${METRICS[order.by].column} ${direction} NULLS LAST, group_key ASC`
}
