/** Restores rows of a resumed load that a killed server has taken for stored, but lost. */
import type { Connection, Settings } from '../../../clickhouse/connection.js'
import { createLike } from '../../../clickhouse/replicas/create-like.js'
import { join, sql, statement, string, uint32, uint64, type Sql } from '../../../clickhouse/sql.js'
import { SESSION_COLUMNS } from '../../../model/fact-columns.js'
import { ONE_BLOCK } from '../../inbox/one-block.js'
import type { LoadTables } from './shared/load-tables.js'
import { buildInserts, insertRejections } from './publish.js'

/** Rows of a load that are not in their table, or not all of them. */
interface MissingRows {
  readonly name:
    'users' | 'user_keys' | 'user_counts' | 'event_ids' | 'usage' | 'events' | 'sessions'
  /** The partition of the table; 0 if it has none. */
  readonly month: number
  /** How many of the rows are there. */
  readonly stored: number
}

const SESSION_COLUMN_LIST = join(SESSION_COLUMNS)

/** The tokens of the inserts are known already. */
const UNCHECKED: Settings = { ...ONE_BLOCK, insert_deduplicate: 0 }

/**
 * Inserts again what is missing. A server that is killed within an insert may remember the token of a part without having
 * stored the part, and then takes the repeated insert for done. The embedded engine forgets such tokens when it starts.
 *
 * The rollups are not checked: their rows do not say which load they come from. They can be rebuilt from the facts.
 */
export async function restoreFacts(
  writer: Connection,
  tables: LoadTables,
  load: number,
): Promise<void> {
  const { rows: missing } = await writer.query<MissingRows>(
    statement(findMissingRows(tables, load)),
  )
  for (const rows of missing) {
    if (rows.name === 'sessions') await restoreSessions(writer, tables)
    else if (rows.name === 'events') await restoreEvents(writer, tables, load, rows)
    else await insertAgain(writer, tables, load, rows.name)
  }
}

/**
 * Inserts the rejected rows of an import again if none of them is there. Those of the stream have no name of their own: what is
 * missing of them cannot be told.
 *
 * @param batch the name under which the rows are stored
 */
export async function restoreRejections(
  writer: Connection,
  tables: LoadTables,
  batch: string,
): Promise<void> {
  if (batch === '') return
  const { rows } = await writer.query(
    statement(sql`SELECT 1 FROM rejections WHERE batch = ${string(batch)} LIMIT 1`),
  )
  if (rows.length === 0) {
    await writer.execute(statement(insertRejections(tables, batch)), UNCHECKED)
  }
}

async function insertAgain(
  writer: Connection,
  tables: LoadTables,
  load: number,
  name: MissingRows['name'],
): Promise<void> {
  const insert = buildInserts(tables, load)[name]
  if (insert === undefined) throw new TypeError(`a load does not insert into ${name}`)
  await writer.execute(statement(insert), UNCHECKED)
}

/** Inserts the events of a month again. Those that are there cannot be told from the missing ones, and are deleted first. */
async function restoreEvents(
  writer: Connection,
  tables: LoadTables,
  load: number,
  { month, stored }: MissingRows,
): Promise<void> {
  if (stored > 0) {
    await writer.execute(
      statement(sql`DELETE FROM events IN PARTITION ${uint32(month)} WHERE load = ${uint64(load)}`),
    )
  }
  const ofMonth = (table: Sql): Sql =>
    sql`(SELECT * FROM ${table} WHERE toYYYYMM(timestamp) = ${uint32(month)})`
  const { rows, movedEvents } = tables
  const picked = { ...tables, rows: ofMonth(rows), movedEvents: ofMonth(movedEvents) }
  await insertAgain(writer, picked, load, 'events')
}

/**
 * Stores the states of sessions that are missing. They come as parts of another table: the views that fill the rollups
 * know the rows already, and would count what is inserted.
 */
async function restoreSessions(writer: Connection, tables: LoadTables): Promise<void> {
  const { restoredSessions: restored } = tables
  await writer.execute(statement(sql`DROP TABLE IF EXISTS ${restored} SYNC`))
  await createLike(writer, restored, sql`sessions`)
  await writer.execute(
    statement(
      sql`INSERT INTO ${restored} (${SESSION_COLUMN_LIST}) ${selectMissingSessions(tables)}`,
    ),
    UNCHECKED,
  )
  const { rows: months } = await writer.query<{ month: number }>(
    statement(sql`SELECT DISTINCT toYYYYMM(start_at) AS month FROM ${restored} ORDER BY month`),
  )
  for (const { month } of months) {
    await writer.execute(
      statement(sql`ALTER TABLE sessions ATTACH PARTITION ${uint32(month)} FROM ${restored}`),
    )
  }
}

/** Selects the missing states of sessions. The signs of a state add up to 1, and to 0 once another has replaced it. */
const selectMissingSessions = (tables: LoadTables): Sql => sql`
WITH wanted AS (
  SELECT ${SESSION_COLUMN_LIST} FROM ${tables.sessions} AS load_sessions
  UNION ALL
  SELECT * REPLACE (toInt8(-1) AS sign) FROM (SELECT ${SESSION_COLUMN_LIST} FROM ${tables.previousStates})
)
SELECT ${SESSION_COLUMN_LIST} FROM wanted
WHERE (sign = 1) = ((project_id, session, load) NOT IN (
  SELECT project_id, session, load FROM sessions
  WHERE (project_id, toDate(start_at), user) IN (SELECT project_id, toDate(start_at), user FROM wanted)
  GROUP BY project_id, session, load
  HAVING sum(sign) = 1))`

const findMissingRows = (tables: LoadTables, load: number): Sql => sql`
WITH
  new_users AS (SELECT project_id, user_id, user_key FROM ${tables.users} WHERE is_new),
  new_ids AS (
    SELECT project_id, event_key FROM ${tables.rows} AS load_rows
    WHERE event_key != 0 AND seq IN (SELECT seq FROM ${tables.kept})),
  new_events AS (
    SELECT project_id, timestamp FROM ${tables.kept}
    UNION ALL
    SELECT project_id, timestamp FROM ${tables.movedEvents})
SELECT name, month, sum(wanted) AS wanted_rows, sum(is_stored) AS stored FROM (
  SELECT 'users' AS name, 0 AS month, 1 AS wanted, 0 AS is_stored FROM new_users
  UNION ALL
  SELECT 'users', 0, 0, 1 FROM users WHERE (project_id, user_id) IN (SELECT project_id, user_id FROM new_users)
  UNION ALL
  SELECT 'user_keys', 0, 1, 0 FROM new_users
  UNION ALL
  SELECT 'user_keys', 0, 0, 1 FROM user_keys
  WHERE load = ${uint64(load)} AND (project_id, user_key) IN (SELECT project_id, user_key FROM new_users)
  UNION ALL
  SELECT 'user_counts', 0, 1, 0
  FROM (SELECT project_id, max(user) AS last FROM ${tables.users} WHERE is_new GROUP BY project_id) AS numbered
  LEFT JOIN (SELECT project_id, max(last) AS last FROM user_counts GROUP BY project_id) AS counts
    ON counts.project_id = numbered.project_id
  WHERE counts.last < numbered.last
  UNION ALL
  SELECT 'event_ids', 0, 1, 0 FROM new_ids
  UNION ALL
  SELECT 'event_ids', 0, 0, 1 FROM event_ids
  WHERE (project_id, event_id) IN (SELECT project_id, event_key FROM new_ids)
  UNION ALL
  SELECT 'usage', 0, 1, 0 FROM (SELECT 1 FROM ${tables.rows} AS load_rows LIMIT 1)
  WHERE ${uint64(load)} NOT IN (SELECT load FROM usage WHERE load = ${uint64(load)})
  UNION ALL
  SELECT 'events', toYYYYMM(timestamp), 1, 0 FROM new_events
  UNION ALL
  SELECT 'events', toYYYYMM(timestamp), 0, 1 FROM events
  WHERE load = ${uint64(load)} AND (project_id, toDate(timestamp)) IN (SELECT project_id, toDate(timestamp) FROM new_events)
  UNION ALL
  SELECT 'sessions', 0, 1, 0 FROM (${selectMissingSessions(tables)})
)
GROUP BY name, month
HAVING stored < wanted_rows AND (stored = 0 OR name = 'events')
ORDER BY name, month`
