/** Counts the users and sessions that have events in certain batches. */
import type { Connection } from '../../clickhouse/connection.js'
import { sql, statement, strings, time, uint64 } from '../../clickhouse/sql.js'
import { STEP } from './load-log.js'
import type { LoadReport } from './load-report.js'

export interface AffectedCounts {
  readonly users: number
  readonly sessions: number
}

/**
 * Counts the users and sessions with events of the batches.
 *
 * @param period the period of all events of the batches; a null in it means that there are none
 */
export async function countAffected(
  writer: Connection,
  batches: readonly string[],
  period: Pick<LoadReport, 'first' | 'last'>,
): Promise<AffectedCounts> {
  const { first, last } = period
  if (first === null || last === null) return { users: 0, sessions: 0 }
  // An event that a later load moved has that load's number, but its session still has, in its upper 32 bits, the number
  // of the load that created it.
  const { rows } = await writer.query<AffectedCounts>(
    statement(sql`
WITH
  own AS (SELECT load, projects FROM loads WHERE batch IN ${strings(batches)} AND step = ${uint64(STEP.loaded)})
SELECT uniqExact(project_id, user) AS users, uniqExact(session) AS sessions FROM events
WHERE project_id IN (SELECT arrayJoin(projects) FROM own)
  AND (load IN (SELECT load FROM own) OR bitShiftRight(session, 32) IN (SELECT load FROM own))
  AND timestamp BETWEEN ${time(first)} AND ${time(last)}`),
  )
  return rows[0] ?? { users: 0, sessions: 0 }
}
