/** Chooses the stores of a command in a cluster, and names them in what it prints. A single store has no name. */
import { getLoader, type OpenedCluster, type OpenedShard } from '../../bootstrap/open-cluster.js'
import { locate, type Cluster, type ProjectShards, type Shard } from '../../cluster/cluster.js'
import { ApiError } from '../../contract/errors.js'
import type { LoaderContext } from '../../ingest/loader/loader-context.js'
import { UserError } from '../../lib/errors.js'
import type { StoredProject } from '../../projects/project.js'
import { requireProject } from '../../projects/store.js'

/**
 * Returns the stores that a project lives on, in the order of the cluster; all stores without a project. A single store is not asked.
 *
 * @throws UserError when a cluster has no such project
 */
export async function findStores(
  { cluster, stores, store }: OpenedCluster,
  projectId: string | undefined,
): Promise<readonly OpenedShard[]> {
  if (stores.length === 1 || projectId === undefined) return stores
  const shards = requireShards(cluster, await requireProject(store.reader, projectId))
  return stores.filter(({ name }) => shards.some((one) => one.name === name))
}

/**
 * Returns the shards of a project.
 *
 * @throws UserError that names a shard which is not configured
 */
export function requireShards(cluster: Cluster, project: StoredProject): ProjectShards {
  try {
    return locate(cluster, project)
  } catch (error) {
    if (!(error instanceof ApiError) || !(error.cause instanceof Error)) throw error
    throw new UserError(error.cause.message)
  }
}

/** Returns a function that puts the name of a shard before a line. */
export const nameLines = (
  { stores }: Pick<OpenedCluster, 'stores'>,
  { name }: Pick<OpenedShard, 'name'>,
): ((line: string) => string) =>
  stores.length === 1 ? (line) => line : (line) => `${name}: ${line}`

/** Describes the shards that have not taken a change yet. */
export const describePending = (pending: readonly string[]): string =>
  `${pending.join(', ')} did not answer: the change is stored, and gets there when it answers again`

/** Returns a function that gives the context of the loader of a shard. */
export const getContext =
  (opened: OpenedCluster): ((shard: Pick<Shard, 'name'>) => LoaderContext) =>
  ({ name }) =>
    getLoader(opened, name)
