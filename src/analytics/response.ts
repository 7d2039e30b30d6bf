/** Shapes the rows of a statement into the body of the response. */
import type { AnalyticsQueryRequest, AnalyticsQueryResponse, Metric, Row } from '../contract/api.js'
import { PROPERTY_PREFIX } from '../model/dimensions.js'
import { GRANULARITIES } from '../model/granularities.js'
import { METRICS } from '../model/metrics.js'
import { formatMoment, formatPeriod } from './request/period.js'
import type { Grouping, Query } from './request/query.js'

/** A row of a statement. The key of a bucket is its number; any other key is text. */
export type StoredRow = { readonly group_key: string | number } & Readonly<
  Partial<Record<`${'metric' | 'total'}_${Metric}`, number | null>>
>

/**
 * Builds the body of the response.
 *
 * @param total the number of rows before limit and offset
 * @param totals the row of the totals, if they are asked for
 */
export function shapeResponse(
  request: AnalyticsQueryRequest,
  query: Query,
  rows: readonly StoredRow[],
  total: number,
  totals?: StoredRow,
): AnalyticsQueryResponse {
  const { metrics, grouping, limit, offset } = query
  const shapeMetrics = (row: StoredRow): Row['metrics'] =>
    Object.fromEntries(metrics.map((metric) => [metric, row[METRICS[metric].key] ?? null]))
  return {
    ...shapeEcho(request, query),
    pagination: { limit, offset, returned: rows.length, total },
    data: rows.map((row) => ({
      group: shapeGroup(grouping, row.group_key),
      metrics: shapeMetrics(row),
    })),
    ...(totals === undefined ? {} : { totals: { metrics: shapeMetrics(totals) } }),
  }
}

/** Builds the part of the body that repeats the question. It comes first. */
export const shapeEcho = (
  request: AnalyticsQueryRequest,
  { metrics, grouping, period, limit, offset }: Query,
): Pick<AnalyticsQueryResponse, 'period' | 'query'> => ({
  period: formatPeriod(period),
  query: {
    date_range: request.date_range,
    metrics,
    group_by: request.group_by,
    order_by: request.order_by,
    limit,
    offset,
    filters: request.filters,
    filtersOperator: request.filtersOperator,
    ...(request.include === undefined ? {} : { include: request.include }),
    ...(grouping.kind === 'interval' && showsInterval(request)
      ? { interval: grouping.granularity }
      : {}),
  },
})

/** Whether the response says how large the buckets are: the queries that could be asked before it did look as they did. */
const showsInterval = ({ group_by: [token], include }: AnalyticsQueryRequest): boolean =>
  token !== 'interval:auto' || include !== undefined

function shapeGroup(grouping: Grouping, key: string | number): Row['group'] {
  switch (grouping.kind) {
    case 'none':
      return {}
    case 'interval':
      return { date: formatMoment(GRANULARITIES[grouping.granularity].toStart(Number(key))) }
    case 'property':
      return { [`${PROPERTY_PREFIX}${grouping.name}`]: String(key) }
    case 'dimension':
      return { [grouping.dimension]: String(key) }
    default:
      return grouping satisfies never
  }
}
