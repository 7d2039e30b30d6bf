/** The steps that delete a project; each may be repeated. */
import type { Connection } from '../clickhouse/connection.js'
import { withLease } from '../clickhouse/lease/lease.js'
import { sql, statement, string } from '../clickhouse/sql.js'
import { LIVE } from '../model/rollup-tables.js'
import { endDeletion, recordStep, STEP, type Deletion } from './journal.js'

const API_KEYS = sql`api_keys`

/** In order. The keys go first, so that no query is answered any more, and again last, for keys issued meanwhile. */
const TABLES = [
  API_KEYS,
  ...Object.values(LIVE.rollups),
  sql`events`,
  sql`sessions`,
  sql`users`,
  sql`event_ids`,
  sql`exclusions`,
  API_KEYS,
]

/** Deletes the project from the step that the deletion has reached. The caller holds the loader lease. */
export async function finishProjectDeletion(writer: Connection, deletion: Deletion): Promise<void> {
  const { projectId, token, reached } = deletion
  if (reached < STEP.deleted) {
    for (const table of TABLES) {
      await writer.execute(
        statement(sql`DELETE FROM ${table} WHERE project_id = ${string(projectId)}`),
      )
    }
    await recordStep(writer, deletion, STEP.deleted)
  }
  // A new project may have the same id from here on: the token tells the old one from it.
  await withLease(writer, 'projects', () =>
    writer.execute(
      statement(
        sql`DELETE FROM projects WHERE id = ${string(projectId)} AND token = ${string(token)}`,
      ),
    ),
  )
  await endDeletion(writer, deletion)
}
