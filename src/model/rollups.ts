/** The rollups: one table of all eight, from which their names, columns, relations, views and coverage follow. */
import { declaredName, type Sql } from '../clickhouse/sql.js'
import { EVENT_SUMS, VISIT_SUMS, type Measure, type SumMeasure } from './measures.js'

/**
 * Which groups a rollup has: `sessions` by session attributes, and one of everything; `pageviews` by page; `events` by
 * the name and the properties of events. Each group has its rows under a `dimension` and a `value`.
 */
export type RollupSubject = 'sessions' | 'pageviews' | 'events'

/** The `dimension` of the one group that counts everything. */
export const TOTAL = 'total'

/** How a rollup's rows are dated: by the day, or by the first day of the month. */
export type RollupGrain = 'day' | 'month'

/** Measures of each subject, which its rollups have as columns of the same names; `users` has the groups of all subjects. */
const SUBJECTS = [
  { subject: 'sessions', sums: [...EVENT_SUMS, ...VISIT_SUMS] },
  { subject: 'pageviews', sums: [...EVENT_SUMS, ...VISIT_SUMS] },
  { subject: 'events', sums: EVENT_SUMS },
  { subject: 'users', sums: [] },
] as const

const GRAINS = [
  { grain: 'day', frequency: 'daily' },
  { grain: 'month', frequency: 'monthly' },
] as const

type Frequency = (typeof GRAINS)[number]['frequency']
export type RollupName = `${RollupSubject | 'users'}_${Frequency}`

export interface Rollup {
  readonly name: RollupName
  readonly subject: RollupSubject | 'users'
  readonly grain: RollupGrain
  /** The grain as names of tables have it. */
  readonly frequency: Frequency
  /** The column of the day, or of the first day of the month. */
  readonly dateColumn: Sql
  /** The columns that its rows add up. Empty for `users`, whose rows hold a bitmap in the column `users`. */
  readonly sums: readonly SumMeasure[]
  readonly measures: readonly Measure[]
}

export const ROLLUPS: readonly Rollup[] = SUBJECTS.flatMap(({ subject, sums }) =>
  GRAINS.map(({ grain, frequency }) => ({
    name: `${subject}_${frequency}` as const,
    subject,
    grain,
    frequency,
    dateColumn: declaredName(grain),
    sums,
    measures: subject === 'users' ? ['users'] : sums,
  })),
)

/** Rollups that add up, and those that hold bitmaps of users. */
export const SUM_ROLLUPS = ROLLUPS.filter(({ subject }) => subject !== 'users')
export const USER_ROLLUPS = ROLLUPS.filter(({ subject }) => subject === 'users')

export const ROLLUP_NAMES: readonly RollupName[] = ROLLUPS.map(({ name }) => name)

/** The columns that a rollup adds up. */
export const listSumColumns = ({ sums }: Rollup): readonly Sql[] =>
  sums.map((measure) => declaredName(measure))
