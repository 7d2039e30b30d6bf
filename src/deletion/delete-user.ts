/** Deletes a user: the events, the sessions and their share of the rollups. */
import type { Store } from '../clickhouse/store.js'
import { requireProject } from '../projects/store.js'
import { UserError } from '../lib/errors.js'
import { finishInterruptedWork, loadWaiting } from '../ingest/loader/loader.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { withLoaderLease } from '../ingest/loader/with-loader-lease.js'
import { startDeletion } from './journal.js'
import { readUserHoldings, type UserHoldings } from './holdings.js'

/**
 * Deletes a user. Events that wait in the inbox are loaded first and deleted with the rest; events with this
 * user id that arrive later belong to a new user. Calling it again finishes an interrupted deletion.
 *
 * @returns the number of events and sessions that the user had.
 * @throws UserError when there is no such project, or no such user in it.
 */
export async function deleteUser(
  { writer }: Store,
  projectId: string,
  userId: string,
  context: LoaderContext,
): Promise<UserHoldings> {
  return withLoaderLease(writer, async (fenced) => {
    await requireProject(fenced, projectId)
    const before = await readUserHoldings(fenced, projectId, userId)
    await loadWaiting(fenced, context)
    const holdings = await readUserHoldings(fenced, projectId, userId)
    if (holdings !== undefined) {
      await startDeletion(fenced, { projectId, user: holdings.user, token: '' })
      await finishInterruptedWork(fenced, context)
    }
    // A user found only before loading was in an interrupted deletion, which loadWaiting has just finished.
    const deleted = holdings ?? before
    if (deleted === undefined) throw createUnknownUserError(projectId, userId)
    return deleted
  })
}

/** The error for a user id without events. */
export const createUnknownUserError = (projectId: string, userId: string): UserError =>
  new UserError(`there is no user ${userId} in project ${projectId}`)
