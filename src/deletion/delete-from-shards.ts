/**
 * Deletes a project of a cluster: it is marked at home, by which its API keys end everywhere; then its data is deleted on each
 * of its other shards, and at home last. Each store has its own journal, so the loader of each goes on with what is interrupted:
 * a shard deletes what its copy says is being deleted, and the home waits until no shard has the project any more.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster, Shard } from '../cluster/cluster.js'
import { describeFailure, createDeadline, tryShards } from '../cluster/reach.js'
import { copyVersions, findVersion } from '../projects/versions.js'
import { findProject, requireProject } from '../projects/store.js'
import { finishInterruptedWork } from '../ingest/loader/loader.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { withLoaderLease } from '../ingest/loader/with-loader-lease.js'
import { UserError } from '../lib/errors.js'
import { beginDeletion, completeDeletion, deleteProject } from './delete-project.js'
import { readProjectHoldings, type ProjectHoldings } from './holdings.js'
import { findUnfinishedDeletions, isUserDeletion } from './journal.js'
import { KEYS_END_MS } from './project-deletion-steps.js'

/**
 * Deletes a project from all stores, as `deleteProject` does from one. Calling it again goes on after an interruption.
 *
 * @param getContext returns the context of the loader of a shard
 * @returns the number of events, users and API keys that the project had on all of them together
 * @throws UserError when there is no such project, and when one of its shards does not answer; its API keys have then ended
 */
export async function deleteProjectFromShards(
  cluster: Cluster,
  projectId: string,
  getContext: (shard: Shard) => LoaderContext,
  waitMs = KEYS_END_MS,
): Promise<ProjectHoldings> {
  const { home, shards } = cluster
  if (shards.length === 1) return deleteProject(home.store, projectId, getContext(home), waitMs)
  const { writer } = home.store
  const project = await requireProject(writer, projectId)
  const before = await readProjectHoldings(writer, projectId)
  const number = await beginDeletion(writer, projectId, getContext(home))
  if (number === undefined) return before
  const others = await findCopies(cluster, project)
  await copyMark(home, others, projectId)
  const begun: BegunDeletion[] = []
  for (const shard of others) begun.push(await beginOnShard(shard, projectId, getContext(shard)))
  await sleep(waitMs)
  const holdings: ProjectHoldings[] = []
  for (const one of [...begun, { shard: home, number, before }]) {
    holdings.push(await completeOnShard(one, projectId, getContext(one.shard), waitMs))
  }
  return sumProjectHoldings(holdings)
}

/** A deletion on one shard. */
interface BegunDeletion {
  readonly shard: Shard
  /** Its number; undefined if it has ended. */
  readonly number: number | undefined
  readonly before: ProjectHoldings
}

/** Adds what a project has on several shards. */
export const sumProjectHoldings = (parts: readonly ProjectHoldings[]): ProjectHoldings => ({
  events: parts.reduce((sum, { events }) => sum + events, 0),
  users: parts.reduce((sum, { users }) => sum + users, 0),
  keys: parts.reduce((sum, { keys }) => sum + keys, 0),
})

/** Returns a function that tells the loader of the home whether other shards still have a project that is being deleted. */
export const watchCopies =
  (cluster: Cluster): ((projectId: string) => Promise<boolean>) =>
  async (projectId) => {
    const project = await findProject(cluster.home.store.writer, projectId)
    return project !== undefined && (await findCopies(cluster, project)).length > 0
  }

/** Finds the shards, other than home, with a copy of a project, and those of the project that do not answer. */
async function findCopies(
  { home, shards }: Cluster,
  project: { readonly id: string; readonly shards: readonly string[] },
): Promise<readonly Shard[]> {
  const found = new Set<string>()
  const others = shards.filter((shard) => shard !== home)
  const failed = await tryShards(others, async ({ name, store: { writer } }) => {
    const copy = await findVersion(writer, project.id, { signal: createDeadline() })
    if (copy !== undefined) found.add(name)
  })
  const away = failed.filter(({ name }) => project.shards.includes(name))
  for (const { name } of away) found.add(name)
  return others.filter(({ name }) => found.has(name))
}

/** Tells shards that the project is being deleted. */
async function copyMark(home: Shard, others: readonly Shard[], id: string): Promise<void> {
  const failed = await tryShards(others, ({ store: { writer } }) =>
    copyVersions(home.store.writer, writer, [id], createDeadline),
  )
  const [first] = failed
  if (first === undefined) return
  throw new UserError(
    `the API keys of the project ${id} have ended, but ${describeFailure(first)}: its data is deleted when you repeat this`,
  )
}

/** Lets a shard start what its copy says. */
async function beginOnShard(
  shard: Shard,
  projectId: string,
  context: LoaderContext,
): Promise<BegunDeletion> {
  const { writer } = shard.store
  const before = await readProjectHoldings(writer, projectId)
  const number = await withLoaderLease(writer, async (fenced) => {
    await finishInterruptedWork(fenced, context)
    const unfinished = await findUnfinishedDeletions(fenced)
    return unfinished.find((one) => !isUserDeletion(one) && one.projectId === projectId)?.number
  })
  return { shard, number, before }
}

const completeOnShard = async (
  { shard, number, before }: BegunDeletion,
  projectId: string,
  context: LoaderContext,
  waitMs: number,
): Promise<ProjectHoldings> =>
  number === undefined
    ? before
    : completeDeletion(shard.store.writer, { projectId, number }, context, waitMs)
