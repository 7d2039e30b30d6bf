/** The points of the chart, from the answer to its question. */
import type { BucketSize } from '../format/dates.js'
import type { MetricName, QueryAnswer } from '../client/contract.js'

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
  /** Whether the last bucket still runs, so that its value is not final. */
  readonly isRunning: boolean
}

/**
 * Reads a series out of an answer. Buckets that have not begun are left out.
 *
 * @param endsNow whether the period ends at the moment of the answer
 * @param now that moment
 */
export function readSeries(answer: QueryAnswer, endsNow: boolean, now: Date): Series {
  const { query, period, data, comparison } = answer
  const metric = query.metrics[0] ?? 'users'
  const size = query.interval ?? 'day'
  return {
    metric,
    size,
    isCompared: comparison !== undefined,
    isRunning: endsNow || Date.parse(period.to) > now.getTime(),
    points: data
      .filter(({ group }) => endsNow || Date.parse(group['date'] ?? '') <= now.getTime())
      .map(({ group, metrics, comparison: compared }, i) => ({
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

/** The highest value of both periods. */
export const findHighest = ({ points }: Series): number =>
  Math.max(0, ...points.flatMap(({ value = 0, compared = 0 }) => [value, compared]))
