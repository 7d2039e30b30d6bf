/** The measures: what scans count. Metrics are computed from them. */
import { declaredName, type Sql } from '../clickhouse/sql.js'
import { buildRecord } from '../lib/records.js'

/** The sums over rows of `events`, and those over rows of `sessions`. */
export const EVENT_SUMS = ['pageviews', 'events'] as const
export const VISIT_SUMS = ['visits', 'bounces', 'duration'] as const

/** Measures that are plain sums: results of several scans add up. `duration` is in milliseconds. */
export type SumMeasure = (typeof EVENT_SUMS)[number] | (typeof VISIT_SUMS)[number]

/**
 * `users` is the number of different users: results of several scans do not add up, but are united as bitmaps. `new_users` are
 * those of them who had no event before; no relation has them, because that takes the events before the period, too.
 */
export type Measure = SumMeasure | 'users' | 'new_users'

const MEASURES: readonly Measure[] = ['users', 'new_users', ...EVENT_SUMS, ...VISIT_SUMS]

/** The name of each measure's column in a scan. No table has a column of this name, so it is never ambiguous. */
export const MEASURE_COLUMNS: Readonly<Record<Measure, Sql>> = buildRecord(MEASURES, (measure) =>
  declaredName(`measure_${measure}`),
)
