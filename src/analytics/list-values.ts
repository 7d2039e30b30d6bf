/** Lists the values of a field: a breakdown by the field, of those values that contain a text. */
import type { AnalyticsQueryRequest, ValuesRequest, ValuesResponse } from '../contract/api.js'
import { PROPERTY_PREFIX } from '../model/dimensions.js'
import {
  planAnalytics,
  runAnalytics,
  type Dependencies,
  type QueriedProject,
} from './query-analytics.js'
import { formatPeriod } from './request/period.js'
import type { Predicate } from './request/filters.js'
import { METRICS } from '../model/metrics.js'

/**
 * Answers a validated request for values.
 *
 * @throws ApiError as `queryAnalytics` does
 */
export async function listValues(
  request: ValuesRequest,
  project: QueriedProject,
  dependencies: Dependencies,
): Promise<ValuesResponse> {
  const { field, date_range, search, limit } = request
  const predicate = buildPredicate(request)
  const plan = await planAnalytics(toBreakdown(request), project, dependencies, (query) => ({
    ...query,
    predicate,
  }))
  const { rows, total } = await runAnalytics(plan, dependencies)
  return {
    period: formatPeriod(plan.query.period),
    query: { field, date_range, search, limit },
    pagination: { limit, offset: 0, returned: rows.length, total },
    data: rows.map((row) => ({
      value: String(row.group_key),
      pageviews: row[METRICS.pageviews.key] ?? 0,
      events: row[METRICS.events.key] ?? 0,
    })),
  }
}

/** Values of pageviews are ordered by pageviews, those that only custom events have by custom events. */
const toBreakdown = ({ field, date_range, limit }: ValuesRequest): AnalyticsQueryRequest => ({
  date_range,
  metrics: isOfCustomEvents(field) ? ['events', 'pageviews'] : ['pageviews', 'events'],
  group_by: [field],
  order_by: [],
  limit,
  offset: 0,
  filters: [],
  filtersOperator: 'and',
})

const isOfCustomEvents = (field: ValuesRequest['field']): boolean =>
  field === 'event:name' || isProperty(field)

const isProperty = (field: ValuesRequest['field']): field is `${typeof PROPERTY_PREFIX}${string}` =>
  field.startsWith(PROPERTY_PREFIX)

function buildPredicate({ field, search: value }: ValuesRequest): Predicate {
  if (value === '') return { kind: 'all', of: [] }
  if (isProperty(field)) {
    const name = field.slice(PROPERTY_PREFIX.length)
    return { kind: 'property', name, operator: 'contains', value }
  }
  return { kind: 'string', dimension: field, operator: 'contains', value }
}
