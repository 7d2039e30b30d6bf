/** Deletes a project: its events, users and API keys. */
import type { Store } from '../clickhouse/store.js'
import { findProject, requireProject } from '../projects/store.js'
import { finishInterruptedWork, loadWaiting } from '../ingest/loader/loader.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { withLoaderLease } from '../ingest/loader/with-loader-lease.js'
import { startDeletion } from './journal.js'
import { readProjectHoldings, type ProjectHoldings } from './holdings.js'

/**
 * Deletes a project. Events that wait in the inbox are loaded first and deleted with the rest; events that
 * arrive later are rejected. Calling it again finishes an interrupted deletion.
 *
 * @returns the number of events, users and API keys that the project had.
 * @throws UserError when there is no such project.
 */
export async function deleteProject(
  { writer }: Store,
  projectId: string,
  context: LoaderContext,
): Promise<ProjectHoldings> {
  return withLoaderLease(writer, async (fenced) => {
    await requireProject(fenced, projectId)
    const before = await readProjectHoldings(fenced, projectId)
    await loadWaiting(fenced, context)
    const project = await findProject(fenced, projectId)
    // An earlier deletion was interrupted, and loadWaiting has just finished it.
    if (project === undefined) return before
    const holdings = await readProjectHoldings(fenced, projectId)
    await startDeletion(fenced, { projectId, user: 0, token: project.token })
    await finishInterruptedWork(fenced, context)
    return holdings
  })
}
