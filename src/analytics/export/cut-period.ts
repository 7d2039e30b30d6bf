/** Cuts a period into slices with few events each. */
import { addMs, DAY_MS, HOUR_MS, SECOND_MS } from '../../lib/time.js'
import type { Period } from '../request/period.js'

/** The number of events in a bucket of time. Buckets without events are left out. */
export interface BucketCount {
  /** The start of the bucket in milliseconds since 1970, a multiple of its length. */
  readonly start: number
  readonly events: number
}

/** Counts the events of a period by buckets of some milliseconds; the earliest bucket comes first. */
export type CountEvents = (period: Period, bucketMs: number) => Promise<readonly BucketCount[]>

/** The most events of a slice, unless they lie in a single millisecond. A client has to read them within a minute. */
export const MAX_SLICE_EVENTS = 100_000

/** The lengths of buckets in milliseconds. Buckets with too many events are counted by the next one. */
const BUCKETS: readonly number[] = [DAY_MS, HOUR_MS, SECOND_MS, 1]

/** Cuts a period into slices, in their order. Times without events are in none. Finer counts are taken when they are needed. */
export async function* cutPeriod(
  period: Period,
  count: CountEvents,
  maxEvents = MAX_SLICE_EVENTS,
  [bucketMs = 1, ...finer]: readonly number[] = BUCKETS,
): AsyncGenerator<Period> {
  for (const slice of packBuckets(await count(period, bucketMs), bucketMs, maxEvents)) {
    const clipped = clip(slice, period)
    if (slice.events <= maxEvents || finer.length === 0) yield clipped
    else yield* cutPeriod(clipped, count, maxEvents, finer)
  }
}

interface Slice extends Period {
  readonly events: number
}

/** Joins buckets, from the first on, as long as their events are not too many. */
function packBuckets(
  counts: readonly BucketCount[],
  bucketMs: number,
  maxEvents: number,
): readonly Slice[] {
  const slices: Slice[] = []
  for (const { start, events } of counts) {
    const end = new Date(start + bucketMs)
    const last = slices.at(-1)
    if (last !== undefined && last.events + events <= maxEvents) {
      slices[slices.length - 1] = { start: last.start, end, events: last.events + events }
    } else slices.push({ start: addMs(end, -bucketMs), end, events })
  }
  return slices
}

const clip = ({ start, end }: Period, period: Period): Period => ({
  start: start < period.start ? period.start : start,
  end: end > period.end ? period.end : end,
})
