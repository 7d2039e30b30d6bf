/** The tables with data of a project, and their rows as another store takes them over. */
import { and, declaredName, join, sql, string, uint64, type Sql } from '../../clickhouse/sql.js'
import { EVENT_COLUMNS, SESSION_COLUMNS } from '../../model/fact-columns.js'
import {
  listKeyColumns,
  listSumColumns,
  SUM_ROLLUPS,
  USER_ROLLUPS,
  type Rollup,
} from '../../model/rollups.js'

/** Where rows are read from. */
export interface RowSource {
  /** A table of the project, or one of the same form. */
  readonly table: Sql
  readonly projectId: string
  /** What is added to the numbers of loads, so that they are later than those of the other store. */
  readonly base: number
  /** Whether a row of the project is one of them. */
  readonly isMeant: Sql
}

/**
 * What of a table a new shard gets when a project is widened. `users`: the rows of the users who leave for it; `all`: all rows;
 * `counted`: what is counted from the former; `none`: nothing, because the rows of all shards add up.
 */
type Share = 'users' | 'all' | 'counted' | 'none'

/** A table whose rows move with a project. */
export interface MovedTable {
  readonly name: MovedName
  readonly share: Share
  /** The expression by which it is partitioned, a number; undefined for a table without partitions. */
  readonly partition: Sql | undefined
  readonly columns: readonly Sql[]
  /** Selects the rows of a project that fulfil a condition. The result is the same however the table is merged. */
  readonly select: (source: RowSource, condition: Sql) => Sql
  /** Counts selected rows. */
  readonly count: Sql
  /** Adds up the hashes of selected rows. */
  readonly hash: Sql
}

type MovedName =
  | Rollup['name']
  | 'events'
  | 'sessions'
  | 'users'
  | 'user_keys'
  | 'user_counts'
  | 'event_ids'
  | 'usage'
  | 'paired_projects'

const inProject = (projectId: string): Sql => sql`project_id = ${string(projectId)}`
const COUNT = sql`count()`

/** A table of rows that are taken as they are, except the numbers of loads. */
function createTable(
  name: MovedName,
  share: Share,
  columns: readonly Sql[],
  partition?: Sql,
  shift?: (base: Sql) => Sql,
): MovedTable {
  const list = join(columns)
  return {
    name,
    share,
    partition,
    columns,
    select: ({ table, projectId, base, isMeant }, condition) => {
      const rows = sql`SELECT ${list} FROM ${table} WHERE ${and([inProject(projectId), isMeant, condition])}`
      return shift === undefined
        ? rows
        : sql`SELECT * REPLACE (${shift(uint64(base))}) FROM (${rows})`
    },
    count: COUNT,
    hash: sql`sum(cityHash64(${list}))`,
  }
}

const shiftLoad = (base: Sql): Sql => sql`load + ${base} AS load`
/** The upper half of a session's number is the load that it began with. */
const shiftBoth = (base: Sql): Sql =>
  sql`load + ${base} AS load, session + bitShiftLeft(${base}, 32) AS session`

const EVENTS = createTable('events', 'users', EVENT_COLUMNS, sql`toYYYYMM(timestamp)`, shiftBoth)

/** A state and its reversal add up to nothing, whether or not they are merged. */
const SESSIONS: MovedTable = {
  ...createTable('sessions', 'users', SESSION_COLUMNS, sql`toYYYYMM(start_at)`, shiftBoth),
  count: sql`sum(sign)`,
  hash: sql`sum(sign * reinterpretAsInt64(cityHash64(* EXCEPT (sign))))`,
}

/** A table of sums: rows with the same key are one. */
function createSums(
  name: MovedName,
  share: Share,
  keys: readonly Sql[],
  sums: readonly Sql[],
  partition?: Sql,
): MovedTable {
  const totals = join(sums.map((column) => sql`sum(summed.${column}) AS ${column}`))
  const isAny = join(
    sums.map((column) => sql`${column} != 0`),
    sql` OR `,
  )
  return {
    ...createTable(name, share, [...keys, ...sums], partition),
    select: ({ table, projectId }, condition) => sql`
SELECT ${join(keys)}, ${totals} FROM ${table} AS summed
WHERE ${inProject(projectId)} AND ${condition} GROUP BY ${join(keys)} HAVING ${isAny}`,
  }
}

const partitionOf = ({ grain, dateColumn }: Rollup): Sql =>
  grain === 'day' ? sql`toYYYYMM(${dateColumn})` : sql`toYear(${dateColumn})`

const SUMS = SUM_ROLLUPS.map((rollup) =>
  createSums(
    rollup.name,
    'counted',
    listKeyColumns(rollup),
    listSumColumns(rollup),
    partitionOf(rollup),
  ),
)

/** The sets of users. Generations of a set are united, as queries do. */
const USER_SETS = USER_ROLLUPS.map((rollup): MovedTable => {
  const keys = join(listKeyColumns(rollup))
  const columns = [...listKeyColumns(rollup), sql`generation`, sql`users`]
  return {
    ...createTable(rollup.name, 'counted', columns, partitionOf(rollup)),
    select: ({ table, projectId, base }, condition) => sql`
SELECT ${keys}, ${uint64(base)} AS generation, groupBitmapMergeState(grouped.users) AS users FROM ${table} AS grouped
WHERE ${inProject(projectId)} AND ${condition} GROUP BY ${keys}`,
    hash: sql`sum(cityHash64(${keys}, bitmapCardinality(users), arraySum(bitmapToArray(users))))`,
  }
})

/** All of them, in the order in which they are taken over. */
export const MOVED_TABLES: readonly MovedTable[] = [
  EVENTS,
  SESSIONS,
  ...SUMS,
  ...USER_SETS,
  createTable(
    'users',
    'users',
    columnsOf('project_id', 'user_id', 'user', 'load'),
    undefined,
    shiftLoad,
  ),
  createTable(
    'user_keys',
    'users',
    columnsOf('project_id', 'user_key', 'user', 'load'),
    undefined,
    shiftLoad,
  ),
  {
    ...createTable('user_counts', 'all', columnsOf('project_id', 'last')),
    select: ({ table, projectId }, condition) => sql`
SELECT project_id, max(counts.last) AS last FROM ${table} AS counts
WHERE ${inProject(projectId)} AND ${condition} GROUP BY project_id`,
  },
  createTable('event_ids', 'all', columnsOf('project_id', 'event_id')),
  createSums('usage', 'none', columnsOf('project_id', 'day', 'reason'), columnsOf('events')),
  // A new shard of a project counts its pairs later.
  createTable('paired_projects', 'none', columnsOf('project_id', 'is_complete')),
]

type Column =
  | 'project_id'
  | 'user_id'
  | 'user'
  | 'load'
  | 'user_key'
  | 'last'
  | 'event_id'
  | 'day'
  | 'reason'
  | 'events'
  | 'is_complete'
function columnsOf(...names: readonly Column[]): readonly Sql[] {
  return names.map((name) => declaredName(name))
}

/** The name of the table in the store. */
export const nameTable = ({ name }: Pick<MovedTable, 'name'>): Sql => declaredName(name)
