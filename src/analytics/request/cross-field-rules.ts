/** Checks the rules of a request that its schema cannot express, most of which tie several values together. */
import type { AnalyticsQueryRequest, FieldError, Filter } from '../../contract/api.js'
import { checkBucketCount, isInterval } from './intervals.js'
import { isDateOnly, resolveRange } from './period.js'

/** One rule, as a pure function. */
export interface Rule {
  /** The fields that it reads. The rule is applied only when each of them is valid by itself. */
  readonly fields: readonly (keyof AnalyticsQueryRequest)[]
  readonly check: (request: AnalyticsQueryRequest) => readonly FieldError[]
}

/** How many string clauses the filters of a request may have in all. */
const MAX_STRING_CLAUSES = 40

export const RULES: readonly Rule[] = [
  { fields: ['date_range'], check: checkDateRange },
  { fields: ['date_range', 'group_by'], check: checkBuckets },
  { fields: ['metrics', 'group_by', 'order_by'], check: checkOrder },
  { fields: ['filters'], check: checkClauseCount },
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

function checkClauseCount({ filters }: AnalyticsQueryRequest): readonly FieldError[] {
  const count = filters.reduce((sum, filter) => sum + countStringClauses(filter), 0)
  if (count <= MAX_STRING_CLAUSES) return []
  const message = `must hold at most ${MAX_STRING_CLAUSES} string clauses in all, and hold ${count}`
  return [{ field: 'filters', message }]
}

const countPresent = (clauses: readonly unknown[]): number =>
  clauses.filter((clause) => clause !== undefined).length

function countStringClauses(filter: Filter): number {
  switch (filter.type) {
    case 'page':
      return countPresent([filter.origin, filter.path, filter.hash])
    case 'event':
      return countPresent([filter.name, ...(filter.properties ?? [])])
    case 'utm_tags':
      return countPresent([
        filter.utm_campaign,
        filter.utm_content,
        filter.utm_medium,
        filter.utm_source,
        filter.utm_term,
      ])
    case 'referrer':
    case 'referrer_url':
      return 1
    case 'user':
    case 'location':
    case 'referrer_type':
    case 'browser':
    case 'device':
    case 'os':
      return 0
    default:
      return filter satisfies never
  }
}
