/** Which buckets the axis of time names: hours, midnights, Mondays, firsts of months, quarters or years. */
import { DAY_MS, MINUTE_MS } from '../../lib/time.js'
import { type BucketSize, CLOCK_MS, isOfClock, isWeekend, readClock } from '../format/dates.js'

const countMonths = (ms: number): number => {
  const date = new Date(ms)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** Numbers the units of time, the finest first: a bucket with another number than the one before it starts a unit. */
const UNITS: readonly ((ms: number) => number)[] = [
  ...[1, 5, 10, 15, 30, 60, 180, 360, 720, 1440].map(
    (minutes) => (ms: number) => Math.floor(ms / (minutes * MINUTE_MS)),
  ),
  // 5 January 1970 was a Monday.
  ...[1, 2].map((weeks) => (ms: number) => Math.floor((ms / DAY_MS + 3) / (7 * weeks))),
  ...[1, 3, 6, 12, 24, 60, 120, 300, 600].map(
    (months) => (ms: number) => Math.floor(countMonths(ms) / months),
  ),
]

/** How long before a bucket the one before it has begun at the latest. */
const STEP_MS: Readonly<Record<BucketSize, number>> = {
  ...CLOCK_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: DAY_MS,
  quarter: DAY_MS,
  year: DAY_MS,
}

/**
 * Chooses which buckets the axis names: those that start a unit. It takes the finest unit whose names all have room.
 *
 * @param labels the starts of the buckets, with their offsets from UTC
 * @param room how many names fit beside each other
 * @returns indexes of buckets
 */
export function chooseTicks(
  labels: readonly string[],
  size: BucketSize,
  room: number,
): readonly number[] {
  const clocks = labels.map(readClock)
  const all = clocks.map((_, i) => i)
  for (const toUnit of UNITS) {
    const starts = all.filter(
      (i) => toUnit(clocks[i] ?? 0) !== toUnit(clocks[i - 1] ?? (clocks[i] ?? 0) - STEP_MS[size]),
    )
    if (starts.length > 0 && starts.length <= Math.max(1, room)) return starts
  }
  return all.slice(0, 1)
}

/** Finds the stretches of buckets that lie on weekends, as the first and the last index of each. Longer buckets than days have none. */
export function listWeekends(
  labels: readonly string[],
  size: BucketSize,
): readonly (readonly [first: number, last: number])[] {
  if (size !== 'day' && !isOfClock(size)) return []
  const stretches: (readonly [number, number])[] = []
  for (const [i, label] of labels.entries()) {
    if (!isWeekend(label)) continue
    const [first, last] = stretches.at(-1) ?? [i, i - 2]
    if (last === i - 1) stretches.splice(-1, 1, [first, i])
    else stretches.push([i, i])
  }
  return stretches
}
