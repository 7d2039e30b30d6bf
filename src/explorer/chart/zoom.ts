/** The period of one bucket: what a click on a point of the chart zooms into. */
import type { BucketSize } from '../format/dates.js'
import { addDays, addMonths, formatSecond } from '../state/periods.js'
import type { Range } from '../state/state.js'

const HOUR_MS = 3_600_000

/**
 * Finds the period of a bucket.
 *
 * @param labels the starts of all buckets, with their offsets from UTC
 */
export function zoomInto(
  labels: readonly string[],
  index: number,
  size: BucketSize,
): Range | undefined {
  const label = labels[index]
  if (label === undefined) return undefined
  const next = labels[index + 1]
  if (size === 'hour') {
    const end = next === undefined ? Date.parse(label) + HOUR_MS : Date.parse(next)
    return { from: formatSecond(Date.parse(label)), to: formatSecond(end - 1000) }
  }
  // The dates of the labels are those of the time zone of the page, as are those of a period.
  const from = label.slice(0, 10)
  return { from, to: next === undefined ? lastDateOf(from, size) : addDays(next.slice(0, 10), -1) }
}

/** The last date of a bucket that has none after it. @param from its first date */
function lastDateOf(from: string, size: Exclude<BucketSize, 'hour'>): string {
  if (size === 'day') return from
  if (size === 'week') return addDays(from, 6)
  const months = { month: 1, quarter: 3, year: 12 }[size]
  return addDays(addMonths(from, months), -1)
}
