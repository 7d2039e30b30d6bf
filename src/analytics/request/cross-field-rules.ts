/** Checks the rules of a request that its schema cannot express, most of which tie several values together. */
import type { AnalyticsQueryRequest, FieldError } from '../../contract/api.js'
import { checkFilterLimits } from './filter-limits.js'
import { checkBucketCount, isInterval } from './intervals.js'
import { isDateOnly, resolveRange } from './period.js'

/** One rule, as a pure function. */
export interface Rule {
  /** The fields that it reads. The rule is applied only when each of them is valid by itself. */
  readonly fields: readonly (keyof AnalyticsQueryRequest)[]
  readonly check: (request: AnalyticsQueryRequest) => readonly FieldError[]
}

export const RULES: readonly Rule[] = [
  { fields: ['date_range'], check: checkDateRange },
  { fields: ['date_range', 'group_by'], check: checkBuckets },
  { fields: ['metrics', 'group_by', 'order_by'], check: checkOrder },
  { fields: ['filters'], check: ({ filters }) => checkFilterLimits(filters) },
]

/** Returns the errors of a request, by all rules that read none of `invalidFields`. */
export function checkRules(
  request: AnalyticsQueryRequest,
  invalidFields: ReadonlySet<string> = new Set(),
): readonly FieldError[] {
  return RULES.filter(({ fields }) => !fields.some((field) => invalidFields.has(field))).flatMap(
    ({ check }) => check(request),
  )
}

function checkDateRange({ date_range: range }: AnalyticsQueryRequest): readonly FieldError[] {
  if (typeof range === 'string') return []
  const [start, end] = range
  const first = isDateOnly(start) ? `${start}T00:00:00Z` : start
  const last = isDateOnly(end) ? `${end}T23:59:59Z` : end
  return first <= last ? [] : [{ field: 'date_range', message: 'must not start after its end' }]
}

/** Checks the number of buckets of a series whose period is known. That of a preset is checked when it is resolved. */
function checkBuckets(request: AnalyticsQueryRequest): readonly FieldError[] {
  const { date_range: range, group_by: grouping } = request
  if (typeof range === 'string' || checkDateRange(request).length > 0) return []
  return checkBucketCount(grouping[0], resolveRange(range))
}

function checkOrder(request: AnalyticsQueryRequest): readonly FieldError[] {
  const { metrics, group_by: grouping, order_by: order } = request
  const dates = grouping.some(isInterval) ? ['date'] : []
  const columns: readonly string[] = [...metrics, ...grouping, ...dates]
  return order.flatMap(([column], index) =>
    columns.includes(column)
      ? []
      : [
          {
            field: `order_by.${index}.0`,
            message: `must be a metric or the grouping of this query, one of: ${columns.join(', ')}`,
          },
        ],
  )
}
