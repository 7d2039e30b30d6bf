/** Checks the rules of a request that its schema cannot express, most of which tie several values together. */
import type { AnalyticsQueryRequest, FieldError } from '../../contract/api.js'
import { isTimeZone } from '../../lib/time-zone.js'
import { METRIC_NAMES } from '../../model/metrics.js'
import { checkFilterLimits } from './filter-limits.js'
import { checkBucketCount, isInterval } from './intervals.js'
import { isBounds, isDateOnly, resolveRange, type Period } from './period.js'
import { checkSeriesRows, checkThenBy } from './then-by.js'

/** One rule, as a pure function. */
export interface Rule<Request = AnalyticsQueryRequest> {
  /** The fields that it reads. The rule is applied only when each of them is valid by itself. */
  readonly fields: readonly (keyof Request & string)[]
  readonly check: (request: Request) => readonly FieldError[]
}

/** The rules of a query. */
export const RULES: readonly Rule[] = [
  { fields: ['time_zone'], check: checkTimeZone },
  { fields: ['date_range', 'time_zone'], check: checkDateRange },
  { fields: ['date_range', 'time_zone', 'group_by'], check: checkBuckets },
  { fields: ['compare', 'time_zone'], check: checkCompare },
  { fields: ['compare', 'compare_align'], check: checkAlignment },
  { fields: ['group_by', 'then_by', 'group_limit'], check: checkThenBy },
  { fields: ['date_range', 'time_zone', 'group_by', 'group_limit'], check: checkSeries },
  { fields: ['metrics', 'group_by', 'then_by'], check: checkNames },
  { fields: ['metrics', 'group_by', 'then_by', 'order_by', 'compare'], check: checkOrder },
  { fields: ['metrics', 'having'], check: checkHaving },
  { fields: ['group_by', 'compare', 'include'], check: checkLost },
  { fields: ['filters'], check: ({ filters }) => checkFilterLimits(filters) },
]

/**
 * Applies rules to a request, and returns the errors. Skips rules that read one of `invalidFields`.
 *
 * @param invalidFields the fields that violate their own schemas
 */
export const applyRules = <Request>(
  rules: readonly Rule<Request>[],
  request: Request,
  invalidFields: ReadonlySet<string>,
): readonly FieldError[] =>
  rules
    .filter(({ fields }) => !fields.some((field) => invalidFields.has(field)))
    .flatMap(({ check }) => check(request))

/** The fields that decide the period. */
type Dated = Pick<AnalyticsQueryRequest, 'date_range' | 'time_zone'>

export function checkTimeZone({
  time_zone: zone,
}: Pick<Dated, 'time_zone'>): readonly FieldError[] {
  if (zone === undefined || isTimeZone(zone)) return []
  const message = `must be the name of a time zone that is known, such as Europe/Berlin, and is ${JSON.stringify(zone)}`
  return [{ field: 'time_zone', message }]
}

export function checkDateRange(request: Dated): readonly FieldError[] {
  const { date_range: range } = request
  return isBounds(range) ? checkEnds('date_range', range, request) : []
}

/** Checks that the start of a period is not after its end. */
function checkEnds(
  field: 'date_range' | 'compare',
  range: readonly [string, string],
  request: Pick<Dated, 'time_zone'>,
): readonly FieldError[] {
  const { time_zone: zone } = request
  if (checkTimeZone(request).length > 0) return []
  const { start, end } = resolveRange(range, zone)
  if (start < end) return []
  const [from, to] = range
  const message =
    isDateOnly(from) && from === to
      ? `must not be a day that ${zone ?? 'UTC'} skipped`
      : 'must not start after its end'
  return [{ field, message }]
}

/** Checks the number of buckets of a series whose period is known. A series of a preset is checked when the preset is resolved. */
function checkBuckets(request: AnalyticsQueryRequest): readonly FieldError[] {
  const period = findPeriod(request)
  if (period === undefined) return []
  return checkBucketCount(request.group_by[0], period, request.time_zone ?? 'UTC')
}

/** Does the same for the rows of several series. */
function checkSeries(request: AnalyticsQueryRequest): readonly FieldError[] {
  const period = findPeriod(request)
  return period === undefined ? [] : checkSeriesRows(request, period, request.time_zone ?? 'UTC')
}

/** Returns the period of a request; undefined if it is a preset or invalid. */
function findPeriod(request: AnalyticsQueryRequest): Period | undefined {
  const { date_range: range, time_zone: zone = 'UTC' } = request
  const isValid = [checkTimeZone, checkDateRange].every((check) => check(request).length === 0)
  return isBounds(range) && isValid ? resolveRange(range, zone) : undefined
}

function checkCompare(request: AnalyticsQueryRequest): readonly FieldError[] {
  const { compare } = request
  return typeof compare === 'object' ? checkEnds('compare', compare, request) : []
}

function checkAlignment(request: AnalyticsQueryRequest): readonly FieldError[] {
  const { compare, compare_align: align } = request
  if (align === undefined || typeof compare === 'string') return []
  const message = 'needs compare: previous_period or previous_year'
  return [{ field: 'compare_align', message }]
}

/** The names of the groups of a row, and of its bucket. */
const listGroupNames = ({
  group_by: grouping,
  then_by: further = [],
}: Pick<AnalyticsQueryRequest, 'group_by' | 'then_by'>): readonly string[] => [
  ...grouping,
  ...(grouping.some(isInterval) ? ['date'] : []),
  ...further,
]

const getName = (metric: AnalyticsQueryRequest['metrics'][number]): string =>
  typeof metric === 'string' ? metric : metric.as

/** Checks that the names of metrics over numbers are those of no other metric and no grouping. */
function checkNames(request: AnalyticsQueryRequest): readonly FieldError[] {
  const taken = new Set([...METRIC_NAMES, ...listGroupNames(request)])
  return request.metrics.flatMap((metric, i) => {
    if (typeof metric === 'string') return []
    const isTaken = taken.has(metric.as)
    taken.add(metric.as)
    const message = `must be a name of its own: ${metric.as} is that of another metric or of a grouping`
    return isTaken ? [{ field: `metrics.${i}.as`, message }] : []
  })
}

/** Checks that conditions are on metrics of the query. */
function checkHaving({ metrics, having = [] }: AnalyticsQueryRequest): readonly FieldError[] {
  const names = metrics.map(getName)
  return having.flatMap(([name], i) =>
    names.includes(name)
      ? []
      : [
          {
            field: `having.${i}.0`,
            message: `must be a metric of this query, one of: ${names.join(', ')}`,
          },
        ],
  )
}

/** Checks that lost groups have another period, and a grouping by values. */
function checkLost({
  group_by: [token],
  compare,
  include,
}: AnalyticsQueryRequest): readonly FieldError[] {
  if (include?.lost !== true) return []
  if (compare === undefined) {
    return [
      { field: 'include.lost', message: 'needs compare: groups are lost since another period' },
    ]
  }
  if (token !== undefined && !isInterval(token)) return []
  const message = 'needs a dimension or an event property in group_by, whose values can be lost'
  return [{ field: 'include.lost', message }]
}

function checkOrder(request: AnalyticsQueryRequest): readonly FieldError[] {
  const { metrics, order_by: order, compare } = request
  const names = metrics.map(getName)
  const others = names.flatMap((name) => [`change:${name}`, `difference:${name}`])
  const columns = [...names, ...listGroupNames(request), ...(compare === undefined ? [] : others)]
  return order.flatMap(([column], index) =>
    columns.includes(column)
      ? []
      : [
          {
            field: `order_by.${index}.0`,
            message: others.includes(column)
              ? `needs compare: without another period, ${column} has nothing to compare with`
              : `must be a metric or the grouping of this query, one of: ${columns.join(', ')}`,
          },
        ],
  )
}
