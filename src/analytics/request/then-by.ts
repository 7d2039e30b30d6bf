/** The rules of the further groupings of a query, `then_by`, and of their series. */
import type { AnalyticsQueryRequest, FieldError } from '../../contract/api.js'
import { createValidationError } from '../../contract/errors.js'
import { isUtc } from '../../lib/time-zone.js'
import { countBuckets, hasTooManyBuckets, listZonedBuckets } from './buckets.js'
import { isInterval, resolveGranularity } from './intervals.js'
import type { Period } from './period.js'

/** How many rows the series of the groups may have together. */
export const MAX_SERIES_ROWS = 100_000

/** The members of a request that the further groupings depend on. */
type Grouped = Pick<AnalyticsQueryRequest, 'group_by' | 'then_by' | 'group_limit'>

/** Checks that no grouping is there twice, and that `group_limit` has an interval. */
export function checkThenBy({
  group_by: [first],
  then_by: further,
  group_limit: limit,
}: Grouped): readonly FieldError[] {
  const errors: FieldError[] = []
  if (further !== undefined && first === undefined) {
    const message = 'needs a first grouping in group_by: an interval, a dimension or a property'
    errors.push({ field: 'then_by', message })
  }
  for (const [i, token] of (further ?? []).entries()) {
    const place = token === first ? 'group_by' : `then_by.${further?.indexOf(token) ?? 0}`
    if (token === first || further?.indexOf(token) !== i) {
      errors.push({ field: `then_by.${i}`, message: `must not be ${token}, which is in ${place}` })
    }
  }
  const isSeries = first !== undefined && isInterval(first)
  if (limit !== undefined && (further === undefined || !isSeries)) {
    const message = 'is the number of time series: it needs an interval in group_by, and then_by'
    errors.push({ field: 'group_limit', message })
  }
  return errors
}

/**
 * Checks that the series of as many groups as were asked for do not have too many rows together.
 *
 * @param zone a time zone that is known
 */
export function checkSeriesRows(
  { group_by: [token], group_limit: limit }: Grouped,
  period: Period,
  zone: string,
): readonly FieldError[] {
  if (limit === undefined || token === undefined || !isInterval(token)) return []
  const granularity = resolveGranularity(token, period)
  // A series that has too many buckets itself is refused for that.
  if (!isUtc(zone) && hasTooManyBuckets(granularity, period, zone)) return []
  const buckets = countBuckets(granularity, period, listZonedBuckets(granularity, period, zone))
  const most = Math.max(1, Math.floor(MAX_SERIES_ROWS / buckets))
  if (limit <= most) return []
  const message = `times ${buckets} buckets is more than ${MAX_SERIES_ROWS} rows: choose at most ${most}, or a larger interval`
  return [{ field: 'group_limit', message }]
}

/** @throws ApiError VALIDATION_ERROR for series of too many rows */
export function requireFewSeriesRows(request: AnalyticsQueryRequest, period: Period): void {
  const errors = checkSeriesRows(request, period, request.time_zone ?? 'UTC')
  if (errors.length > 0) throw createValidationError(errors)
}
