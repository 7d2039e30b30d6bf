/** The points of the chart, from the response to its query, and the period that a click on a point zooms into. */
import type { MetricName, QueryResponse } from '../client/contract.js'
import type { BucketSize } from '../format/dates.js'
import { addDays, addMonths, formatSecond } from '../state/periods.js'
import type { Range } from '../state/state.js'

export interface Point {
  /** The start of the bucket, with its offset from UTC. */
  readonly label: string
  /** Undefined if the bucket has no value, such as the bounce rate of no visits. */
  readonly value: number | undefined
  /** The value of the bucket that it is compared with, and the change from there. */
  readonly compared?: number | undefined
  /** The day or month that it is compared with, as the start of the bucket; undefined for buckets of other sizes. */
  readonly comparedLabel?: string | undefined
  readonly change?: number | undefined
}

export interface Series {
  readonly metric: MetricName
  readonly size: BucketSize
  readonly points: readonly Point[]
  readonly isCompared: boolean
  /** How many buckets the period has; more than points if a response does not have room for all. */
  readonly total: number
  /** Whether the last bucket still runs, so that its value is not final. */
  readonly isRunning: boolean
}

/**
 * Reads a series out of a response. Buckets at its end that have not begun are left out, unless they have events already.
 *
 * @param endsNow whether the period ends at the moment of the response
 * @param now that moment
 */
export function readSeries(response: QueryResponse, endsNow: boolean, now: Date): Series {
  const { query, period, data, comparison, pagination } = response
  const [metric = 'users'] = query.metrics.filter((one) => typeof one === 'string')
  const size = query.interval ?? 'day'
  const last = data.findLastIndex(
    ({ group, metrics }) =>
      endsNow || Date.parse(group['date'] ?? '') <= now.getTime() || (metrics[metric] ?? 0) !== 0,
  )
  const hasAll = pagination.total <= data.length
  return {
    metric,
    size,
    isCompared: comparison !== undefined,
    total: hasAll ? last + 1 : pagination.total,
    isRunning: hasAll && (endsNow || Date.parse(period.to) > now.getTime()),
    points: data.slice(0, last + 1).map(({ group, metrics, comparison: compared }, i) => ({
      label: group['date'] ?? '',
      value: metrics[metric] ?? undefined,
      compared: compared?.metrics[metric] ?? undefined,
      comparedLabel: comparison && findCompared(comparison.period.from, i, size),
      change: compared?.change[metric] ?? undefined,
    })),
  }
}

/**
 * Finds the bucket that another one is compared with: that of the same number in the other period. The date is that of the
 * time zone, as it is written. Hours and weeks would need the zone itself.
 *
 * @param from the start of the other period, such as `2026-03-29T00:00:00+01:00`
 * @param index the number of the bucket, from 0
 */
function findCompared(from: string, index: number, size: BucketSize): string | undefined {
  const date = new Date(`${from.slice(0, 10)}T00:00:00Z`)
  if (size === 'day') date.setUTCDate(date.getUTCDate() + index)
  else if (size === 'month') date.setUTCMonth(date.getUTCMonth() + index, 1)
  else return undefined
  return date.toISOString()
}

/** Says which points are left out; undefined if none is. */
export function describeLeftOut({ points, total }: Series): string | undefined {
  const format = (count: number): string => count.toLocaleString('en')
  return total > points.length
    ? `Only the first ${format(points.length)} of ${format(total)} points are shown. A shorter period has fewer.`
    : undefined
}

/** The highest value of both periods. */
export const findHighest = ({ points }: Series): number =>
  Math.max(0, ...points.flatMap(({ value = 0, compared = 0 }) => [value, compared]))

const LENGTHS = { minute: 60_000, hour: 3_600_000 }

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
  if (size === 'hour' || size === 'minute') {
    const end = next === undefined ? Date.parse(label) + LENGTHS[size] : Date.parse(next)
    return { from: formatSecond(Date.parse(label)), to: formatSecond(end - 1000) }
  }
  // The dates of the labels are those of the time zone of the page, as are those of a period.
  const from = label.slice(0, 10)
  return { from, to: next === undefined ? lastDateOf(from, size) : addDays(next.slice(0, 10), -1) }
}

/** The last date of a bucket that has none after it. @param from its first date */
function lastDateOf(from: string, size: Exclude<BucketSize, 'hour' | 'minute'>): string {
  if (size === 'day') return from
  if (size === 'week') return addDays(from, 6)
  const months = { month: 1, quarter: 3, year: 12 }[size]
  return addDays(addMonths(from, months), -1)
}
