/** Deletes users and projects: all of their events, and what those came to. */
import type { Store } from '../clickhouse/store.js'
import { findProject, requireProject } from '../projects/store.js'
import { UserError } from '../lib/errors.js'
import { finishInterruptedWork, loadWaiting } from '../ingest/loader/loader.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { startDeletion } from './journal.js'
import {
  readProjectHoldings,
  readUserHoldings,
  type ProjectHoldings,
  type UserHoldings,
} from './holdings.js'
import { withLoaderLease } from '../ingest/loader/with-loader-lease.js'

/**
 * Deletes a user. What was received before is loaded first, and deleted with the rest; what is received
 * later is of a new user. To do it again finishes what was broken off.
 *
 * @returns what was deleted.
 * @throws UserError when there is no such project, or no such user in it.
 */
export async function deleteUser(
  { writer }: Store,
  projectId: string,
  userId: string,
  context: LoaderContext,
): Promise<UserHoldings> {
  return withLoaderLease(writer, async (holder) => {
    await requireProject(holder, projectId)
    const before = await readUserHoldings(holder, projectId, userId)
    await loadWaiting(holder, context)
    const found = await readUserHoldings(holder, projectId, userId)
    if (found !== undefined) {
      await startDeletion(holder, { projectId, user: found.user, token: '' })
      await finishInterruptedWork(holder, context)
    }
    // Who was there before was being deleted already.
    const removed = found ?? before
    if (removed === undefined) throw noSuchUser(projectId, userId)
    return removed
  })
}

/** The error for a user id that has no events. */
export const noSuchUser = (projectId: string, userId: string): UserError =>
  new UserError(`there is no user ${userId} in project ${projectId}`)

/**
 * Deletes a project. What was received before is loaded first, and deleted with the rest; what is received
 * later is rejected. To do it again finishes what was broken off.
 *
 * @returns what was deleted with it.
 * @throws UserError when there is no such project.
 */
export async function deleteProject(
  { writer }: Store,
  projectId: string,
  context: LoaderContext,
): Promise<ProjectHoldings> {
  return withLoaderLease(writer, async (holder) => {
    await requireProject(holder, projectId)
    const before = await readProjectHoldings(holder, projectId)
    await loadWaiting(holder, context)
    const project = await findProject(holder, projectId)
    if (project === undefined) return before
    const found = await readProjectHoldings(holder, projectId)
    await startDeletion(holder, { projectId, user: 0, token: project.token })
    await finishInterruptedWork(holder, context)
    return found
  })
}
