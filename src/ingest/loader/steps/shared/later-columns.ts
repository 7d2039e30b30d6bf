/** Adds columns to the tables of a load that an earlier version has staged. */
import type { Connection } from '../../../../clickhouse/connection.js'
import { sql, statement } from '../../../../clickhouse/sql.js'
import type { LoadTables } from './load-tables.js'

const ATTRIBUTES = sql`ADD COLUMN IF NOT EXISTS region LowCardinality(String), ADD COLUMN IF NOT EXISTS language LowCardinality(String)`
const NEW_ATTRIBUTES = sql`ADD COLUMN IF NOT EXISTS new_region LowCardinality(String), ADD COLUMN IF NOT EXISTS new_language LowCardinality(String)`
const EXITS = sql`ADD COLUMN IF NOT EXISTS exit_path String, ADD COLUMN IF NOT EXISTS exit_at DateTime64(3, 'UTC')`

/** The columns are empty: regions and languages were not sent to that version, and exit pages are not known. */
export async function addLaterColumns(writer: Connection, tables: LoadTables): Promise<void> {
  const changes = [
    sql`${tables.sessions} ${ATTRIBUTES}, ${EXITS}`,
    sql`${tables.previousStates} ${ATTRIBUTES}, ${NEW_ATTRIBUTES}, ${EXITS}`,
    sql`${tables.movedEvents} ${ATTRIBUTES}`,
  ]
  for (const change of changes) await writer.execute(statement(sql`ALTER TABLE ${change}`))
}
