/** Restores inserts of a resumed load that a killed server has taken for stored, but lost. */
import type { Connection } from '../../../clickhouse/connection.js'
import { sql, statement, uint64, type Sql } from '../../../clickhouse/sql.js'
import { ONE_BLOCK } from '../../inbox/one-block.js'
import type { LoadTables } from './load-tables.js'
import { buildInserts } from './publish.js'

/** How many rows an insert of a load should have stored, and how many there are. */
interface StoredRows {
  readonly name: 'users' | 'event_ids' | 'events'
  readonly wanted: number
  readonly stored: number
}

/**
 * Inserts again what is missing altogether. A server that is killed within an insert may remember the token without having
 * stored the rows, and then takes the repeated insert for done. Only tables without views behind them are restored;
 * the rollups can be rebuilt from them. The embedded engine forgets such tokens when it starts.
 *
 * @returns the tables that were restored
 */
export async function restoreFacts(
  writer: Connection,
  tables: LoadTables,
  load: number,
): Promise<readonly string[]> {
  const { rows } = await writer.query<StoredRows>(statement(countStoredRows(tables, load)))
  const missing = rows.filter(({ wanted, stored }) => wanted > 0 && stored === 0)
  for (const { name } of missing) {
    const insert = buildInserts(tables)[name]
    if (insert === undefined) throw new TypeError(`a load does not insert into ${name}`)
    await writer.execute(statement(insert), { ...ONE_BLOCK, insert_deduplicate: 0 })
  }
  return missing.map(({ name }) => name)
}

const countStoredRows = (tables: LoadTables, load: number): Sql => sql`
WITH
  new_users AS (SELECT project_id, user_id FROM ${tables.users} WHERE is_new),
  new_ids AS (
    SELECT project_id, event_key FROM ${tables.rows} AS load_rows
    WHERE event_key != 0 AND seq IN (SELECT seq FROM ${tables.kept})),
  new_events AS (
    SELECT project_id, timestamp FROM ${tables.kept}
    UNION ALL
    SELECT project_id, timestamp FROM ${tables.movedEvents})
SELECT 'users' AS name, (SELECT count() FROM new_users) AS wanted, count() AS stored
FROM users WHERE (project_id, user_id) IN (SELECT project_id, user_id FROM new_users)
UNION ALL
SELECT 'event_ids', (SELECT count() FROM new_ids), count()
FROM event_ids WHERE (project_id, event_id) IN (SELECT project_id, event_key FROM new_ids)
UNION ALL
SELECT 'events', (SELECT count() FROM new_events), count()
FROM events
WHERE load = ${uint64(load)} AND (project_id, toDate(timestamp)) IN (SELECT project_id, toDate(timestamp) FROM new_events)`
