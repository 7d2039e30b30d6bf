/** Selects what deleted projects used. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string, strings, uint32, type Sql } from '../clickhouse/sql.js'

/** Which deleted projects count. */
export interface DeletedProjects {
  readonly ids: readonly string[]
  /** Organizations that a project must have belonged to, all of them; none for any. */
  readonly orgs: readonly string[]
}

const isOf = (orgs: readonly string[]): Sql => sql`arrayAll(one -> one = org, ${strings(orgs)})`

/** Lists the ids of deleted projects whose usage is kept, in their order. They may be those of later projects, too. */
export async function listDeletedProjects(
  home: Connection,
  { after, limit, orgs }: Pick<DeletedProjects, 'orgs'> & { after: string; limit: number },
): Promise<readonly string[]> {
  const { rows } = await home.query<{ id: string }>(
    statement(sql`
SELECT DISTINCT project_id AS id FROM deleted_usage
WHERE project_id > ${string(after)} AND ${isOf(orgs)}
ORDER BY id LIMIT ${uint32(limit)}`),
  )
  return rows.map(({ id }) => id)
}

/** Selects rows of deleted projects, with the columns of `usage`. */
export const selectDeletedUsage = ({ ids, orgs }: DeletedProjects): Sql =>
  sql`SELECT project_id, day, reason, events FROM deleted_usage WHERE project_id IN ${strings(ids)} AND ${isOf(orgs)}`
