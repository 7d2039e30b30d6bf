/** The measures: what scans count. Metrics are computed from them. */
import { declaredName, sql, type Sql } from '../clickhouse/sql.js'
import { buildRecord } from '../lib/records.js'
import { getGoalColumn, type GoalMeasure } from './goals.js'
import { getNoNumbers, getNumberColumn, mergeNumbers, type NumberMeasure } from './numbers.js'

/** The sums over rows of `events`, and those over rows of `sessions`. */
export const EVENT_SUMS = ['pageviews', 'events'] as const
export const VISIT_SUMS = ['visits', 'bounces', 'duration'] as const

/** Measures that are plain sums: results of several scans add up. `duration` is in milliseconds. */
export type SumMeasure = (typeof EVENT_SUMS)[number] | (typeof VISIT_SUMS)[number]

/**
 * `users` is the number of different users: results of several scans do not add up, but are united as bitmaps. `new_users` are
 * those of them who had no event before; no relation has them, because that takes the events before the period, too.
 */
export type NamedMeasure = SumMeasure | 'users' | 'new_users'

/** What is computed from events alone: from the numbers in a property, or from the conversions of a goal. */
type EventMeasure = NumberMeasure | GoalMeasure

/** Measures with a name, and those of events alone. */
export type Measure = NamedMeasure | EventMeasure

const MEASURES: readonly NamedMeasure[] = ['users', 'new_users', ...EVENT_SUMS, ...VISIT_SUMS]

/** The name of each measure's column in a scan. No table has a column of this name, so it is never ambiguous. */
export const MEASURE_COLUMNS: Readonly<Record<NamedMeasure, Sql>> = buildRecord(
  MEASURES,
  (measure) => declaredName(`measure_${measure}`),
)

/** Whether a measure is one that events alone have. */
export const isOfEvents = (measure: Measure): measure is EventMeasure => typeof measure === 'object'

/** Whether a measure is one of the numbers in a property. */
export const isOfNumbers = (measure: Measure): measure is NumberMeasure =>
  isOfEvents(measure) && 'property' in measure

/** Returns the name of the column of a measure in a scan. */
export function getColumn(measure: Measure): Sql {
  if (isOfNumbers(measure)) return getNumberColumn(measure)
  return isOfEvents(measure) ? getGoalColumn(measure) : MEASURE_COLUMNS[measure]
}

/** Merges a measure of several groups. @param column that of the measure. Users of different groups do not add up. */
export const mergeMeasure = (measure: Measure, column: Sql): Sql =>
  isOfNumbers(measure) ? mergeNumbers(measure, column) : sql`sum(${column})`

/** Returns the value of a measure for a group without rows. Bitmaps of users have another one. */
export const getNothing = (measure: Measure): Sql =>
  isOfNumbers(measure) ? getNoNumbers(measure) : sql`0`
