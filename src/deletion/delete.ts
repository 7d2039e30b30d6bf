/** Deletes users and projects: all of their events, and what those came to. */
import type { Store } from '../clickhouse/store.js'
import { findProject, requireProject } from '../projects/store.js'
import { UserError } from '../lib/user-error.js'
import { finishUnfinished, loadWaiting } from '../ingest/loader/loader.js'
import type { Geography } from '../ingest/loader/steps/enrich.js'
import { startRemoval } from './journal.js'
import { surveyProject, surveyUser, type ProjectHoldings, type UserHoldings } from './holdings.js'
import { whileAlone } from '../ingest/loader/with-loader-lease.js'

/**
 * Deletes a user. What was received before is loaded first, and deleted with the rest; what is received
 * later is of a new user. To do it again finishes what was broken off.
 *
 * @returns what was deleted.
 * @throws UserError when there is no such project, or no such user in it.
 */
export async function removeUser(
  { writer }: Store,
  projectId: string,
  userId: string,
  geography?: Geography,
): Promise<UserHoldings> {
  return whileAlone(writer, async (holder) => {
    await requireProject(holder, projectId)
    const before = await surveyUser(holder, projectId, userId)
    await loadWaiting(holder, geography)
    const found = await surveyUser(holder, projectId, userId)
    if (found !== undefined) {
      await startRemoval(holder, { projectId, user: found.user, token: '' })
      await finishUnfinished(holder)
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
export async function removeProject(
  { writer }: Store,
  projectId: string,
  geography?: Geography,
): Promise<ProjectHoldings> {
  return whileAlone(writer, async (holder) => {
    await requireProject(holder, projectId)
    const before = await surveyProject(holder, projectId)
    await loadWaiting(holder, geography)
    const project = await findProject(holder, projectId)
    if (project === undefined) return before
    const found = await surveyProject(holder, projectId)
    await startRemoval(holder, { projectId, user: 0, token: project.token })
    await finishUnfinished(holder)
    return found
  })
}
