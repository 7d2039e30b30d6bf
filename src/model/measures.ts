/** The measures: metrics are computed from them, and measures of different scans add up. */
import { declaredName, type Sql } from '../clickhouse/sql.js'
import { buildRecord } from '../lib/records.js'

/** What rows of `events` are counted for, and what rows of `sessions` are. */
export const EVENT_SUMS = ['pageviews', 'events'] as const
export const VISIT_SUMS = ['visits', 'bounces', 'duration'] as const

/** Measures that are plain sums. `duration` is in milliseconds. */
export type SumMeasure = (typeof EVENT_SUMS)[number] | (typeof VISIT_SUMS)[number]

/** `users` is the number of different users: two parts are united as bitmaps, they do not add up. */
export type Measure = SumMeasure | 'users'

const MEASURES: readonly Measure[] = ['users', ...EVENT_SUMS, ...VISIT_SUMS]

/** The column that a scan names each measure. No table has a column of that name, so none can be meant by it. */
export const MEASURE_COLUMNS: Readonly<Record<Measure, Sql>> = buildRecord(MEASURES, (measure) =>
  declaredName(`measure_${measure}`),
)
