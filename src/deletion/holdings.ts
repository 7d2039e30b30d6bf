/** Tells what a user or a project has, and so what a removal takes away. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string, uint32 } from '../clickhouse/sql.js'

export interface UserHoldings {
  /** The number of the user. */
  readonly user: number
  readonly events: number
  readonly sessions: number
}

export interface ProjectHoldings {
  readonly events: number
  readonly users: number
  /** API keys, those that were revoked among them. */
  readonly keys: number
}

/** What a user has; undefined when there is none of that id. */
export async function readUserHoldings(
  connection: Connection,
  projectId: string,
  userId: string,
): Promise<UserHoldings | undefined> {
  const project = sql`project_id = ${string(projectId)}`
  const found = await connection.query<{ user: number }>(
    statement(sql`SELECT user FROM users WHERE ${project} AND user_id = ${string(userId)} LIMIT 1`),
  )
  const [row] = found.rows
  if (row === undefined) return undefined
  const own = sql`${project} AND user = ${uint32(row.user)}`
  const { rows } = await connection.query<{ events: number; sessions: number }>(
    statement(sql`
SELECT
  (SELECT count() FROM events WHERE ${own}) AS events,
  (SELECT sum(toInt64(sign)) FROM sessions WHERE ${own}) AS sessions`),
  )
  return { user: row.user, ...(rows[0] ?? { events: 0, sessions: 0 }) }
}

/** What a project has. */
export async function readProjectHoldings(
  connection: Connection,
  projectId: string,
): Promise<ProjectHoldings> {
  const project = sql`project_id = ${string(projectId)}`
  const { rows } = await connection.query<ProjectHoldings>(
    statement(sql`
SELECT
  (SELECT count() FROM events WHERE ${project}) AS events,
  (SELECT count() FROM users WHERE ${project}) AS users,
  (SELECT uniqExact(id) FROM api_keys WHERE ${project}) AS keys`),
  )
  return rows[0] ?? { events: 0, users: 0, keys: 0 }
}
