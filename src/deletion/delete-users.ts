/** Deletes users: the events, the sessions and their share of the rollups. */
import { hideAtOnce } from '../changes/announce-change.js'
import { LeaseTimeoutError } from '../clickhouse/lease/lease.js'
import type { Store } from '../clickhouse/store.js'
import { requireProject } from '../projects/store.js'
import { FieldValueError, MissingError } from '../lib/errors.js'
import { finishInterruptedWork, loadWaiting } from '../ingest/loader/loader.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { withLoaderLease, withLoaderLeases, type Held } from '../ingest/loader/with-loader-lease.js'
import { findUnfinishedDeletions, startDeletion } from './journal.js'
import { readUserHoldings, type UserHoldings } from './holdings.js'

/** The most users that one deletion deletes. */
export const MAX_DELETED_USERS = 1_000

/** A shard with the context of its loader. */
interface LoadedShard {
  readonly name: string
  readonly store: Store
  readonly loader: LoaderContext
}

/** What some users have, or had, on all shards together. */
export interface UsersHoldings {
  readonly events: number
  readonly sessions: number
  /** The number of users that were found. */
  readonly users: number
  /** The ids that no shard has, in the order in which they were given. */
  readonly unknownUserIds: readonly string[]
}

/** By shard, what a deletion has found so far. */
export type FoundUsers = Readonly<Record<string, readonly UserHoldings[]>>

/** What a deletion of users calls while it runs. */
interface DeletionHooks {
  /**
   * Rejects if the project does not live on these shards any more. It is called while a shard loads nothing, so nothing leaves
   * the shard before the users are deleted there: a relocation finishes deletions before it copies.
   */
  readonly check: () => Promise<void>
  /** Stores what is found, before any of it is deleted. If left out, a run after an interruption counts only what it finds. */
  readonly recordFound?: (found: FoundUsers) => Promise<void>
}

/** Users whom no query counts any more, and whose rows are still stored. */
export interface HiddenUsers {
  /** What they had. */
  readonly holdings: UsersHoldings
  /**
   * Resolves when their rows are gone. It deletes them, unless the loader of a service does. Both do so after an interruption.
   */
  readonly deleteRows: () => Promise<void>
}

/**
 * Hides users from all queries at one moment, on all shards of their project, and starts the deletion of their rows. Events that wait
 * in the inbox are loaded first and deleted with the rest; events with these user ids that arrive later belong to new users. Calling it
 * again goes on after an interruption.
 *
 * @param shards in the order of the cluster
 * @param userIds at least one, at most `MAX_DELETED_USERS`; an id that is given twice counts once
 * @param found what the interrupted run has stored
 * @throws FieldValueError for none or too many ids, UserError when there is no such project, and what the check rejects with
 */
export async function hideUsersFromShards(
  shards: readonly LoadedShard[],
  projectId: string,
  userIds: readonly string[],
  hooks: DeletionHooks,
  found: FoundUsers = {},
): Promise<HiddenUsers> {
  const ids = requireUserIds(userIds)
  const hidden = await withLoaderLeases(
    shards,
    ({ store }) => store.writer,
    (held) => findAndHide(held, projectId, ids, hooks, found),
  )
  return {
    holdings: sumUserHoldings(ids, Object.values(hidden.found).flat()),
    deleteRows: async () => {
      for (const { shard, number } of hidden.deletions) await finishDeletion(shard, number)
    },
  }
}

/** Hides users and deletes their rows, as `hideUsersFromShards` says. Returns what they had. */
export async function deleteUsersFromShards(
  ...args: Parameters<typeof hideUsersFromShards>
): Promise<UsersHoldings> {
  const { holdings, deleteRows } = await hideUsersFromShards(...args)
  await deleteRows()
  return holdings
}

/** Returns the ids without repetitions. @throws FieldValueError for none or too many */
export function requireUserIds(userIds: readonly string[]): readonly string[] {
  const ids = [...new Set(userIds)]
  if (ids.length === 0 || ids.length > MAX_DELETED_USERS) {
    throw new FieldValueError(
      'userIds',
      `a deletion is of 1 to ${MAX_DELETED_USERS} users, and not of ${ids.length}`,
    )
  }
  return ids
}

/** Adds what users have on several shards. @param userIds those that were looked for */
export function sumUserHoldings(
  userIds: readonly string[],
  found: readonly UserHoldings[],
): UsersHoldings {
  const known = new Set(found.map(({ userId }) => userId))
  return {
    events: found.reduce((sum, { events }) => sum + events, 0),
    sessions: found.reduce((sum, { sessions }) => sum + sessions, 0),
    users: known.size,
    unknownUserIds: userIds.filter((userId) => !known.has(userId)),
  }
}

/** What is hidden: what was found of the users so far, and the number of the deletion of each shard that has some. */
interface HiddenOnShards {
  readonly found: FoundUsers
  readonly deletions: readonly { readonly shard: LoadedShard; readonly number: number }[]
}

/** Hides users on all shards at one moment. */
async function findAndHide(
  shards: readonly Held<LoadedShard>[],
  projectId: string,
  userIds: readonly string[],
  { check, recordFound }: DeletionHooks,
  foundBefore: FoundUsers,
): Promise<HiddenOnShards> {
  let found = foundBefore
  const holders: { readonly shard: Held<LoadedShard>; readonly users: readonly number[] }[] = []
  for (const shard of shards) {
    const { name, fenced, loader } = shard
    await requireProject(fenced, projectId)
    await check()
    const before = await readUserHoldings(fenced, projectId, userIds)
    await loadWaiting(fenced, loader)
    const holdings = await readUserHoldings(fenced, projectId, userIds)
    // A user found only before loading was in an interrupted deletion, which loadWaiting has just finished.
    found = { ...found, [name]: merge([...(found[name] ?? []), ...before, ...holdings]) }
    if (holdings.length > 0) holders.push({ shard, users: holdings.map(({ user }) => user) })
  }
  if (holders.length === 0) return { found, deletions: [] }
  await recordFound?.(found)
  const deletions: { readonly shard: LoadedShard; readonly number: number }[] = []
  const hidden = holders.map(({ shard: { fenced, loader }, users }) => ({
    writer: fenced,
    hidden: { users },
    noticeMs: loader.noticeMs,
  }))
  await hideAtOnce(hidden, projectId, async () => {
    for (const { shard, users } of holders) {
      const { number } = await startDeletion(shard.fenced, { projectId, users, token: '' })
      deletions.push({ shard, number })
    }
  })
  return { found, deletions }
}

/** Finishes a deletion of the journal, or waits while other holders of the loader lease do. */
async function finishDeletion(
  { store: { writer }, loader: context }: LoadedShard,
  deletion: number,
): Promise<void> {
  const isUnfinished = async (): Promise<boolean> =>
    (await findUnfinishedDeletions(writer)).some(({ number }) => number === deletion)
  while (await isUnfinished()) {
    await withLoaderLease(writer, (fenced) => finishInterruptedWork(fenced, context)).catch(
      (error: unknown) => {
        if (!(error instanceof LeaseTimeoutError)) throw error
      },
    )
  }
}

/** Keeps the last of each user. */
const merge = (holdings: readonly UserHoldings[]): readonly UserHoldings[] => [
  ...new Map(holdings.map((one) => [one.userId, one])).values(),
]

/** The error for user ids of which a project has none. */
export const createUnknownUsersError = (
  projectId: string,
  userIds: readonly string[],
): MissingError => {
  const [first] = userIds
  return new MissingError(
    userIds.length === 1
      ? `there is no user ${first} in project ${projectId}`
      : `none of the ${userIds.length} users is in project ${projectId}`,
  )
}
