/** Creates tables like others. */
import type { Connection } from '../connection.js'
import { sql, statement, string, type Sql } from '../sql.js'
import { toPlainEngine } from './engines.js'

/** Creates an empty table like another one. On a replica it is a plain table, which only this replica has. */
export async function createLike(
  connection: Connection,
  table: Sql,
  like: Sql,
  { ifNotExists = false }: { readonly ifNotExists?: boolean } = {},
): Promise<void> {
  const { query, query_params } = statement(
    sql`CREATE TABLE ${ifNotExists ? sql`IF NOT EXISTS ` : sql``}${table} AS ${like}`,
  )
  const engine =
    connection.replica === undefined ? undefined : await readPlainEngine(connection, like)
  await connection.execute({
    query: engine === undefined ? query : `${query} ENGINE = ${engine}`,
    query_params,
  })
}

/** Reads the engine of a table with all its clauses, as that of a plain table. The name of the table stands in the text of `table`. */
async function readPlainEngine(connection: Connection, table: Sql): Promise<string> {
  const { query: name } = statement(table)
  const { rows } = await connection.query<{ engine: string }>(
    statement(sql`
SELECT engine_full AS engine FROM system.tables WHERE database = currentDatabase() AND name = ${string(name)}`),
  )
  if (rows[0] === undefined) throw new TypeError(`there is no table ${name}`)
  return toPlainEngine(rows[0].engine)
}
