/** The buckets of a time series in a time zone. */
import { LRUCache } from 'lru-cache'
import { addMs, MINUTE_MS, SECOND_MS } from '../../lib/time.js'
import { isUtc, listClockSteps, toInstant, toLocal } from '../../lib/time-zone.js'
import { GRANULARITIES, type Granularity } from '../../model/granularities.js'
import { getInclusiveEnd, type Period } from './period.js'

/**
 * The buckets of a zone other than UTC. They need not be equally long, so they are listed, and known to statements by their
 * starts alone.
 */
export interface ZonedBuckets {
  readonly zone: string
  /** The starts of all buckets in seconds since 1970, ascending. The first may lie before the period. */
  readonly starts: readonly number[]
}

/** Returns the number of the first bucket of a size in a period, and of the last; in UTC. */
export function numberBuckets(granularity: Granularity, period: Period): readonly [number, number] {
  const { toBucket } = GRANULARITIES[granularity]
  return [toBucket(period.start), toBucket(getInclusiveEnd(period))]
}

/** Lists the buckets of a period; undefined in UTC, where they are numbered. */
export function listZonedBuckets(
  granularity: Granularity,
  period: Period,
  zone: string,
): ZonedBuckets | undefined {
  if (isUtc(zone)) return undefined
  const [from, to] = [period.start.getTime() / SECOND_MS, period.end.getTime() / SECOND_MS]
  const around = listStarts(granularity, period, zone)
  // A day that the zone skips would start with the next one; a day may start before the hour that is repeated.
  const isWithin = (start: number, i: number): boolean =>
    start < to && (around[i + 1] ?? Infinity) > Math.max(start, from)
  return { zone, starts: around.filter(isWithin) }
}

/** How many starts of buckets are remembered: a query is resolved several times, and asked again soon. */
const remembered = new LRUCache<string, readonly number[]>({
  maxSize: 200_000,
  sizeCalculation: ({ length }) => length + 1,
})

/** Lists the starts of the buckets of a period, and of some before or after it. */
function listStarts(granularity: Granularity, period: Period, zone: string): readonly number[] {
  const { clockMs, toBucket } = GRANULARITIES[granularity]
  const [first, last] =
    clockMs === undefined
      ? [
          toBucket(toLocal(zone, period.start)),
          toBucket(toLocal(zone, getInclusiveEnd(period))) + 1,
        ]
      : numberBuckets(granularity, period)
  const name = [zone, granularity, first, last].join(' ')
  const known = remembered.get(name)
  if (known !== undefined) return known
  const starts = computeStarts(granularity, first, last, zone).map((ms) => ms / SECOND_MS)
  remembered.set(name, starts)
  return starts
}

function computeStarts(
  granularity: Granularity,
  first: number,
  last: number,
  zone: string,
): readonly number[] {
  const { clockMs, toStart } = GRANULARITIES[granularity]
  // Clocks are set at full minutes.
  if (clockMs === MINUTE_MS) {
    return Array.from({ length: last - first + 1 }, (_, i) => toStart(first + i).getTime())
  }
  if (clockMs !== undefined) {
    return listClockSteps(zone, clockMs, toStart(first), addMs(toStart(last), clockMs))
  }
  return Array.from({ length: last - first + 1 }, (_, i) =>
    toInstant(zone, toStart(first + i)).getTime(),
  )
}

/** How many buckets an explicit or a zoned series may have. */
export const MAX_BUCKETS = 10_000

/** Whether a period has more buckets of a size than a series may have. */
export function hasTooManyBuckets(granularity: Granularity, period: Period, zone: string): boolean {
  const [first, last] = numberBuckets(granularity, period)
  const count = last - first + 1
  // A zone has a few hours more or less than UTC. Listing them takes time, so it is not done where it decides nothing.
  if (isUtc(zone) || count < MAX_BUCKETS / 2 || count > 2 * MAX_BUCKETS) return count > MAX_BUCKETS
  return (listZonedBuckets(granularity, period, zone)?.starts.length ?? 0) > MAX_BUCKETS
}

/** Counts the buckets of a series. */
export const countBuckets = (
  granularity: Granularity,
  period: Period,
  zoned: ZonedBuckets | undefined,
): number => {
  const [first, last] = numberBuckets(granularity, period)
  return zoned?.starts.length ?? last - first + 1
}
