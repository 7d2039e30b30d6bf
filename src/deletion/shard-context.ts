/** The context of the loader of a shard: what a loader needs to know of the rest of its cluster. */
import type { Cluster, Shard } from '../cluster/cluster.js'
import { createSaltMaking, createSaltSharing } from '../cluster/salts.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { watchCopies } from './delete-from-shards.js'

/** Adds to the context of a store what its place in the cluster adds; a single store gets its context back. */
export function createShardContext(
  cluster: Cluster,
  shard: Pick<Shard, 'name'>,
  context: LoaderContext,
): LoaderContext {
  const { home, shards } = cluster
  if (shards.length === 1) return context
  const isHome = shard.name === home.name
  const own = isHome ? { isElsewhere: watchCopies(cluster) } : { followsHome: true }
  return {
    ...context,
    shard: { name: shard.name, isHome },
    shareSalts: (isHome ? createSaltMaking : createSaltSharing)(home.store.writer),
    finishDeletions: (writer, options) => context.finishDeletions(writer, { ...own, ...options }),
  }
}

/** The context of a shard while its cluster is being opened: deletions of projects are left to the loaders. */
export const leaveProjects = (context: LoaderContext): LoaderContext => ({
  ...context,
  finishDeletions: (writer, options) =>
    context.finishDeletions(writer, { ...options, isElsewhere: () => Promise.resolve(true) }),
})
