/**
 * Writes the rows from which questions about session attributes are answered: the sessions that started in the periods, with
 * all their events, and corrections by single events where a session crosses an edge of a period.
 */
import { join, not, sql, type Sql } from '../../clickhouse/sql.js'
import { isCustomEvent, isPageview } from '../../model/facts.js'
import type { Period } from '../request/period.js'
import {
  isCurrentState,
  joinSessionKeys,
  nameJoinedKeys,
  writeFilter,
  type FactKey,
} from './filter.js'
import {
  isWithinAny,
  selectPeriods,
  writeBound,
  writeRows,
  writeRowsWithin,
  type StatementContext,
} from './rows.js'
import { nameKeys } from './select.js'

/**
 * Writes a subquery with one row per state of a session that started in the periods, whose events are all counted, and two
 * kinds of corrections: an event of the periods whose session started outside of them is added, and an event outside of the
 * periods whose session started in one of them is subtracted. Few sessions cross an edge, so few events are read.
 *
 * @param groups the groups of a row; unless events are joined to them, they have the same columns as sessions
 */
export function writeWholeSessions(
  context: StatementContext,
  periods: readonly Period[],
  groups: readonly FactKey[],
): Sql {
  const keys = groups.map(({ key }) => key)
  const conditions = groups.flatMap((one) => one.conditions)
  const isCurrent = isCurrentState(context, selectPeriods('whole_sessions', periods))
  const states = writeRowsWithin(context, 'whole_sessions', periods, [
    writeFilter(context, 'sessions'),
    ...conditions,
  ])
  const stateColumns = sql`${join(nameKeys(context.query, keys))}, user, sign > 0 AND ${isCurrent} AS has_user, sign, sign * pageviews AS own_pageviews, sign * events AS own_events, pageviews, events, pageleaves, duration_ms`
  const isHappened = isWithinAny('events', periods)
  const weight = sql`if(${isHappened}, 1, -1)`
  const crossing = writeCrossingEvents(context, periods, isHappened, conditions)
  const isJoined = groups.some(({ isOfSession }) => isOfSession)
  const events = isJoined
    ? joinSessionKeys({ ...context, goals: [] }, groups, crossing, conditions, periods)
    : crossing
  const eventColumns = sql`${join(isJoined ? nameJoinedKeys(groups) : keys)}, user, ${isHappened}, 0, ${weight} * (${isPageview(sql`name`)}), ${weight} * (${isCustomEvent(sql`name`)}), 0, 0, 0, 0`
  return sql`(SELECT ${stateColumns} FROM ${states} UNION ALL SELECT ${eventColumns} FROM ${events})`
}

/**
 * Writes the events by which sessions that cross an edge are corrected. Their days and users are a prefix of the sorting
 * key, so few other events are read. Of sessions that started outside of the periods, the events inside are needed; of the
 * others, the events outside.
 */
function writeCrossingEvents(
  context: StatementContext,
  periods: readonly Period[],
  isHappened: Sql,
  conditions: readonly Sql[],
): Sql {
  // They may have started in an earlier one of the periods.
  const isStartedBefore = periods.length > 1 ? [not(isWithinAny('sessions', periods))] : []
  const days = sql`toDate(start_at) + arrayJoin(range(dateDiff('day', start_at, end_at) + 1))`
  const select = (ofSessions: readonly Sql[], isInside: Sql): Sql => {
    const states = writeRows(context, 'whole_sessions', [
      ...ofSessions,
      writeFilter(context, 'sessions'),
      ...conditions,
    ])
    // A replaced state and its reversal differ in the sign only.
    return sql`SELECT ${days}, user, session, ${isInside} FROM ${states} GROUP BY user, session, start_at, end_at HAVING sum(sign) > 0`
  }
  // Each edge apart, so that the index on `end_at` finds the few sessions that cross it.
  const crossing = periods.flatMap((period) => {
    const [start, end] = [writeBound(period.start), writeBound(period.end)]
    return [
      select([sql`start_at < ${start}`, sql`end_at >= ${start}`, ...isStartedBefore], sql`1`),
      select([selectPeriods('sessions', [period]), sql`end_at >= ${end}`], sql`0`),
    ]
  })
  return writeRows(context, 'events', [
    sql`(toDate(timestamp), user, session, ${isHappened}) IN (${join(crossing, sql` UNION ALL `)})`,
  ])
}
