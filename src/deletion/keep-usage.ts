/** Keeps the usage of a project that is deleted, for the invoices of its last months. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string } from '../clickhouse/sql.js'
import type { Deletion } from './journal.js'

/** The reason of answered queries, among those of the table `usage`. */
export const QUERIES = 'queries'

/**
 * Copies the usage of a project before it is deleted, with one insert: it copies all or nothing, and does nothing when it is repeated.
 * Each store gets a row of the project at least, so that the home knows of projects that live elsewhere.
 */
export async function keepUsage(
  writer: Connection,
  { projectId, token }: Pick<Deletion, 'projectId' | 'token'>,
): Promise<void> {
  const id = string(projectId)
  const project = sql`
SELECT org FROM projects FINAL PREWHERE id = ${id}
WHERE token = ${string(token)} OR former_token = ${string(token)}`
  await writer.execute(
    statement(sql`
INSERT INTO deleted_usage (project_id, org, token, day, reason, events)
SELECT ${id}, (SELECT any(org) FROM (${project})), ${string(token)}, day, reason, events
FROM (
  SELECT day, toString(reason) AS reason, sum(events) AS events FROM usage WHERE project_id = ${id} GROUP BY ALL
  UNION ALL
  SELECT day, ${string(QUERIES)}, sum(queries) FROM query_usage WHERE project_id = ${id} GROUP BY ALL
  UNION ALL
  SELECT today(), ${string(QUERIES)}, 0
)
WHERE (SELECT count() FROM (${project})) > 0
  AND ${string(token)} NOT IN (SELECT token FROM deleted_usage WHERE project_id = ${id})`),
  )
}
