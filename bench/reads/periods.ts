/** The periods that are asked for, all within the generated year. */
import { sql, type Sql } from '../../src/clickhouse/sql.js'

/** A period, as it is asked for and as it is. */
export interface BenchPeriod {
  readonly name: string
  readonly range: readonly [string, string]
  readonly start: Date
  /** Where it is over. */
  readonly end: Date
  /** The bucket of `interval:auto` that a moment lies in, and how far it is to the next. */
  readonly bucket: (time: Sql) => Sql
  readonly step: Sql
}

/** Days of two months, neither of them whole. */
export const MONTH: BenchPeriod = {
  name: '30 days',
  range: ['2025-05-17', '2025-06-15'],
  start: new Date('2025-05-17T00:00:00Z'),
  end: new Date('2025-06-16T00:00:00Z'),
  bucket: (time) => sql`toDate(${time})`,
  step: sql`INTERVAL 1 DAY`,
}
export const YEAR: BenchPeriod = {
  name: '12 months',
  range: ['2025-01-01', '2025-12-31'],
  start: new Date('2025-01-01T00:00:00Z'),
  end: new Date('2026-01-01T00:00:00Z'),
  bucket: (time) => sql`toStartOfMonth(${time})`,
  step: sql`INTERVAL 1 MONTH`,
}
/** No rollup has its last day, and no month its December. */
export const COMPOSED: BenchPeriod = {
  ...YEAR,
  name: '12 months that end mid-day',
  range: ['2025-01-01', '2025-12-20T15:30:00Z'],
  end: new Date('2025-12-20T15:30:01Z'),
}
