/** Deletes a project: its events, users and API keys. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../clickhouse/connection.js'
import { withLease } from '../clickhouse/lease/lease.js'
import type { Store } from '../clickhouse/store.js'
import { findProject, requireProject } from '../projects/store.js'
import { finishInterruptedWork, loadWaiting } from '../ingest/loader/loader.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { withLoaderLease } from '../ingest/loader/with-loader-lease.js'
import { findUnfinishedDeletions, isUserDeletion, startDeletion, type Deletion } from './journal.js'
import { readProjectHoldings, type ProjectHoldings } from './holdings.js'
import { endKeys, finishProjectDeletion, KEYS_END_MS } from './project-deletion-steps.js'

/**
 * Deletes a project. Its API keys end first, and its data is deleted when no service accepts them any more; in between
 * others may load. Events that arrived by then are loaded and deleted with the rest; later ones are rejected.
 * Calling it again finishes an interrupted deletion.
 *
 * @param waitMs the time from the end of the API keys to the deletion of the data
 * @returns the number of events, users and API keys that the project had.
 * @throws UserError when there is no such project.
 */
export async function deleteProject(
  { writer }: Store,
  projectId: string,
  context: LoaderContext,
  waitMs = KEYS_END_MS,
): Promise<ProjectHoldings> {
  const before = await readProjectHoldings(writer, projectId)
  const number = await beginDeletion(writer, projectId, context)
  // An earlier deletion was interrupted, and has just been finished.
  if (number === undefined) return before
  await sleep(waitMs)
  return completeDeletion(writer, { projectId, number }, context, waitMs)
}

/**
 * Ends the API keys of a project.
 *
 * @returns the number of its deletion; undefined when the project does not exist any more
 * @throws UserError when there was no such project
 */
export const beginDeletion = (
  writer: Connection,
  projectId: string,
  context: LoaderContext,
): Promise<number | undefined> =>
  withLoaderLease(writer, async (fenced) => {
    await requireProject(fenced, projectId)
    await finishInterruptedWork(fenced, context)
    return withLease(fenced, 'projects', () => startProjectDeletion(fenced, projectId))
  })

/**
 * Deletes the data of a project whose API keys ended `waitMs` ago, and the project.
 *
 * @returns the number of events, users and API keys that it had
 */
export const completeDeletion = (
  writer: Connection,
  { projectId, number }: Pick<Deletion, 'projectId' | 'number'>,
  context: LoaderContext,
  waitMs: number,
): Promise<ProjectHoldings> =>
  withLoaderLease(writer, async (fenced) => {
    await loadWaiting(fenced, {
      ...context,
      finishDeletions: (connection) =>
        context.finishDeletions(connection, { waitMs, noticeMs: context.noticeMs, except: number }),
    })
    const holdings = await readProjectHoldings(fenced, projectId)
    const deletion = (await findUnfinishedDeletions(fenced)).find((one) => one.number === number)
    // Otherwise another process has finished it.
    if (deletion !== undefined) await finishProjectDeletion(fenced, deletion, 0)
    return holdings
  })

/**
 * Starts the deletion of a project, or finds the one that was started, and ends its API keys. The caller holds the leases
 * `loader` and `projects`.
 *
 * @returns the number of the deletion; undefined when the project does not exist any more
 */
async function startProjectDeletion(
  fenced: Connection,
  projectId: string,
): Promise<number | undefined> {
  const project = await findProject(fenced, projectId)
  if (project === undefined) return undefined
  const started = (await findUnfinishedDeletions(fenced)).find(
    (one) => !isUserDeletion(one) && one.projectId === projectId,
  )
  if (started !== undefined) return started.number
  const deletion = await startDeletion(fenced, { projectId, users: [], token: project.token })
  await endKeys(fenced, deletion)
  return deletion.number
}
