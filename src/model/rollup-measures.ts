/** What the rows of each rollup measure. */
import { sql, type Sql } from '../clickhouse/sql.js'
import { ROLLUP_NAMES, type RollupName } from './rollup-tables.js'

/** The rollups that add up; those of users are sets. */
export type SumName = Exclude<RollupName, `users_${string}`>

export const isOfUsers = (name: RollupName): name is `users_${'daily' | 'monthly'}` =>
  name.startsWith('users')

export const SUM_NAMES: readonly SumName[] = ROLLUP_NAMES.filter(
  (name): name is SumName => !isOfUsers(name),
)

const OF_EVENTS = { pageviews: sql`pageviews`, events: sql`events` }
const OF_VISITS = { visits: sql`visits`, bounces: sql`bounces`, duration: sql`duration` }

/** The columns that a rollup adds up, by their names. */
export const sumsOf = (name: SumName): Readonly<Record<string, Sql>> =>
  name.startsWith('events') ? OF_EVENTS : { ...OF_EVENTS, ...OF_VISITS }

/** The names of what a rollup measures. */
export const measuresOf = (name: RollupName): readonly string[] =>
  isOfUsers(name) ? ['users'] : Object.keys(sumsOf(name))
