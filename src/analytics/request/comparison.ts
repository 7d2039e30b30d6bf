/** Resolves the period that the period of a query is compared with. */
import type { AnalyticsQueryRequest, Preset } from '../../contract/api.js'
import { createValidationError, type ApiError } from '../../contract/errors.js'
import {
  addDays,
  addMs,
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  SECOND_MS,
  startOfDay,
} from '../../lib/time.js'
import { toInstant, toLocal } from '../../lib/time-zone.js'
import {
  getInclusiveEnd,
  isClosed,
  isDateOnly,
  isRelative,
  resolveRange,
  type Period,
  type RelativeRange,
} from './period.js'
import { countBuckets, numberBuckets } from './buckets.js'
import type { Query } from './query.js'

/** By how much a period is moved back: by days and months of the calendar, or by a time. */
type Shift = { readonly months: number } | { readonly days: number } | { readonly ms: number }

/** The shift of each preset to the period before it. A preset that ends now is compared with the part that has elapsed. */
const PRESET_SHIFTS: Readonly<Record<Exclude<Preset, 'all'>, Shift>> = {
  live: { ms: 5 * MINUTE_MS },
  '1hr': { ms: HOUR_MS },
  '24hrs': { ms: DAY_MS },
  today: { days: 1 },
  yesterday: { days: 1 },
  '7days': { days: 7 },
  '28days': { days: 28 },
  '30days': { days: 30 },
  '90days': { days: 90 },
  '3months': { months: 3 },
  '6months': { months: 6 },
  '12months': { months: 12 },
  '1year': { months: 12 },
  this_week: { days: 7 },
  last_week: { days: 7 },
  last_month: { months: 1 },
  last_quarter: { months: 3 },
  last_year: { months: 12 },
  mtd: { months: 1 },
  ytd: { months: 12 },
}

/** No period starts earlier. */
const EARLIEST = new Date('0001-01-01T00:00:00Z')

/**
 * Resolves the period that a query is compared with; undefined if it is compared with none.
 *
 * @throws ApiError VALIDATION_ERROR for a period that starts before the year 1, or of days that the zone skipped
 */
export function resolveComparison(
  request: AnalyticsQueryRequest,
  period: Period,
): Period | undefined {
  const { compare, compare_align: align, date_range: range, time_zone: zone = 'UTC' } = request
  if (compare === undefined) return undefined
  if (typeof compare !== 'string') return resolveRange(compare, zone)
  const shift = alignShift(chooseShift(request, period), request, period, zone)
  const compared = shiftPeriod(period, shift, zone)
  // The month before may have more days.
  if (compare === 'previous_period' && align === undefined && isClosed(range)) {
    return { start: compared.start, end: period.start }
  }
  if (compared.start < EARLIEST) throw refuse('must not start before the year 1')
  if (compared.start >= compared.end) throw refuse(`must not be a day that ${zone} skipped`)
  return compared
}

const refuse = (message: string): ApiError => createValidationError([{ field: 'compare', message }])

function chooseShift({ compare, date_range: range }: AnalyticsQueryRequest, period: Period): Shift {
  if (compare === 'previous_year') return { months: 12 }
  const length = { ms: period.end.getTime() - period.start.getTime() }
  if (typeof range === 'string') return range === 'all' ? length : PRESET_SHIFTS[range]
  if (isRelative(range)) return shiftUnits(range)
  const [from, to] = range
  if (!isDateOnly(from) || !isDateOnly(to)) return length
  return { days: (Date.parse(to) - Date.parse(from)) / DAY_MS + 1 }
}

const shiftUnits = ({ last, unit }: RelativeRange): Shift =>
  unit === 'month' ? { months: last } : { days: unit === 'week' ? 7 * last : last }

/** Makes whole weeks of a shift, if the same weekdays are to be compared: at least as long as the shift, except for a year. */
function alignShift(
  shift: Shift,
  { compare, compare_align: align }: AnalyticsQueryRequest,
  { start }: Period,
  zone: string,
): Shift {
  if (align === undefined) return shift
  if (compare === 'previous_year') return { days: 7 * 52 }
  const shifted = toLocal(zone, shiftStart(start, shift, zone))
  const weeks = (toLocal(zone, start).getTime() - shifted.getTime()) / (7 * DAY_MS)
  return { days: 7 * Math.ceil(weeks) }
}

/** Whether a day of the zone starts at a moment. It need not be midnight. */
const isStartOfDay = (moment: Date, zone: string): boolean =>
  toInstant(zone, startOfDay(toLocal(zone, moment))).getTime() === moment.getTime()

/** Moves a period. The starts and ends of days are moved to starts and ends of days; a period without these keeps its length. */
function shiftPeriod(period: Period, shift: Shift, zone: string): Period {
  const start = shiftStart(period.start, shift, zone)
  if (isStartOfDay(period.end, zone)) {
    const last = startOfDay(toLocal(zone, getInclusiveEnd(period)))
    return { start, end: toInstant(zone, addDays(shiftLocal(last, shift), 1)) }
  }
  if (isStartOfDay(period.start, zone)) {
    const last = toLocal(zone, getInclusiveEnd(period))
    return { start, end: addMs(toInstant(zone, shiftLocal(last, shift)), SECOND_MS) }
  }
  // A clock that is changed in between may show an earlier time at the end.
  return { start, end: addMs(start, period.end.getTime() - period.start.getTime()) }
}

function shiftStart(start: Date, shift: Shift, zone: string): Date {
  if ('ms' in shift) return addMs(start, -shift.ms)
  const local = toLocal(zone, start)
  return toInstant(zone, shiftLocal(isStartOfDay(start, zone) ? startOfDay(local) : local, shift))
}

/** Moves what a clock shows. A day that the month does not have becomes the last one that it has. */
function shiftLocal(local: Date, shift: Shift): Date {
  if ('ms' in shift) return addMs(local, -shift.ms)
  if ('days' in shift) return addDays(local, -shift.days)
  const moved = new Date(local)
  moved.setUTCMonth(moved.getUTCMonth() - shift.months)
  if (moved.getUTCDate() !== local.getUTCDate()) moved.setUTCDate(0)
  return moved
}

/**
 * Returns the key of the last bucket of a time series that is compared: the other period may have fewer buckets. Undefined if all
 * are, and for other queries.
 */
export function findLastCompared({ grouping, period, compared }: Query): number | undefined {
  if (grouping.kind !== 'interval' || compared?.grouping.kind !== 'interval') return undefined
  const { granularity, zoned } = grouping
  const count = countBuckets(granularity, compared.period, compared.grouping.zoned)
  return zoned === undefined
    ? numberBuckets(granularity, period)[0] + count - 1
    : zoned.starts[count - 1]
}
