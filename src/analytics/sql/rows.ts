/** Writes the rows that a scan reads: a table with its conditions, among which is always the one on the project. */
import {
  and,
  dates,
  int64s,
  isTrue,
  join,
  or,
  sql,
  string,
  strings,
  time,
  type Sql,
} from '../../clickhouse/sql.js'
import { EVENT_LIMITS } from '../../model/event-fields.js'
import {
  DAY_OF_EVENT,
  isRollup,
  RELATIONS,
  type Relation,
  type RelationName,
} from '../../model/relations.js'
import type { Plan } from '../plan/plan.js'
import { condense, splitByGrain, type Stretch } from '../plan/divide-period.js'
import type { Period } from '../request/period.js'
import { isByProject, type Query } from '../request/query.js'
import { createWhereWriter, type WhereWriter } from './where.js'

/** The values that all parts of one statement share. */
export interface StatementContext {
  readonly query: Query
  /** The project of a row: the one of the query, as a parameter, or a column. */
  readonly project: Sql
  /** The condition that a row is of the projects of the query. */
  readonly isOfProjects: Sql
  /** What identifies the session of a row among those of the projects: sessions of different projects may have one number. */
  readonly sessionKey: Sql
  readonly where: WhereWriter
  /** Write which events are conversions of the goals of the query. */
  readonly goals: readonly WhereWriter[]
  /** The starts of the buckets of a zone in seconds since 1970, as one array; absent for other queries. */
  readonly bucketStarts?: Sql | undefined
  /** As in the plan. */
  readonly readsDays: boolean
  /** Written before the name of a table: empty, or a database and a dot. */
  readonly database: Sql
  /**
   * Whether the groups are those of one shard of several. A group that has no event there may have some on another shard,
   * so it is kept, and marked by the column `is_row`.
   */
  readonly isShard: boolean
  /** Whether the rows of users who have left the shard are left out. Rollups cannot leave them out. */
  readonly leavesOut: boolean
}

/** Creates what all parts of a statement share. */
export const createContext = ({
  query,
  readsDays,
}: Pick<Plan, 'query' | 'readsDays'>): StatementContext => ({
  query,
  bucketStarts: writeBucketStarts(query),
  ...scopeToProjects(query),
  where: createWhereWriter(query.predicate),
  goals: query.goals.map(createWhereWriter),
  readsDays,
  database: sql``,
  isShard: false,
  leavesOut: false,
})

/** Writes which rows are those of a query: every table of its statement is read with this condition. */
function scopeToProjects(
  query: Query,
): Pick<StatementContext, 'project' | 'isOfProjects' | 'sessionKey'> {
  if (isByProject(query)) {
    const isOfProjects = sql`project_id IN ${strings(query.projectIds)}`
    return { project: sql`project_id`, isOfProjects, sessionKey: sql`(project_id, session)` }
  }
  const project = string(query.projectIds[0])
  return { project, isOfProjects: sql`project_id = ${project}`, sessionKey: sql`session` }
}

/** Returns the context of a plan with the same projects and predicate, in the same statement. */
export const moveContext = (
  context: StatementContext,
  { query, readsDays }: Plan,
): StatementContext => ({ ...context, query, readsDays, bucketStarts: writeBucketStarts(query) })

const writeBucketStarts = ({ grouping }: Query): Sql | undefined =>
  grouping.kind === 'interval' && grouping.zoned !== undefined
    ? int64s(grouping.zoned.starts)
    : undefined

/**
 * Writes a table with its WHERE. Only this function names the tables that queries read, so none is read without the
 * condition on the project, and none with users who have left.
 */
export function writeRows(
  context: StatementContext,
  relation: RelationName,
  conditions: readonly Sql[],
): Sql {
  const { isOfProjects, database, leavesOut } = context
  if (leavesOut && isRollup(relation)) throw new TypeError('a rollup counts users who have left')
  const isThere = leavesOut ? [isStillThere(context)] : []
  const all = [isOfProjects, ...isThere, ...RELATIONS[relation].conditions, ...conditions]
  return sql`${database}${RELATIONS[relation].table} WHERE ${join(
    all.filter((condition) => !isTrue(condition)),
    sql` AND `,
  )}`
}

/** Writes the ids of users of the project, with conditions on their rows in `users`. */
export const writeUserIds = ({ isOfProjects, database }: StatementContext, condition: Sql): Sql =>
  sql`${database}users WHERE ${isOfProjects} AND ${condition}`

/** Whether the user of a row is still there. If nobody has left, the bitmap is empty. */
const isStillThere = ({ isOfProjects, database }: StatementContext): Sql =>
  sql`NOT bitmapContains((SELECT groupBitmapMergeState(users) FROM ${database}departures WHERE ${isOfProjects}), user)`

/**
 * Writes the rows of a relation in some periods. Where the plan says so, whole days are found by the column of the day. If
 * there are edges as well, they are read apart: one condition for both would read all moments.
 */
export function writeRowsWithin(
  context: StatementContext,
  relation: RelationName,
  periods: readonly Period[],
  conditions: readonly Sql[],
): Sql {
  const { day } = RELATIONS[relation]
  const { inside, outside } = splitByGrain(periods, 'day')
  if (day === undefined || !readsDaysOf(context, relation, periods)) {
    return writeRows(context, relation, [selectPeriods(relation, periods), ...conditions])
  }
  const isOfDays = selectDays(relation, day.column, inside)
  const days = writeRows(context, relation, [isOfDays, ...conditions])
  if (outside.length === 0) return days
  const edges = writeRows(context, relation, [selectPeriods(relation, outside), ...conditions])
  return sql`(SELECT ${day.columns} FROM ${days} UNION ALL SELECT ${day.columns} FROM ${edges})`
}

/** Whether whole days of these periods are found by the column of the day. */
export const readsDaysOf = (
  { readsDays }: StatementContext,
  relation: RelationName,
  periods: readonly Period[],
): boolean =>
  readsDays &&
  RELATIONS[relation].day !== undefined &&
  splitByGrain(periods, 'day').inside.length > 0

/** Builds the condition that a row lies in one of the periods. To select the rows of a table, `selectPeriods` is faster. */
export const isWithinAny = (relation: RelationName, periods: readonly Period[]): Sql =>
  or(periods.map((period) => writeWithin(RELATIONS[relation].isWithin, period)))

/**
 * Builds the condition of a WHERE that a row lies in one of the periods. It finds the days of the periods in the sorting key.
 * ClickHouse would not do so for events by itself: their moments are in the key as well, behind the user, so it uses these
 * and reads whole months.
 */
export function selectPeriods(relation: RelationName, periods: readonly Period[]): Sql {
  const { dayKey, isWithin, day } = RELATIONS[relation]
  if (dayKey === undefined) return isWithinAny(relation, periods)
  return or(
    condense(periods).map(({ period, days }) => {
      const [start, end] = [writeBound(period.start), writeBound(period.end)]
      const within = isWithin(start, end)
      if (days !== undefined) return and([within, isOneOf(dayKey, days)])
      // A rollup has its day alone in the key.
      return day === undefined ? within : and([within, hintDays(dayKey, start, justBefore(end))])
    }),
  )
}

/** Builds the same condition for periods of whole days. It does not read the moments of rows. */
function selectDays(relation: RelationName, column: Sql, periods: readonly Period[]): Sql {
  const { dayKey = column, isWithin } = RELATIONS[relation]
  const stretches = condense(periods).map(({ period, days }) => {
    const [start, end] = [writeBound(period.start), writeBound(period.end)]
    const listed = days === undefined ? [] : [isOneOf(column, days)]
    const inKey =
      days === undefined
        ? hintDays(dayKey, start, justBefore(end))
        : sql`indexHint(${isOneOf(dayKey, days)})`
    return and([
      sql`indexHint(${isWithin(start, end)})`,
      inKey,
      sql`${column} >= toDate(${start}) AND ${column} < toDate(${end})`,
      ...listed,
    ])
  })
  return or(stretches)
}

const justBefore = (moment: Sql): Sql => sql`subtractMilliseconds(${moment}, 1)`

/** Builds the condition that an event lies between two moments, both included. */
export const selectEventsBetween = (first: Sql, last: Sql): Sql =>
  sql`timestamp >= ${first} AND timestamp <= ${last} AND ${hintDays(DAY_OF_EVENT, first, last)}`

/** Finds the granules of the days of two moments and of all between them. It reads nothing. */
const hintDays = (dayKey: Sql, first: Sql, last: Sql): Sql =>
  sql`indexHint(${dayKey} >= toDate(${first}) AND ${dayKey} <= toDate(${last}))`

const isOneOf = (day: Sql, { count, starts }: NonNullable<Stretch['days']>): Sql => {
  const { earliestTimestamp, endOfTimestamps } = EVENT_LIMITS
  const known = starts.filter((start) => start >= earliestTimestamp && start < endOfTimestamps)
  return count ? sql`${day} IN ${dates(known)}` : sql`${day} NOT IN ${dates(known)}`
}

const writeWithin = (build: Relation['isWithin'], { start, end }: Period): Sql =>
  build(writeBound(start), writeBound(end))

/** Writes a bound of a period, clamped to the range of event timestamps: column types cannot hold moments far outside it. */
export function writeBound(bound: Date): Sql {
  const { earliestTimestamp, endOfTimestamps } = EVENT_LIMITS
  const raised = Math.max(bound.getTime(), earliestTimestamp.getTime())
  return time(new Date(Math.min(raised, endOfTimestamps.getTime())))
}
