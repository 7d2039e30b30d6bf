/** Deletes a user: the events, the sessions and their share of the rollups. */
import type { Store } from '../clickhouse/store.js'
import { requireProject } from '../projects/store.js'
import { MissingError } from '../lib/errors.js'
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
  store: Store,
  projectId: string,
  userId: string,
  context: LoaderContext,
): Promise<UserHoldings> {
  const deleted = await findAndDelete({ store, loader: context }, projectId, userId)
  if (deleted === undefined) throw createUnknownUserError(projectId, userId)
  return deleted
}

/** A shard with the context of its loader. */
interface LoadedShard {
  readonly name: string
  readonly store: Store
  readonly loader: LoaderContext
}

/**
 * Deletes a user from all shards of a project, one after the other. Calling it again goes on after an interruption.
 *
 * @param check rejects if the project does not live on these shards any more. It is called while a shard loads nothing, so
 *   nothing leaves the shard until the user is deleted there
 * @returns the number of events and sessions that the user had on them together
 * @throws UserError when none of them has the user, and what the check rejects with
 */
export async function deleteUserFromShards(
  shards: readonly LoadedShard[],
  projectId: string,
  userId: string,
  check: () => Promise<void>,
): Promise<CountedRows> {
  const found: (UserHoldings | undefined)[] = []
  for (const shard of shards) found.push(await findAndDelete(shard, projectId, userId, check))
  const deleted = sumUserHoldings(found)
  if (deleted === undefined) throw createUnknownUserError(projectId, userId)
  return deleted
}

type CountedRows = Pick<UserHoldings, 'events' | 'sessions'>

/** Adds what a user has on several shards; undefined when none of them has the user. */
export function sumUserHoldings(
  found: readonly (UserHoldings | undefined)[],
): CountedRows | undefined {
  const known = found.filter((one) => one !== undefined)
  if (known.length === 0) return undefined
  return {
    events: known.reduce((sum, { events }) => sum + events, 0),
    sessions: known.reduce((sum, { sessions }) => sum + sessions, 0),
  }
}

/** Deletes a user from one store; returns undefined when it does not have the user. */
const findAndDelete = (
  { store: { writer }, loader: context }: Omit<LoadedShard, 'name'>,
  projectId: string,
  userId: string,
  check?: () => Promise<void>,
): Promise<UserHoldings | undefined> =>
  withLoaderLease(writer, async (fenced) => {
    await requireProject(fenced, projectId)
    await check?.()
    const before = await readUserHoldings(fenced, projectId, userId)
    await loadWaiting(fenced, context)
    const holdings = await readUserHoldings(fenced, projectId, userId)
    if (holdings !== undefined) {
      await startDeletion(fenced, { projectId, user: holdings.user, token: '' })
      await finishInterruptedWork(fenced, context)
    }
    // A user found only before loading was in an interrupted deletion, which loadWaiting has just finished.
    return holdings ?? before
  })

/** The error for a user id without events. */
export const createUnknownUserError = (projectId: string, userId: string): MissingError =>
  new MissingError(`there is no user ${userId} in project ${projectId}`)
