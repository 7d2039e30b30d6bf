/** The intervals that divide a period into as many buckets as the chart shows. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/time.js'
import type { QueryResponse } from '../client/contract.js'
import { CLOCK_MS, isOfClock } from '../format/dates.js'
import { clockIn, endsNow, LIVE_MINUTES, toDates } from './periods.js'
import {
  INTERVALS,
  LIVE,
  type ExplorerState,
  type ShownInterval,
  type ShownPeriod,
} from './state.js'

/** How many buckets the chart shows at most: as many as a response has rows. */
export const MAX_BUCKETS = 1000

/** How many minutes are buckets of the automatic interval at most. */
const MAX_AUTO_MINUTES = 120

/** The period of a response about all time. */
export type AllTime = QueryResponse['period']

/** How a period is divided. */
export interface Division {
  /** The interval of the state, or `auto` if that does not fit. */
  readonly interval: ShownInterval
  /** The interval to ask for: minutes where the automatic one would be at most two hours. */
  readonly asked: ShownInterval
  /** The intervals that fit. `auto` is always one. */
  readonly options: readonly ShownInterval[]
  /** Why it is not the interval of the state; undefined if it is. */
  readonly reason: string | undefined
}

/**
 * Finds the intervals that divide the period of a state into 2 to 1,000 buckets.
 *
 * @param zone the time zone of the page
 * @param allTime the first and the last second of all time; undefined until they are known: then each interval fits
 */
export function divide(
  { period, interval }: Pick<ExplorerState, 'period' | 'interval'>,
  zone: string,
  now: Date,
  allTime: AllTime | undefined,
): Division {
  const span = findSpan(period, zone, now, allTime)
  const count = (size: ShownInterval): number => {
    if (size === 'auto') return MAX_BUCKETS
    // Minutes of a time that may be years are more than the API counts.
    if (span === undefined) return isOfClock(size) && size !== 'hour' ? Infinity : MAX_BUCKETS
    return countBuckets(size, span)
  }
  const fits = (size: ShownInterval): boolean => count(size) >= 2 && count(size) <= MAX_BUCKETS
  const shown = fits(interval) ? interval : 'auto'
  // Today has all its hours on the axis, those that are still to come as well.
  const isShort = period !== 'today' && count('minute') <= MAX_AUTO_MINUTES
  return {
    interval: shown,
    asked: shown === 'auto' && isShort ? 'minute' : shown,
    options: INTERVALS.filter(fits),
    reason: fits(interval) ? undefined : describeMisfit(interval, count(interval)),
  }
}

/** How many buckets a small line has at most: more are closer together than its dots. */
const MAX_LINE_BUCKETS = 100

/** Chooses the interval of a small line, which has no axis; undefined for a period of one day or less. */
export function chooseLineInterval(
  period: ShownPeriod,
  zone: string,
  now: Date,
): 'day' | 'week' | 'month' | undefined {
  const span = findSpan(period, zone, now, undefined)
  if (span === undefined) return 'month'
  if (countBuckets('day', span) < 2) return undefined
  const sizes = ['day', 'week'] as const
  return sizes.find((size) => countBuckets(size, span) <= MAX_LINE_BUCKETS) ?? 'month'
}

/** Names an interval in a sentence: `15 minutes`. */
export const nameSize = (interval: ShownInterval): string =>
  interval.replace(/^\d+/, (count) => `${count} `)

function describeMisfit(interval: ShownInterval, count: number): string {
  const points =
    count === 1
      ? 'one point'
      : `${count.toLocaleString('en')} points, more than the ${MAX_BUCKETS.toLocaleString('en')} that the chart shows`
  return `By ${nameSize(interval)} there would be ${points}: the interval is automatic.`
}

/** The first and the last second of a period as the clock of a zone shows them, each as if it was one in UTC. */
type Span = readonly [first: number, last: number]

/** Finds the span of a period; undefined for all time while that is not known. */
function findSpan(
  period: ShownPeriod,
  zone: string,
  now: Date,
  allTime: AllTime | undefined,
): Span | undefined {
  const clock = (ms: number): number => Date.parse(`${clockIn(zone, new Date(ms))}Z`)
  if (typeof period !== 'string') {
    return [
      isDate(period.from) ? Date.parse(period.from) : clock(Date.parse(period.from)),
      isDate(period.to) ? Date.parse(period.to) + DAY_MS - SECOND_MS : clock(Date.parse(period.to)),
    ]
  }
  if (period === 'all') {
    return allTime && [clock(Date.parse(allTime.from)), clock(Date.parse(allTime.to))]
  }
  const last = clock(now.getTime())
  if (period === 'live') return [last - 5 * 60 * SECOND_MS + SECOND_MS, last]
  if (period === LIVE) {
    const minute = last - (last % MINUTE_MS)
    return [minute - (LIVE_MINUTES - 1) * MINUTE_MS, last]
  }
  if (period === '1hr') return [last - HOUR_MS + SECOND_MS, last]
  if (period === '24hrs') return [last - (last % HOUR_MS) - 23 * HOUR_MS, last]
  const today = new Date(last).toISOString().slice(0, 10)
  const dates = toDates(period, today)
  if (dates === undefined) return undefined
  return [
    Date.parse(dates.from),
    endsNow(period, today) ? last : Date.parse(dates.to) + DAY_MS - SECOND_MS,
  ]
}

const isDate = (text: string): boolean => text.length === 10

/** Counts the buckets of a span. Hours that the zone skips or repeats are not known to it. */
function countBuckets(size: Exclude<ShownInterval, 'auto'>, [first, last]: Span): number {
  const toBucket = BUCKETS[size]
  return toBucket(last) - toBucket(first) + 1
}

/** The numbers of the buckets of a moment. Weeks start on Monday; 1 January 1970 was a Thursday. */
const BUCKETS: Readonly<Record<Exclude<ShownInterval, 'auto'>, (ms: number) => number>> = {
  minute: (ms) => Math.floor(ms / CLOCK_MS.minute),
  '15minutes': (ms) => Math.floor(ms / CLOCK_MS['15minutes']),
  hour: (ms) => Math.floor(ms / CLOCK_MS.hour),
  day: (ms) => Math.floor(ms / DAY_MS),
  week: (ms) => Math.floor((ms / DAY_MS + 3) / 7),
  month: (ms) => new Date(ms).getUTCFullYear() * 12 + new Date(ms).getUTCMonth(),
}
