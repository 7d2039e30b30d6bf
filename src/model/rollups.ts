/** The rollups: one list of all eleven, from which their names, columns, relations, views and coverage are derived. */
import { declaredName, join, sql, type Sql } from '../clickhouse/sql.js'
import { EVENT_SUMS, VISIT_SUMS, type NamedMeasure, type SumMeasure } from './measures.js'
import { NUMBER_SUMS } from './numbers.js'

/**
 * The groups that a rollup has. `sessions`: one group per session attribute and value, and one group of everything.
 * `pageviews`: one per page. `events`: one per event name, and per event property and value. The columns `dimension`
 * and `value` identify the group of a row. `pairs`: one group per pair of values of two dimensions (`pairs.ts`); the second value is in
 * the column `other`. `numbers`: one group per property, value of a dimension and currency (`number-sums.ts`); the currency is in `other`.
 */
export type RollupSubject = 'sessions' | 'pageviews' | 'events' | 'pairs' | 'numbers'

/** The groups whose users a rollup has as bitmaps: those of all single dimensions, or those of pairs. */
export type UserSubject = 'users' | 'pair_users'

/** The `dimension` of the one group that counts everything. */
export const TOTAL = 'total'

/** The date of a rollup's rows: the day, or the first day of the month. */
export type RollupGrain = 'day' | 'month'

const DAILY = { grain: 'day', frequency: 'daily' } as const
const MONTHLY = { grain: 'month', frequency: 'monthly' } as const
const GRAINS = [DAILY, MONTHLY] as const

const GROUP = [sql`dimension`, sql`value`]
const PAIR = [...GROUP, sql`other`]

/**
 * The sums of each subject, which are columns of its rollups by the same names. `users` has the groups of all single dimensions. Pairs
 * are counted by month only: by day there would be nearly as many as events. Sums of numbers are monthly as well. They are listed before
 * `events`, so the planner prefers them to the values of a property, which take longer to add up.
 */
const SUBJECTS = [
  { subject: 'numbers', sums: NUMBER_SUMS, grains: [MONTHLY], group: PAIR },
  { subject: 'sessions', sums: [...EVENT_SUMS, ...VISIT_SUMS], grains: GRAINS, group: GROUP },
  { subject: 'pageviews', sums: [...EVENT_SUMS, ...VISIT_SUMS], grains: GRAINS, group: GROUP },
  { subject: 'events', sums: EVENT_SUMS, grains: GRAINS, group: GROUP },
  { subject: 'users', sums: [], grains: GRAINS, group: GROUP },
  { subject: 'pairs', sums: [...EVENT_SUMS, ...VISIT_SUMS], grains: [MONTHLY], group: PAIR },
  { subject: 'pair_users', sums: [], grains: [MONTHLY], group: PAIR },
] as const

type Frequency = (typeof GRAINS)[number]['frequency']
export type RollupName =
  | `${Exclude<RollupSubject, 'pairs' | 'numbers'> | 'users'}_${Frequency}`
  | 'pairs_monthly'
  | 'pair_users_monthly'
  | 'numbers_monthly'

/** A column that holds sums. */
type RollupSum = SumMeasure | (typeof NUMBER_SUMS)[number]

export interface Rollup {
  readonly name: RollupName
  readonly subject: RollupSubject | UserSubject
  readonly grain: RollupGrain
  /** The grain as the names of tables spell it. */
  readonly frequency: Frequency
  /** The column of the day, or of the first day of the month. */
  readonly dateColumn: Sql
  /** The columns that name a group within a project. */
  readonly group: readonly Sql[]
  /** The columns that hold sums. Empty for rollups of users, whose rows hold a bitmap in the column `users`. */
  readonly sums: readonly RollupSum[]
  /** What it measures: its sums, or `users`. */
  readonly measures: readonly (NamedMeasure | RollupSum)[]
}

export const ROLLUPS: readonly Rollup[] = SUBJECTS.flatMap(({ subject, sums, grains, group }) =>
  grains.map(({ grain, frequency }) => ({
    name: `${subject}_${frequency}` as RollupName,
    subject,
    grain,
    frequency,
    dateColumn: declaredName(grain),
    group,
    sums,
    measures: sums.length === 0 ? ['users'] : sums,
  })),
)

/** The rollups that hold sums, and those that hold bitmaps of users. */
export const SUM_ROLLUPS = ROLLUPS.filter(({ sums }) => sums.length > 0)
export const USER_ROLLUPS = ROLLUPS.filter(({ sums }) => sums.length === 0)

const OF_PAIRED_PROJECTS: readonly string[] = ['pairs', 'pair_users', 'numbers']

/** Whether only paired projects have a rollup: the large ones, see `rollups/paired-projects.ts`. */
export const isOfPairedProjects = ({ subject }: Pick<Rollup, 'subject'>): boolean =>
  OF_PAIRED_PROJECTS.includes(subject)

/** Writes the second value of a rollup's groups: empty where groups have one. */
export const writeOther = (rollup: Rollup): Sql => (rollup.group === PAIR ? sql`other` : sql`''`)

/** Lists the columns that name a row of a rollup: project, group and date. */
export const listKeyColumns = ({ group, dateColumn }: Rollup): readonly Sql[] => [
  sql`project_id`,
  ...group,
  dateColumn,
]

/** A number of each grain that is not its name: some settings take no quotes. */
const GRAIN_NUMBERS: Readonly<Record<RollupGrain, Sql>> = { day: sql`0`, month: sql`1` }

/** A 128-bit hash of a group of a rollup. Groups of different rollups have different hashes. @param date that of the group */
export const hashGroup = ({ group, grain, dateColumn }: Rollup, date = dateColumn): Sql =>
  sql`reinterpretAsUInt128(sipHash128(${GRAIN_NUMBERS[grain]}, project_id, ${join(group)}, ${date}))`

export const ROLLUP_NAMES: readonly RollupName[] = ROLLUPS.map(({ name }) => name)

/** Lists the columns of a rollup that hold sums. */
export const listSumColumns = ({ sums }: Rollup): readonly Sql[] =>
  sums.map((measure) => declaredName(measure))
