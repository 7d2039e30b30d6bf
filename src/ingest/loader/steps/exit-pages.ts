/** Completes the exit pages of sessions that earlier versions stored without them. */
import type { Connection } from '../../../clickhouse/connection.js'
import { sql, statement, string, uint32, uint64, type Sql } from '../../../clickhouse/sql.js'
import { isPageview, LEAST_EXIT_AT } from '../../../model/facts.js'

/** How many states are completed at once: their exit pages are kept in memory. */
const MAX_STATES = 1_000_000

/** Whether the exit page of a state is not known. The index on the column finds such states. */
const IS_UNKNOWN = sql`exit_at = toDateTime64(0, 3, 'UTC')`

const SELECT_UNKNOWN = sql`SELECT 1 FROM sessions WHERE ${IS_UNKNOWN} LIMIT 1`

/** Returns whether the exit pages of some stored sessions are not known. */
export async function hasUnknownExits(connection: Connection): Promise<boolean> {
  const { rows } = await connection.query(statement(SELECT_UNKNOWN))
  return rows.length > 0
}

/**
 * Finds the unknown exit pages in the events and stores them, month by month: after an interruption the next call goes on. The
 * caller holds the loader lease, and no load is staged: its reversals of states must be complete as well.
 */
export async function completeExits(writer: Connection): Promise<void> {
  // A call that was interrupted at its very end has left exit pages that are stored.
  const { rows: left } = await writer.query(
    statement(
      sql`${SELECT_UNKNOWN} UNION ALL SELECT 1 FROM (SELECT count() AS states FROM session_exits) WHERE states > 0`,
    ),
  )
  if (left.length === 0) return
  const { rows: months } = await writer.query<{ month: number; states: number }>(
    statement(sql`
SELECT toYYYYMM(start_at) AS month, toUInt32(count()) AS states FROM sessions
WHERE ${IS_UNKNOWN} GROUP BY month ORDER BY month`),
  )
  const table = await nameExits(writer)
  for (const { month, states } of months) {
    const slices = Math.ceil(states / MAX_STATES)
    for (let slice = 0; slice < slices; slice += 1) {
      const isInSlice = sql`session % ${uint64(slices)} = ${uint64(slice)}`
      await completeSlice(writer, table, uint32(month), isInSlice)
    }
  }
  await writer.execute(EMPTY_EXITS)
}

const EMPTY_EXITS = statement(sql`TRUNCATE TABLE session_exits`)

/** Returns the name of the table of exits, with its database: a mutation is applied outside of any. */
async function nameExits(writer: Connection): Promise<string> {
  const { rows } = await writer.query<{ database: string }>(
    statement(sql`SELECT currentDatabase() AS database`),
  )
  return `${rows[0]?.database ?? ''}.session_exits`
}

async function completeSlice(
  writer: Connection,
  table: string,
  month: Sql,
  isInSlice: Sql,
): Promise<void> {
  await writer.execute(EMPTY_EXITS)
  await writer.execute(statement(insertExits(sql`toYYYYMM(start_at) = ${month} AND ${isInSlice}`)))
  // What is not in the table stays unknown, also if ClickHouse applies the mutation again after a restart.
  const find = (column: string): Sql =>
    sql`joinGet(${string(table)}, ${string(column)}, session, load)`
  await writer.execute(
    statement(sql`
ALTER TABLE sessions
UPDATE exit_path = ${find('exit_path')}, exit_at = ${find('exit_at')} IN PARTITION ${month}
WHERE ${IS_UNKNOWN} AND ${isInSlice}`),
  )
}

/**
 * Puts the exit pages of states into the table `session_exits`. The reversal of a state has the exit page of the state, if that
 * is known; any other has that of the last pageview among the events of the session. A session that has none any more was joined
 * to another one, and all its states cancel out.
 */
const insertExits = (isMeant: Sql): Sql => sql`
INSERT INTO session_exits (session, load, exit_path, exit_at)
WITH
  states AS (
    SELECT session, load, max((exit_at, exit_path)) AS known, any(end_at) AS until
    FROM sessions WHERE ${isMeant}
    GROUP BY session, load
    HAVING min(exit_at) = toDateTime64(0, 3, 'UTC')
  ),
  (SELECT (min(start_at), max(end_at)) FROM sessions WHERE ${isMeant} AND ${IS_UNKNOWN}) AS around,
  exits AS (
    SELECT session, max((timestamp, path)) AS last
    FROM events
    WHERE timestamp >= around.1 AND timestamp <= around.2 AND ${isPageview(sql`name`)} AND session IN (SELECT session FROM states)
    GROUP BY session
  )
SELECT
  states.session, states.load, if(known.1 = toDateTime64(0, 3, 'UTC'), exits.last.2, known.2),
  greatest(multiIf(known.1 != toDateTime64(0, 3, 'UTC'), known.1, exits.session != 0, exits.last.1, until), ${LEAST_EXIT_AT})
FROM states LEFT ANY JOIN exits ON exits.session = states.session`
