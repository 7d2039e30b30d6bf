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

/** Reads a series out of an answer. @param now when it was given */
export function readSeries(answer: QueryAnswer, now: Date): Series {
  const { query, period, data, comparison } = answer
  const metric = query.metrics[0] ?? 'users'
  return {
    metric,
    size: query.interval ?? 'day',
    isCompared: comparison !== undefined,
    isRunning: Math.abs(Date.parse(period.to) - now.getTime()) < RUNNING_MS,
    points: data.map(({ group, metrics, comparison: compared }) => ({
      label: group['date'] ?? '',
      value: metrics[metric] ?? undefined,
      compared: compared?.metrics[metric] ?? undefined,
      change: compared?.change[metric] ?? undefined,
    })),
  }
}

/** A period that ends now has its end at the moment of the answer. Clocks may differ by some minutes. */
const RUNNING_MS = 5 * 60_000

/** Adds up what is shown: the highest value of both periods. */
export const findHighest = ({ points }: Series): number =>
  Math.max(0, ...points.flatMap(({ value = 0, compared = 0 }) => [value, compared]))
