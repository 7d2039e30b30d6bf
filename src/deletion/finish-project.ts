/** Removes a project with all that belongs to it. */
import type { Connection } from '../clickhouse/connection.js'
import { withLease } from '../clickhouse/lease/lease.js'
import { sql, statement, string } from '../clickhouse/sql.js'
import { LIVE } from '../model/rollup-tables.js'
import { endDeletion, recordStep, STEP, type Deletion } from './journal.js'

const KEYS = sql`api_keys`

/** In this order. Without keys nobody asks any more; at the end go those that were issued meanwhile. */
const TABLES = [
  KEYS,
  ...Object.values(LIVE.rollups),
  sql`events`,
  sql`sessions`,
  sql`users`,
  sql`event_ids`,
  sql`exclusions`,
  KEYS,
]

/** Removes the project, or goes on where it was left. The caller holds the lease of the loader. */
export async function finishProjectDeletion(writer: Connection, removal: Deletion): Promise<void> {
  const { projectId, token, reached } = removal
  if (reached < STEP.removed) {
    for (const table of TABLES) {
      await writer.execute(
        statement(sql`DELETE FROM ${table} WHERE project_id = ${string(projectId)}`),
      )
    }
    await recordStep(writer, removal, STEP.removed)
  }
  // From here on there may be a new project of the same id: only the old one has the token.
  await withLease(writer, 'projects', () =>
    writer.execute(
      statement(
        sql`DELETE FROM projects WHERE id = ${string(projectId)} AND token = ${string(token)}`,
      ),
    ),
  )
  await endDeletion(writer, removal)
}
