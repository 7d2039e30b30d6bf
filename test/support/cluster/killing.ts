/** A cluster as a process sees it that is killed. */
import type { Connection } from '../../../src/clickhouse/connection.js'
import type { Cluster } from '../../../src/cluster/cluster.js'
import { requireProject } from '../../../src/projects/store.js'
import { findRelocation } from '../../../src/relocation/journal.js'
import { BrokenError, releaseLease } from '../store/breaking.js'
import { mapShards } from './shard-databases.js'

/** Where a process was killed. */
interface Killed {
  readonly cluster: Cluster
  isDead: boolean
}

/** A cluster as seen by a process that is killed after a number of statements, counted over all shards. */
function killAfter(cluster: Cluster, statements: number): Killed {
  let done = 0
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (killed.isDead) throw new BrokenError()
    done += 1
    const isLast = done === statements
    const result = await work()
    killed.isDead ||= isLast
    if (killed.isDead) throw new BrokenError()
    return result
  }
  const wrap = (connection: Connection): Connection => ({
    ...connection,
    query: (...given) => run(() => connection.query(...given)),
    execute: (...given) => run(() => connection.execute(...given)),
    upload: (...given) => run(() => connection.upload(...given)),
    download: (...given) => run(() => connection.download(...given)),
  })
  const killed: Killed = {
    isDead: false,
    cluster: mapShards(cluster, (shard) => ({
      ...shard,
      store: { ...shard.store, writer: wrap(shard.store.writer) },
    })),
  }
  return killed
}

/** Relocates a project in a process that is killed after a number of statements; returns whether the relocation had ended by then. */
export async function relocateKilled(
  cluster: Cluster,
  statements: number,
  relocate: (within: Cluster) => Promise<unknown>,
): Promise<boolean> {
  const killed = killAfter(cluster, statements)
  try {
    await relocate(killed.cluster)
  } catch (error) {
    if (!killed.isDead) throw error
  }
  for (const { store } of cluster.shards) {
    for (const name of ['moves', 'rollups', 'loader', 'projects'] as const) {
      await releaseLease(store, name)
    }
  }
  return !killed.isDead
}

/** Whether a project lives on these shards, and its relocation has ended. */
export async function hasArrived(
  { home }: Cluster,
  id: string,
  shards: readonly string[],
): Promise<boolean> {
  const project = await requireProject(home.store.writer, id)
  const unfinished = await findRelocation(home.store.writer, id)
  return project.shards.join() === shards.join() && unfinished === undefined
}
