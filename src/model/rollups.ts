/** The rollups: one list of all eight, from which their names, columns, relations, views and coverage are derived. */
import { declaredName, type Sql } from '../clickhouse/sql.js'
import { EVENT_SUMS, VISIT_SUMS, type Measure, type SumMeasure } from './measures.js'

/**
 * The groups that a rollup has. `sessions`: one group per session attribute and value, and one group of everything.
 * `pageviews`: one per page. `events`: one per event name, and per event property and value. The columns `dimension`
 * and `value` identify the group of a row.
 */
export type RollupSubject = 'sessions' | 'pageviews' | 'events'

/** The `dimension` of the one group that counts everything. */
export const TOTAL = 'total'

/** The date of a rollup's rows: the day, or the first day of the month. */
export type RollupGrain = 'day' | 'month'

/** The sums of each subject, which are columns of its rollups by the same names. `users` has the groups of all subjects. */
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
  /** The grain as the names of tables spell it. */
  readonly frequency: Frequency
  /** The column of the day, or of the first day of the month. */
  readonly dateColumn: Sql
  /** The columns that hold sums. Empty for `users`, whose rows hold a bitmap in the column `users`. */
  readonly sums: readonly SumMeasure[]
  /** What it measures: its sums, or `users`. */
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

/** The rollups that hold sums, and those that hold bitmaps of users. */
export const SUM_ROLLUPS = ROLLUPS.filter(({ subject }) => subject !== 'users')
export const USER_ROLLUPS = ROLLUPS.filter(({ subject }) => subject === 'users')

export const ROLLUP_NAMES: readonly RollupName[] = ROLLUPS.map(({ name }) => name)

/** Lists the columns of a rollup that hold sums. */
export const listSumColumns = ({ sums }: Rollup): readonly Sql[] =>
  sums.map((measure) => declaredName(measure))
