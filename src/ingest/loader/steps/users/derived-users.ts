/** The users of events without a user id: their salts, and which rows become events. */
import type { Connection } from '../../../../clickhouse/connection.js'
import { sql, statement, type Sql } from '../../../../clickhouse/sql.js'
import { insertNewSalts, IS_FRESH, storeSalts, type ShareSalts } from '../../../../cluster/salts.js'
import type { LoadTables } from '../shared/load-tables.js'

/** Whether a row becomes an event, unless its event id came before. */
export const isIncluded = (tables: LoadTables): Sql =>
  sql`fate = 'kept' AND seq NOT IN (SELECT seq FROM ${tables.excludedEvents})`

/** Selects the days that have events without a user id and no salt yet. */
const selectDaysWithoutSalt = (tables: LoadTables): Sql => sql`
FROM (SELECT DISTINCT toDate(timestamp) AS day FROM ${tables.rows} AS load_rows WHERE ${isIncluded(tables)} AND user_id = '')
WHERE day NOT IN (SELECT day FROM salts WHERE ${IS_FRESH})`

/**
 * Stores a salt for each day that needs one.
 *
 * @param shareSalts undefined for a store that makes its own
 */
export async function saltDays(
  writer: Connection,
  tables: LoadTables,
  shareSalts: ShareSalts | undefined,
): Promise<void> {
  if (shareSalts === undefined) {
    await writer.execute(
      statement(insertNewSalts(sql`SELECT day ${selectDaysWithoutSalt(tables)}`)),
    )
    return
  }
  const { rows } = await writer.query<{ missing: string }>(
    statement(sql`SELECT toString(day) AS missing${selectDaysWithoutSalt(tables)}`),
  )
  if (rows.length === 0) return
  const salts = await shareSalts(rows.map(({ missing }) => missing))
  if (salts.length > 0) await storeSalts(writer, salts)
}

/** The salt of each day: the first, if two loaders made one at the same moment. */
export const SALTS = sql`SELECT day, argMin(salt, (created_at, salt)) AS salt FROM salts GROUP BY day`

/** Builds the id of the user of a row without a user id. */
export const deriveUserId = (salt: Sql): Sql =>
  sql`concat('anonymous-', lower(hex(sipHash128(${salt}, project_id, ip, user_agent))))`

/**
 * Selects the first row, by `seq`, of each event id that no earlier load had.
 *
 * @param among a table with the ids to look at as its column `event_key`, 0 for none; by default all ids
 */
export const selectFirstOfIds = (tables: LoadTables, among: Sql = tables.rows): Sql => sql`
    SELECT min(seq) FROM ${tables.rows} AS load_rows
    WHERE ${isIncluded(tables)} AND event_key != 0${among === tables.rows ? sql`` : sql` AND event_key IN (SELECT event_key FROM ${among})`}
      AND (project_id, event_key) NOT IN (
        SELECT project_id, event_id FROM event_ids
        WHERE project_id IN (SELECT project_id FROM ${among} AS load_rows)
          AND event_id IN (SELECT event_key FROM ${among} AS load_rows))
    GROUP BY project_id, event_key`
