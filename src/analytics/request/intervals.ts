/** The intervals of time series: which bucket size each means, and how many buckets a series may have. */
import type { AnalyticsQueryRequest, FieldError, GroupBy, Interval } from '../../contract/api.js'
import { createValidationError } from '../../contract/errors.js'
import { FINE_TO_COARSE, GRANULARITIES, type Granularity } from '../../model/granularities.js'
import { getInclusiveEnd, type Period } from './period.js'

/** The bucket size of each interval; `auto`: it follows from the length of the period. */
const SIZES: Readonly<Record<Interval, Granularity | 'auto'>> = {
  'interval:auto': 'auto',
  'interval:hour': 'hour',
  'interval:day': 'day',
  'interval:week': 'week',
  'interval:month': 'month',
  'interval:quarter': 'quarter',
  'interval:year': 'year',
}

export const isInterval = (token: GroupBy): token is Interval => Object.hasOwn(SIZES, token)

/** Returns the bucket size that an interval means for a period. */
export function resolveGranularity(interval: Interval, period: Period): Granularity {
  const size = SIZES[interval]
  return size === 'auto' ? chooseGranularity(period) : size
}

/** Chooses the bucket size that `interval:auto` means for a period. */
export function chooseGranularity(period: Period): Granularity {
  const length = getInclusiveEnd(period).getTime() - period.start.getTime()
  const isShortEnough = (name: Granularity): boolean =>
    length <= (GRANULARITIES[name].maxLengthMs ?? -1)
  return FINE_TO_COARSE.find(isShortEnough) ?? 'month'
}

/** How many buckets a series of an explicit interval may have. */
export const MAX_BUCKETS = 10_000

/** Counts the buckets of a size in a period. */
export function countBuckets(granularity: Granularity, period: Period): number {
  const { toBucket } = GRANULARITIES[granularity]
  return toBucket(getInclusiveEnd(period)) - toBucket(period.start) + 1
}

/**
 * Checks that a series does not have too many buckets. A series of `interval:auto` may have any number.
 *
 * @returns the error if it does; it names a larger interval that would fit
 */
export function checkBucketCount(
  token: GroupBy | undefined,
  period: Period,
): readonly FieldError[] {
  if (token === undefined || !isInterval(token) || token === 'interval:auto') return []
  const granularity = resolveGranularity(token, period)
  const count = countBuckets(granularity, period)
  if (count <= MAX_BUCKETS) return []
  const fitting = FINE_TO_COARSE.find((name) => countBuckets(name, period) <= MAX_BUCKETS)
  const other = fitting === undefined ? '' : `interval:${fitting} or `
  const message = `divides the period into ${count} buckets, and at most ${MAX_BUCKETS} are allowed: choose ${other}a shorter date_range`
  return [{ field: 'group_by.0', message }]
}

/** @throws ApiError VALIDATION_ERROR for a series of too many buckets */
export function requireFewBuckets(
  { group_by: [token] }: Pick<AnalyticsQueryRequest, 'group_by'>,
  period: Period,
): void {
  const errors = checkBucketCount(token, period)
  if (errors.length > 0) throw createValidationError(errors)
}
