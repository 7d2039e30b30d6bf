/** Adds the columns of this build to the tables of a load that an earlier build has staged. */
import type { Connection } from '../../../../clickhouse/connection.js'
import { join, sql, statement, type Sql } from '../../../../clickhouse/sql.js'
import { ATTRIBUTES } from '../../../../model/fact-columns.js'
import type { LoadTables } from './load-tables.js'

/** Attributes are texts. Publishing converts them to the types of the published tables. */
const addTexts = (columns: readonly Sql[]): Sql =>
  join(columns.map((column) => sql`ADD COLUMN IF NOT EXISTS ${column} String`))

/**
 * Adds the session attributes that the earlier build did not know to the staged tables. They are empty: that build did not
 * read them from the events. May be repeated.
 */
export async function addMissingColumns(
  writer: Connection,
  { sessions, previousStates, movedEvents }: LoadTables,
): Promise<void> {
  const newAttributes = ATTRIBUTES.map((column) => sql`new_${column}`)
  const changes = [
    sql`${sessions} ${addTexts(ATTRIBUTES)}`,
    sql`${previousStates} ${addTexts([...ATTRIBUTES, ...newAttributes])}`,
    sql`${movedEvents} ${addTexts(ATTRIBUTES)}`,
  ]
  for (const change of changes) await writer.execute(statement(sql`ALTER TABLE ${change}`))
}
