/** Writes the predicate of a query as a condition on rows, and joins events to their sessions where only these have a column. */
import { join, or, sql, type Sql } from '../../clickhouse/sql.js'
import { DIMENSIONS } from '../../model/dimensions.js'
import { isConversion, VISIT_OF_EVENT } from '../../model/goals.js'
import { RELATIONS } from '../../model/relations.js'
import type { Period } from '../request/period.js'
import type { Grouping } from '../request/query.js'
import {
  readsDaysOf,
  selectEventsBetween,
  writeBound,
  writeRows,
  writeRowsWithin,
  type StatementContext,
} from './rows.js'
import { nameColumns } from './select.js'
import type { RowKind } from './where.js'

/**
 * Writes the condition that a row of this kind satisfies exactly when the predicate of the query holds.
 *
 * @param dimension the `dimension` of rows of a rollup
 */
export const writeFilter = (context: StatementContext, rows: RowKind, dimension?: string): Sql =>
  context.where(
    rows,
    {
      period: context.query.period,
      key: context.sessionKey,
      byEvents: (condition) => selectSessions(context, condition),
      byColumns: (condition) =>
        sql`SELECT ${context.sessionKey} FROM ${writeReachingSessions(context, [condition])}`,
    },
    dimension,
  )

/** Lists what rows of events have besides their columns, for the goals of the query. Nothing without goals. */
const listGoalColumns = ({ goals }: StatementContext): readonly Sql[] =>
  goals.length === 0 ? [] : [VISIT_OF_EVENT, ...goals.map((_goal, i) => isConversion(i))]

/**
 * Adds these columns to rows of events.
 *
 * @param rows a table with its WHERE, or a subquery
 */
export function joinGoals(context: StatementContext, rows: Sql): Sql {
  if (context.goals.length === 0) return rows
  const columns = [
    context.sessionKey,
    ...context.goals.map((where) => writeFilter({ ...context, where }, 'events')),
  ]
  const all = RELATIONS.events.day?.columns ?? sql`*`
  return sql`(SELECT ${join([all, ...nameColumns(columns, listGoalColumns(context))])} FROM ${rows})`
}

/**
 * Selects the sessions with an event that satisfies a condition, among those that reach into the period of the query. Their
 * events may lie before and after it, so events are read from the start of the first of these sessions to the end of the last.
 */
function selectSessions(context: StatementContext, condition: Sql): Sql {
  const { period } = context.query
  const [start, end] = [writeBound(period.start), writeBound(period.end)]
  const writeCrossing = (edge: Sql): Sql => writeRows(context, 'whole_sessions', [crosses(edge)])
  // Events of sessions that are not stored, because their beginning expired, are read within the period.
  const first = sql`(SELECT least(ifNull(minOrNull(start_at), ${start}), ${start}) FROM ${writeCrossing(start)})`
  const last = sql`(SELECT greatest(ifNull(maxOrNull(end_at), ${end}), ${end}) FROM ${writeCrossing(end)})`
  const select = (rows: Sql): Sql => sql`SELECT ${context.sessionKey} AS found FROM ${rows}`
  const selectBetween = (bounds: readonly (readonly [Sql, Sql])[]): Sql => {
    const isBetween = or(bounds.map(([from, to]) => selectEventsBetween(from, to)))
    return select(writeRows(context, 'events', [isBetween, condition]))
  }
  const events = readsDaysOf(context, 'events', [period])
    ? sql`${select(writeRowsWithin(context, 'events', [period], [condition]))} UNION ALL ${selectBetween(
        [
          [first, start],
          [end, last],
        ],
      )}`
    : selectBetween([[first, last]])
  // As one array, because ClickHouse computes the same scalar of a statement once, and a subquery for each of its uses.
  return sql`SELECT arrayJoin((SELECT groupUniqArray(found) FROM (${events})))`
}

/** Writes the condition that a session has events before the end of a period, and in it or after it. */
const isReaching = ({ start, end }: Period): Sql =>
  sql`(start_at < ${writeBound(end)} AND end_at >= ${writeBound(start)})`

/**
 * Writes the condition that a state was not replaced by a later one. Merges take replaced states away. Where none is left, the
 * first condition is a constant, and the second one is not evaluated.
 *
 * @param isMeant a condition on the start and the end of the sessions, which a state and its reversal share
 */
export function isCurrentState(context: StatementContext, isMeant: Sql): Sql {
  const replaced = writeRows(context, 'whole_sessions', [sql`sign = -1`, isMeant])
  return sql`((SELECT count() FROM ${replaced}) = 0 OR (${context.sessionKey}, load) NOT IN (SELECT ${context.sessionKey}, load FROM ${replaced}))`
}

/**
 * Writes the rows of sessions that reach into the period of the query, one for each session.
 *
 * @param conditions further ones
 */
export function writeReachingSessions(
  context: StatementContext,
  conditions: readonly Sql[],
  isMeant = isReaching(context.query.period),
): Sql {
  return writeRows(context, 'whole_sessions', [
    isMeant,
    sql`sign > 0`,
    isCurrentState(context, isMeant),
    ...conditions,
  ])
}

/** The key of a group in rows of facts. */
export interface FactKey {
  readonly key: Sql
  /** The conditions under which a row is in a group that is read; empty if every row is. */
  readonly conditions: readonly Sql[]
  /** Whether only sessions have its column, so that events are joined to them. */
  readonly isOfSession: boolean
}

/** Whether events are grouped by a column that only their sessions have. */
export function hasSessionKey(grouping: Grouping): boolean {
  if (grouping.kind !== 'dimension') return false
  const { eventColumn, sessionColumn } = DIMENSIONS[grouping.dimension]
  return eventColumn === undefined && sessionColumn !== undefined
}

/** The columns of the keys in joined rows. */
const JOINED_KEYS = [
  sql`session_key`,
  sql`session_then_key`,
  sql`session_then_key_2`,
  sql`session_then_key_3`,
]

export const nameJoinedKeys = (keys: readonly FactKey[]): readonly Sql[] =>
  JOINED_KEYS.slice(0, keys.length)

/**
 * Joins rows of events to those keys of their session that they do not have themselves: the columns of `nameJoinedKeys`. Events
 * whose session is not stored, or in no group, are left out.
 *
 * @param events rows of events
 * @param conditions on rows of `sessions`
 * @param periods those whose edges the sessions cross; absent: the sessions are all that reach into the period of the query
 */
export function joinSessionKeys(
  context: StatementContext,
  keys: readonly FactKey[],
  events: Sql,
  conditions: readonly Sql[],
  periods?: readonly Period[],
): Sql {
  const isMeant =
    periods === undefined ? isReaching(context.query.period) : or(periods.map(isCrossing))
  const sessions = writeReachingSessions(context, conditions, isMeant)
  const columns = nameColumns(
    keys.map(({ key }) => key),
    nameJoinedKeys(keys),
  )
  const select = (column: Sql, isOfSession: boolean): Sql =>
    join([column, ...columns.filter((_, i) => keys[i]?.isOfSession === isOfSession)])
  const own = join([
    sql`user, name, timestamp, session, properties, numbers`,
    ...listGoalColumns(context),
  ])
  return sql`(SELECT ${select(own, false)} FROM ${events}) AS own INNER JOIN (SELECT ${select(sql`session`, true)} FROM ${sessions}) AS keys ON own.session = keys.session`
}

/** Writes the condition that a session has events before a moment, and at it or after it. */
const crosses = (edge: Sql): Sql => sql`(start_at < ${edge} AND end_at >= ${edge})`

/** Writes the condition that a session crosses an edge of a period. */
const isCrossing = ({ start, end }: Period): Sql =>
  or([writeBound(start), writeBound(end)].map(crosses))
