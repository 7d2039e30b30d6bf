/** Lists the values of a field: a breakdown by the field, of those values that contain a text. */
import type { AnalyticsQueryRequest, ValuesRequest, ValuesResponse } from '../contract/api.js'
import { PROPERTY_NAMES } from '../contract/filter-fields.js'
import { METRICS } from '../model/metrics.js'
import {
  planRequest,
  resolveRequest,
  runAnalytics,
  type Dependencies,
  type QueriedProject,
  type Resolve,
} from './query-analytics.js'
import { namePatterns } from './read-rows.js'
import { listPatternFields } from './request/filter-limits.js'
import type { Predicate } from './request/filters.js'
import { formatPeriod } from './request/period.js'
import type { Grouping, Query } from './request/query.js'

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
  const { limit, filters = [] } = request
  const plan = await planRequest(resolveValues, request, project, dependencies)
  const { rows, total } = await runAnalytics(plan, dependencies).catch((error: unknown) => {
    throw namePatterns(error, listPatternFields(filters))
  })
  return {
    ...shapeValuesEcho(request, plan.query),
    pagination: { limit, offset: 0, returned: rows.length, total },
    data: rows.map((row) => ({
      value: String(row.group_key),
      pageviews: row[METRICS.pageviews.key] ?? 0,
      events: row[METRICS.events.key] ?? 0,
    })),
  }
}

/** Resolves a request: the query is a breakdown by the field. */
export const resolveValues: Resolve<ValuesRequest, Query> = (request, project, first, now) =>
  narrow(resolveRequest(toBreakdown(request), project, first, now), request)

/** Builds the part of the body that repeats the question: the members without a default only if they were sent. It comes first. */
export const shapeValuesEcho = (
  { field, date_range, search, limit, filters, filtersOperator }: ValuesRequest,
  { period }: Pick<Query, 'period'>,
): Pick<ValuesResponse, 'period' | 'query'> => ({
  period: formatPeriod(period),
  query: {
    field,
    date_range,
    search,
    limit,
    ...(filters === undefined ? {} : { filters }),
    ...(filtersOperator === undefined ? {} : { filtersOperator }),
  },
})

/** Values of pageviews are ordered by pageviews, those that only custom events have by custom events. */
const toBreakdown = ({
  field,
  date_range,
  limit,
  filters = [],
  filtersOperator = 'and',
}: ValuesRequest): AnalyticsQueryRequest => ({
  date_range,
  metrics: isOfCustomEvents(field) ? ['events', 'pageviews'] : ['pageviews', 'events'],
  group_by: field === PROPERTY_NAMES ? [] : [field],
  order_by: [],
  limit,
  offset: 0,
  filters,
  filtersOperator,
})

const isOfCustomEvents = (field: ValuesRequest['field']): boolean =>
  field === 'event:name' || field.startsWith(PROPERTY_NAMES)

/** Selects the values that contain the text of the request. The names of properties are values that no other query groups by. */
function narrow(query: Query, { field, search }: ValuesRequest): Query {
  if (field === PROPERTY_NAMES) {
    return { ...query, grouping: { kind: 'property_names', containing: search } }
  }
  if (search === '') return query
  const { grouping, predicate } = query
  return {
    ...query,
    predicate: { kind: 'all', of: [predicate, selectContaining(grouping, search)] },
  }
}

/** Builds the condition that the value of the field contains a text. */
function selectContaining(grouping: Grouping, value: string): Predicate {
  switch (grouping.kind) {
    case 'property':
      return { kind: 'property', name: grouping.name, operator: 'contains', value }
    case 'dimension':
      return { kind: 'string', dimension: grouping.dimension, operator: 'contains', value }
    case 'none':
    case 'interval':
    case 'property_names':
      throw new TypeError('only dimensions and properties have values')
    default:
      return grouping satisfies never
  }
}
