/** Counts the rows of a user or a project, which are the rows that deleting it deletes. */
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
  /** API keys, including revoked ones. */
  readonly keys: number
}

/** Counts the events and sessions of a user; returns undefined when the project has no user with that id. */
export async function readUserHoldings(
  connection: Connection,
  projectId: string,
  userId: string,
): Promise<UserHoldings | undefined> {
  const inProject = sql`project_id = ${string(projectId)}`
  const users = await connection.query<{ user: number }>(
    statement(
      sql`SELECT user FROM users WHERE ${inProject} AND user_id = ${string(userId)} LIMIT 1`,
    ),
  )
  const [row] = users.rows
  if (row === undefined) return undefined
  const isOwnRow = sql`${inProject} AND user = ${uint32(row.user)}`
  const { rows } = await connection.query<{ events: number; sessions: number }>(
    statement(sql`
SELECT
  (SELECT count() FROM events WHERE ${isOwnRow}) AS events,
  (SELECT sum(toInt64(sign)) FROM sessions WHERE ${isOwnRow}) AS sessions`),
  )
  return { user: row.user, ...(rows[0] ?? { events: 0, sessions: 0 }) }
}

/** Counts the events, users and API keys of a project. */
export async function readProjectHoldings(
  connection: Connection,
  projectId: string,
): Promise<ProjectHoldings> {
  const inProject = sql`project_id = ${string(projectId)}`
  const { rows } = await connection.query<ProjectHoldings>(
    statement(sql`
SELECT
  (SELECT count() FROM events WHERE ${inProject}) AS events,
  (SELECT count() FROM users WHERE ${inProject}) AS users,
  (SELECT uniqExact(id) FROM api_keys WHERE ${inProject}) AS keys`),
  )
  return rows[0] ?? { events: 0, users: 0, keys: 0 }
}
