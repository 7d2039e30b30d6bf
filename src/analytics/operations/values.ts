/** The operation `values`: the values of a field that contain a text, as a breakdown by the field. */
import type { AnalyticsQueryRequest, ValuesRequest, ValuesResponse } from '../../contract/api.js'
import { PROPERTY_NAMES } from '../../contract/filter-fields.js'
import { describeMetric } from '../../model/metrics.js'
import type { Plan } from '../plan/plan.js'
import { planWithOthers } from '../plan/planner.js'
import { checkDateRange, checkTimeZone } from '../request/cross-field-rules.js'
import { checkFilterLimits, listPatternFields } from '../request/filter-limits.js'
import type { Predicate } from '../request/filters.js'
import { formatPeriod } from '../request/period.js'
import type { Grouping, Query } from '../request/query.js'
import type { ResponseRows } from '../response.js'
import { runPlan } from '../run-plan.js'
import type { Operation, Resolve } from '../operation.js'
import { nameQuery, resolveRequest } from './query.js'
import { createTable, writePeriod, type SourceColumn } from '../table.js'

/** Resolves a request: the query is a breakdown by the field. */
const resolveValues: Resolve<ValuesRequest, Query> = (request, project, first, now) =>
  narrow(resolveRequest(toBreakdown(request), project, first, now), request)

export const VALUES: Operation<ValuesRequest, Query, Plan, ResponseRows, ValuesResponse> = {
  name: 'values',
  path: '/v1/analytics/values',
  scope: 'read',
  hint: 'Use it before a filter whose exact value you do not know, such as a path, a city, or the name of an event or a property.',
  hasTimeZone: true,
  rules: [
    { fields: ['time_zone'], check: checkTimeZone },
    { fields: ['date_range', 'time_zone'], check: checkDateRange },
    { fields: ['filters'], check: ({ filters = [] }) => checkFilterLimits(filters) },
  ],
  resolve: resolveValues,
  plan: planWithOthers,
  listPlans: (plan) => [plan],
  read: (plan, { nonce, group, run }) => runPlan(plan, nonce, group, run),
  shape: ({ limit }, _query, { rows, total }) => ({
    pagination: { limit, offset: 0, returned: rows.length, total },
    data: rows.map((row) => ({
      value: String(row.group_key),
      pageviews: row[describeMetric('pageviews').key] ?? 0,
      events: row[describeMetric('events').key] ?? 0,
    })),
  }),
  echo: shapeEcho,
  toTable: ({ period, pagination, data }) =>
    createTable(COLUMNS, [data], {
      period: writePeriod(period),
      total: String(pagination.total),
      limit: String(pagination.limit),
      offset: String(pagination.offset),
    }),
  listPatternFields: ({ filters = [] }) => listPatternFields(filters),
  // What is searched is a part of the query.
  nameRows: (_request, query, writeEnd) => nameQuery(query, writeEnd),
  listEnds: (_request, { period }) => [period.end],
}

const COLUMNS: readonly SourceColumn<ValuesResponse['data'][number]>[] = [
  { name: 'value', type: 'text', read: ({ value }) => value },
  { name: 'pageviews', type: 'integer', read: ({ pageviews }) => pageviews },
  { name: 'events', type: 'integer', read: ({ events }) => events },
]

/** Repeats the members without a default only if they were sent. */
function shapeEcho(
  { field, date_range, search, limit, filters, filtersOperator, time_zone }: ValuesRequest,
  { period }: Query,
): Pick<ValuesResponse, 'period' | 'query'> {
  return {
    period: formatPeriod(period),
    query: {
      field,
      date_range,
      search,
      limit,
      ...(filters === undefined ? {} : { filters }),
      ...(filtersOperator === undefined ? {} : { filtersOperator }),
      ...(time_zone === undefined ? {} : { time_zone }),
    },
  }
}

/** Values of pageviews are ordered by pageviews, those that only custom events have by custom events. */
const toBreakdown = ({
  field,
  date_range,
  limit,
  filters = [],
  filtersOperator = 'and',
  time_zone,
}: ValuesRequest): AnalyticsQueryRequest => ({
  date_range,
  metrics: isOfCustomEvents(field) ? ['events', 'pageviews'] : ['pageviews', 'events'],
  group_by: field === PROPERTY_NAMES ? [] : [field],
  order_by: [],
  limit,
  offset: 0,
  filters,
  filtersOperator,
  ...(time_zone === undefined ? {} : { time_zone }),
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
    case 'clock':
    case 'interval':
    case 'property_names':
    case 'project':
      throw new TypeError('only dimensions and properties have values')
    default:
      return grouping satisfies never
  }
}
