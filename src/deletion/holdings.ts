/** Counts the rows of users or a project, which are the rows that deleting it deletes. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string, strings, uint32s } from '../clickhouse/sql.js'

export interface UserHoldings {
  readonly userId: string
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

/** Counts the events and sessions of each user; leaves out the ids that the project has no users with. */
export async function readUserHoldings(
  connection: Connection,
  projectId: string,
  userIds: readonly string[],
): Promise<readonly UserHoldings[]> {
  const inProject = sql`project_id = ${string(projectId)}`
  const { rows: users } = await connection.query<{ userId: string; user: number }>(
    statement(sql`
SELECT DISTINCT user_id AS userId, user FROM users WHERE ${inProject} AND user_id IN ${strings(userIds)} ORDER BY user`),
  )
  if (users.length === 0) return []
  const isOwnRow = sql`${inProject} AND user IN ${uint32s(users.map(({ user }) => user))}`
  const { rows } = await connection.query<Omit<UserHoldings, 'userId'>>(
    statement(sql`
SELECT user, sum(event) AS events, sum(session) AS sessions
FROM (
  SELECT user, toInt64(1) AS event, toInt64(0) AS session FROM events WHERE ${isOwnRow}
  UNION ALL SELECT user, 0, toInt64(sign) FROM sessions WHERE ${isOwnRow}
)
GROUP BY user`),
  )
  const counts = new Map(rows.map((row) => [row.user, row]))
  return users.map((one) => ({ events: 0, sessions: 0, ...counts.get(one.user), ...one }))
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
