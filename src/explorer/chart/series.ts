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
  return {
    metric,
    size: query.interval ?? 'day',
    isCompared: comparison !== undefined,
    isRunning: endsNow || Date.parse(period.to) > now.getTime(),
    points: data
      .filter(({ group }) => endsNow || Date.parse(group['date'] ?? '') <= now.getTime())
      .map(({ group, metrics, comparison: compared }) => ({
        label: group['date'] ?? '',
        value: metrics[metric] ?? undefined,
        compared: compared?.metrics[metric] ?? undefined,
        change: compared?.change[metric] ?? undefined,
      })),
  }
}

/** The highest value of both periods. */
export const findHighest = ({ points }: Series): number =>
  Math.max(0, ...points.flatMap(({ value = 0, compared = 0 }) => [value, compared]))
