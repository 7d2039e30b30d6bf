/** Writes the predicate of a query as a condition on rows of a statement. */
import { sql, type Sql } from '../../clickhouse/sql.js'
import { selectEventsBetween, writeBound, writeRows, type StatementContext } from './rows.js'
import { isReaching, writeReachingSessions } from './session-states.js'
import type { RowKind } from './where.js'

/** Writes the condition that a row of this kind satisfies exactly when the predicate of the query holds. */
export const writeFilter = (context: StatementContext, rows: RowKind): Sql =>
  context.where(rows, {
    byEvents: (condition) => selectSessions(context, condition),
    byColumns: (condition) =>
      sql`SELECT session FROM ${writeReachingSessions(context, [condition])}`,
  })

/**
 * Selects the sessions with an event that satisfies a condition, among those that reach into the period of the query. Their
 * events may lie before and after it, so events are read from the start of the first of these sessions to the end of the last.
 */
function selectSessions(context: StatementContext, condition: Sql): Sql {
  const { period } = context.query
  const [start, end] = [writeBound(period.start), writeBound(period.end)]
  const reaching = writeRows(context, 'whole_sessions', [isReaching(period)])
  // Events of sessions that are not stored, because their beginning expired, are read within the period.
  const first = sql`(SELECT least(ifNull(minOrNull(start_at), ${start}), ${start}) FROM ${reaching})`
  const last = sql`(SELECT greatest(ifNull(maxOrNull(end_at), ${end}), ${end}) FROM ${reaching})`
  return sql`SELECT session FROM ${writeRows(context, 'events', [
    selectEventsBetween(first, last),
    condition,
  ])}`
}
