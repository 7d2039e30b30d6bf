/**
 * The steps that delete a project. First its API keys end, and only when no service accepts them any more its data
 * is deleted: a response about half of the data is never given.
 */
import { forgetChanges } from '../changes/left-changes.js'
import type { Connection } from '../clickhouse/connection.js'
import { withLease } from '../clickhouse/lease/lease.js'
import { sql, statement, string } from '../clickhouse/sql.js'
import { SECOND_MS } from '../lib/time.js'
import { LIVE } from '../model/rollup-table-sets.js'
import { keepUsage } from './keep-usage.js'
import { findProject, markDeleting } from '../projects/store.js'
import {
  endDeletion,
  findUnfinishedDeletions,
  isUserDeletion,
  recordStep,
  startDeletion,
  STEP,
  type Deletion,
} from './journal.js'

/**
 * The time from the end of the API keys to the deletion of the data. Services use what they know of a key for 4 seconds from
 * the start of its lookup, which takes no longer, and a query that was accepted then takes up to 10 seconds by default.
 */
export const KEYS_END_MS = 15 * SECOND_MS

/** The tables with rows of a project, in the order of deletion. */
const TABLES = [
  sql`api_keys`,
  ...Object.values(LIVE.rollups),
  sql`events`,
  sql`sessions`,
  sql`users`,
  sql`user_keys`,
  sql`user_counts`,
  sql`event_ids`,
  sql`usage`,
  sql`query_usage`,
  sql`cutoffs`,
  sql`notes`,
  sql`definitions`,
  sql`uploads`,
  sql`paired_projects`,
]

/**
 * Deletes a project if its API keys ended at least `waitMs` ago, and ends them if they have not. The caller holds the
 * loader lease.
 *
 * @param isElsewhere returns whether other shards still have the project; then it stays here, too
 */
export async function finishProjectDeletion(
  writer: Connection,
  deletion: Deletion,
  waitMs: number,
  isElsewhere?: (projectId: string) => Promise<boolean>,
): Promise<void> {
  if (deletion.reached < STEP.staged) {
    await withLease(writer, 'projects', () => endKeys(writer, deletion))
    if (waitMs > 0) return
  } else if (deletion.reached === STEP.staged && deletion.age < waitMs) {
    return
  }
  if ((await isElsewhere?.(deletion.projectId)) === true) return
  await deleteData(writer, deletion)
}

/**
 * Starts the deletions of the projects on a shard whose copies say that they are being deleted: their API keys have ended at
 * home. The caller holds the loader lease.
 */
export async function startMarkedDeletions(writer: Connection): Promise<void> {
  const started = (await findUnfinishedDeletions(writer)).filter((one) => !isUserDeletion(one))
  const { rows } = await writer.query<{ id: string; token: string }>(
    statement(sql`SELECT id, token FROM projects FINAL WHERE is_deleting ORDER BY id`),
  )
  for (const { id: projectId, token } of rows) {
    if (started.some((deletion) => deletion.projectId === projectId)) continue
    const deletion = await startDeletion(writer, { projectId, users: [], token })
    await recordStep(writer, deletion, STEP.staged)
  }
}

/** Marks the project as deleted, which ends its API keys and public tokens. The caller holds the lease `projects`. */
export async function endKeys(writer: Connection, deletion: Deletion): Promise<void> {
  const { projectId, token } = deletion
  const project = await findProject(writer, projectId)
  // A later project with the same id has other tokens.
  const isSame = project?.token === token || project?.formerToken?.token === token
  if (isSame) await markDeleting(writer, projectId)
  await recordStep(writer, deletion, STEP.staged)
}

async function deleteData(writer: Connection, deletion: Deletion): Promise<void> {
  const { projectId, token, reached } = deletion
  if (reached < STEP.deleted) {
    await keepUsage(writer, deletion)
    for (const table of TABLES) {
      await writer.execute(
        statement(sql`DELETE FROM ${table} WHERE project_id = ${string(projectId)}`),
      )
    }
    await forgetChanges(writer, projectId)
    await recordStep(writer, deletion, STEP.deleted)
  }
  // From here on a new project may take the same id: it has another token, and was created later.
  await withLease(writer, 'projects', () =>
    writer.execute(
      statement(sql`
DELETE FROM projects WHERE id = ${string(projectId)} AND created_at IN (
  SELECT created_at FROM projects
  WHERE id = ${string(projectId)} AND (token = ${string(token)} OR former_token = ${string(token)})
)`),
    ),
  )
  await endDeletion(writer, deletion)
}
