/** The intervals of time series: which bucket size each means, and how many buckets a series may have. */
import type { AnalyticsQueryRequest, FieldError, GroupBy, Interval } from '../../contract/api.js'
import { createValidationError } from '../../contract/errors.js'
import { DAY_MS, HOUR_MS } from '../../lib/time.js'
import { isUtc } from '../../lib/time-zone.js'
import {
  FINE_TO_COARSE,
  GRANULARITIES,
  type Granularity,
  type GranularityRow,
} from '../../model/granularities.js'
import { hasTooManyBuckets, MAX_BUCKETS } from './buckets.js'
import { getInclusiveEnd, type Period } from './period.js'

/** The bucket size of each interval; `auto`: it follows from the length of the period. */
const SIZES: Readonly<Record<Interval, Granularity | 'auto'>> = {
  'interval:auto': 'auto',
  'interval:minute': 'minute',
  'interval:15minutes': '15minutes',
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

/** Checks that the period that a series is compared with does not have too many buckets of the same size. */
function checkComparedBuckets(
  token: GroupBy | undefined,
  period: Period,
  compared: Period | undefined,
  zone: string,
): readonly FieldError[] {
  if (compared === undefined || token === undefined || !isInterval(token)) return []
  const size = resolveGranularity(token, period)
  if (!hasTooManyBuckets(size, compared, zone)) return []
  const message = `has more than ${MAX_BUCKETS} buckets of the size of this series (${size}): choose a larger interval or a shorter period`
  return [{ field: 'compare', message }]
}

/** Checks that a period is not longer than a size of buckets allows. Days on which the clock of a zone is set back have an hour more. */
function checkLength(
  { days, text }: NonNullable<GranularityRow['longest']>,
  { start, end }: Period,
  zone: string,
): readonly FieldError[] {
  const longest = days * DAY_MS + (isUtc(zone) ? 0 : HOUR_MS)
  if (end.getTime() - start.getTime() <= longest) return []
  const message = `divides at most ${text}: choose interval:hour, interval:auto or a shorter date_range`
  return [{ field: 'group_by.0', message }]
}

/**
 * Checks that a series does not have too many buckets. A series of `interval:auto` in UTC may have any number.
 *
 * @returns the error if it does; it names a larger interval that would fit
 */
export function checkBucketCount(
  token: GroupBy | undefined,
  period: Period,
  zone: string,
): readonly FieldError[] {
  if (token === undefined || !isInterval(token)) return []
  if (token === 'interval:auto' && isUtc(zone)) return []
  const granularity = resolveGranularity(token, period)
  const { longest } = GRANULARITIES[granularity]
  if (longest !== undefined) return checkLength(longest, period, zone)
  if (!hasTooManyBuckets(granularity, period, zone)) return []
  const fitting = FINE_TO_COARSE.find((name) => !hasTooManyBuckets(name, period, zone))
  const other = fitting === undefined ? '' : `interval:${fitting} or `
  const message = `divides the period into more than ${MAX_BUCKETS} buckets: choose ${other}a shorter date_range`
  return [{ field: 'group_by.0', message }]
}

/**
 * @param compared the period that the series is compared with
 * @throws ApiError VALIDATION_ERROR for a series of too many buckets
 */
export function requireFewBuckets(
  { group_by: [token], time_zone: zone = 'UTC' }: AnalyticsQueryRequest,
  period: Period,
  compared?: Period,
): void {
  const errors = [
    ...checkBucketCount(token, period, zone),
    ...checkComparedBuckets(token, period, compared, zone),
  ]
  if (errors.length > 0) throw createValidationError(errors)
}
