/** Drops temporary tables, which each kind of work names with a certain prefix. */
import type { Connection } from './connection.js'
import { identifier, join, sql, statement, string } from './sql.js'

/** Drops all tables and views of the database whose names start with the prefix, views first. */
export async function dropTables(writer: Connection, prefix: string): Promise<void> {
  const { rows } = await writer.query<{ name: string }>(
    statement(sql`
SELECT name FROM system.tables
WHERE database = currentDatabase() AND startsWith(name, ${string(prefix)})
ORDER BY engine != 'MaterializedView', name`),
  )
  if (rows.length === 0) return
  const names = join(rows.map(({ name }) => identifier(name)))
  await writer.execute(statement(sql`DROP TABLE IF EXISTS ${names} SYNC`))
}

/** Drops the tables with this prefix that are older than a day: the process that created them was killed. */
export async function dropAbandonedTables(writer: Connection, prefix: string): Promise<void> {
  const { rows } = await writer.query<{ name: string }>(
    statement(sql`
SELECT name FROM system.tables
WHERE database = currentDatabase() AND startsWith(name, ${string(prefix)}) AND metadata_modification_time < now() - INTERVAL 1 DAY`),
  )
  for (const { name } of rows) {
    await writer.execute(statement(sql`DROP TABLE IF EXISTS ${identifier(name)} SYNC`))
  }
}
