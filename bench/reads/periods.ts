/** The periods of the queries, all within the generated year. */
import { sql, type Sql } from '../../src/clickhouse/sql.js'

/** A period, as requested and as resolved. */
export interface BenchPeriod {
  readonly name: string
  readonly range: readonly [string, string]
  readonly start: Date
  /** Exclusive. */
  readonly end: Date
  /** Writes the bucket of `interval:auto` for a time; `step` is the length of a bucket. */
  readonly bucket: (time: Sql) => Sql
  readonly step: Sql
}

/** Parts of two months. */
export const MONTH: BenchPeriod = {
  name: '30 days',
  range: ['2025-05-17', '2025-06-15'],
  start: new Date('2025-05-17T00:00:00Z'),
  end: new Date('2025-06-16T00:00:00Z'),
  bucket: (time) => sql`toDate(${time})`,
  step: sql`INTERVAL 1 DAY`,
}
/** Two whole months and parts of two others. */
export const QUARTER: BenchPeriod = {
  ...MONTH,
  name: '90 days',
  range: ['2025-03-18', '2025-06-15'],
  start: new Date('2025-03-18T00:00:00Z'),
}
export const YEAR: BenchPeriod = {
  name: '12 months',
  range: ['2025-01-01', '2025-12-31'],
  start: new Date('2025-01-01T00:00:00Z'),
  end: new Date('2026-01-01T00:00:00Z'),
  bucket: (time) => sql`toStartOfMonth(${time})`,
  step: sql`INTERVAL 1 MONTH`,
}
/** Ends within a day and within a month: no rollup covers its end. */
export const COMPOSED: BenchPeriod = {
  ...YEAR,
  name: '12 months that end mid-day',
  range: ['2025-01-01', '2025-12-20T15:30:00Z'],
  end: new Date('2025-12-20T15:30:01Z'),
}
