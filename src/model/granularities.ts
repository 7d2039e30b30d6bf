/** The bucket sizes of a time series: buckets are counted from the epoch, and labelled with their start. */
import { sql, type Sql } from '../clickhouse/sql.js'

export type Granularity = 'hour' | 'day' | 'week' | 'month'

export interface GranularityRow {
  /** The longest period that is cut this way, in milliseconds from its start to its inclusive end. */
  readonly upTo: number
  /** The number of the bucket that a moment lies in. */
  readonly bucketOf: (moment: Date) => number
  /** The start of a bucket. */
  readonly startOf: (bucket: number) => Date
  /** `bucketOf` in SQL. */
  readonly expression: (time: Sql) => Sql
}

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** 1 January 1970 was a Thursday: the third day of its ISO week, counted from 0 on Monday. */
const EPOCH_WEEKDAY = 3

const dayOf = (moment: Date): number => Math.floor(moment.getTime() / DAY)

/** From fine to coarse; the first that a period fits is taken. */
export const GRANULARITIES: Readonly<Record<Granularity, GranularityRow>> = {
  hour: {
    upTo: 48 * HOUR,
    bucketOf: (moment) => Math.floor(moment.getTime() / HOUR),
    startOf: (bucket) => new Date(bucket * HOUR),
    expression: (time) => sql`intDiv(toUnixTimestamp64Milli(${time}), 3600000)`,
  },
  day: {
    upTo: 92 * DAY,
    bucketOf: dayOf,
    startOf: (bucket) => new Date(bucket * DAY),
    expression: (time) => sql`intDiv(toUnixTimestamp64Milli(${time}), 86400000)`,
  },
  week: {
    upTo: 184 * DAY,
    bucketOf: (moment) => Math.floor((dayOf(moment) + EPOCH_WEEKDAY) / 7),
    startOf: (bucket) => new Date((bucket * 7 - EPOCH_WEEKDAY) * DAY),
    expression: (time) => sql`intDiv(intDiv(toUnixTimestamp64Milli(${time}), 86400000) + 3, 7)`,
  },
  month: {
    upTo: Infinity,
    bucketOf: (moment) => moment.getUTCFullYear() * 12 + moment.getUTCMonth(),
    startOf: (bucket) => {
      const start = new Date(0)
      start.setUTCFullYear(Math.floor(bucket / 12), bucket % 12)
      return start
    },
    expression: (time) => sql`(toYear(${time}) * 12 + toMonth(${time}) - 1)`,
  },
}
