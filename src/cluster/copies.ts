/** The copies of projects that shards have: their loaders read the projects' rules from them. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string } from '../clickhouse/sql.js'
import { createDeadline } from './reach.js'

/**
 * Deletes the copy of a project from a shard, unless the shard has data of the project or events that wait.
 *
 * @returns whether the shard has no copy now
 */
export async function removeCopy(writer: Connection, id: string): Promise<boolean> {
  if (await hasDataOf(writer, id)) return false
  await writer.execute(
    statement(sql`DELETE FROM projects WHERE id = ${string(id)}`),
    {},
    createDeadline(),
  )
  return true
}

/** Returns whether a shard has events, sessions or users of a project, or rows for it that wait to be loaded. */
async function hasDataOf(connection: Connection, id: string): Promise<boolean> {
  const isOf = sql`project_id = ${string(id)} LIMIT 1`
  const { rows } = await connection.query(
    statement(sql`
SELECT 1 FROM (
  (SELECT 1 FROM events WHERE ${isOf}) UNION ALL
  (SELECT 1 FROM sessions WHERE ${isOf}) UNION ALL
  (SELECT 1 FROM users WHERE ${isOf}) UNION ALL
  (SELECT 1 FROM inbox WHERE project = ${string(id)} LIMIT 1)
)`),
    { signal: createDeadline() },
  )
  return rows.length > 0
}
