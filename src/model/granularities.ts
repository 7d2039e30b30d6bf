/** The bucket sizes of a time series. Buckets are numbered, and labelled with their start. */
import { sql, type Sql } from '../clickhouse/sql.js'
import { addDays, DAY_MS, HOUR_MS, MINUTE_MS } from '../lib/time.js'

export interface GranularityRow {
  /**
   * The longest period that `interval:auto` divides into buckets of this size, in milliseconds from its start to its inclusive
   * end. Absent: `interval:auto` never means this size.
   */
  readonly maxLengthMs?: number
  /** How many milliseconds of a clock a bucket has. Absent for buckets of days or longer, which the calendar divides. */
  readonly clockMs?: number
  /** The longest period that may be divided into buckets of this size, in days, and how an error says it. Absent: any period. */
  readonly longest?: { readonly days: number; readonly text: string }
  /** Returns the number of the bucket that a moment lies in. */
  readonly toBucket: (moment: Date) => number
  /** Returns the start of a bucket. */
  readonly toStart: (bucket: number) => Date
  /** `toBucket` in SQL. */
  readonly expression: (time: Sql) => Sql
  /** The same from the day of a moment. Absent for buckets that are shorter than a day. */
  readonly dayExpression?: (day: Sql) => Sql
}

/** From fine to coarse: `interval:auto` takes the first whose `maxLengthMs` the period does not exceed. */
export const FINE_TO_COARSE = [
  'minute',
  '15minutes',
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'year',
] as const

export type Granularity = (typeof FINE_TO_COARSE)[number]

const QUARTER_HOUR_MS = 15 * MINUTE_MS

/** 1 January 1970 was a Thursday: the third day of its ISO week, counted from 0 on Monday. */
const EPOCH_WEEKDAY = 3

const toDayNumber = (moment: Date): number => Math.floor(moment.getTime() / DAY_MS)

const toMonthNumber = (moment: Date): number => moment.getUTCFullYear() * 12 + moment.getUTCMonth()

function startOfMonthNumber(month: number): Date {
  const start = new Date(0)
  // Not Date.UTC(): it reads the years 0 to 99 as 1900 to 1999.
  start.setUTCFullYear(Math.floor(month / 12), month % 12)
  return start
}

/** Writes the number of the month, quarter or year of a moment or day. */
const writeMonth = (time: Sql): Sql => sql`(toYear(${time}) * 12 + toMonth(${time}) - 1)`
const writeQuarter = (time: Sql): Sql => sql`(toYear(${time}) * 4 + toQuarter(${time}) - 1)`
const writeYear = (time: Sql): Sql => sql`toYear(${time})`

export const GRANULARITIES: Readonly<Record<Granularity, GranularityRow>> = {
  minute: {
    clockMs: MINUTE_MS,
    longest: { days: 1, text: '24 hours into minutes' },
    toBucket: (moment) => Math.floor(moment.getTime() / MINUTE_MS),
    toStart: (bucket) => new Date(bucket * MINUTE_MS),
    expression: (time) => sql`intDiv(toUnixTimestamp64Milli(${time}), 60000)`,
  },
  '15minutes': {
    clockMs: QUARTER_HOUR_MS,
    longest: { days: 15, text: '15 days into buckets of 15 minutes' },
    toBucket: (moment) => Math.floor(moment.getTime() / QUARTER_HOUR_MS),
    toStart: (bucket) => new Date(bucket * QUARTER_HOUR_MS),
    expression: (time) => sql`intDiv(toUnixTimestamp64Milli(${time}), 900000)`,
  },
  hour: {
    maxLengthMs: 48 * HOUR_MS,
    clockMs: HOUR_MS,
    toBucket: (moment) => Math.floor(moment.getTime() / HOUR_MS),
    toStart: (bucket) => new Date(bucket * HOUR_MS),
    expression: (time) => sql`intDiv(toUnixTimestamp64Milli(${time}), 3600000)`,
  },
  day: {
    maxLengthMs: 92 * DAY_MS,
    toBucket: toDayNumber,
    toStart: (bucket) => addDays(new Date(0), bucket),
    expression: (time) => sql`intDiv(toUnixTimestamp64Milli(${time}), 86400000)`,
    dayExpression: (day) => sql`toInt64(${day})`,
  },
  week: {
    maxLengthMs: 184 * DAY_MS,
    toBucket: (moment) => Math.floor((toDayNumber(moment) + EPOCH_WEEKDAY) / 7),
    toStart: (bucket) => addDays(new Date(0), bucket * 7 - EPOCH_WEEKDAY),
    expression: (time) => sql`intDiv(intDiv(toUnixTimestamp64Milli(${time}), 86400000) + 3, 7)`,
    dayExpression: (day) => sql`intDiv(toInt64(${day}) + 3, 7)`,
  },
  month: {
    maxLengthMs: Infinity,
    toBucket: toMonthNumber,
    toStart: startOfMonthNumber,
    expression: writeMonth,
    dayExpression: writeMonth,
  },
  quarter: {
    toBucket: (moment) => Math.floor(toMonthNumber(moment) / 3),
    toStart: (bucket) => startOfMonthNumber(bucket * 3),
    expression: writeQuarter,
    dayExpression: writeQuarter,
  },
  year: {
    toBucket: (moment) => moment.getUTCFullYear(),
    toStart: (bucket) => startOfMonthNumber(bucket * 12),
    expression: writeYear,
    dayExpression: writeYear,
  },
}
