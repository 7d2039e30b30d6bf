/** Refuses a cluster whose projects could not be queried. */
import { UserError } from '../lib/errors.js'
import { listVersionMarks } from '../projects/versions.js'
import { requireSingleServers, type Cluster } from './cluster.js'

/**
 * Checks that no project lives across shards, if a shard has replicas. A cluster of single servers is not asked.
 *
 * @throws UserError that names the project
 */
export async function requireNarrowProjects(cluster: Cluster): Promise<void> {
  const { home, shards } = cluster
  if (shards.every(({ store }) => store.writer.replica === undefined)) return
  const wide = (await listVersionMarks(home.store.writer)).find((one) => one.shards.length > 1)
  if (wide === undefined) return
  try {
    requireSingleServers(cluster, wide.shards.length)
  } catch (error) {
    throw new UserError(
      `the project ${wide.id} lives on ${wide.shards.join(' and ')}: ${(error as Error).message}`,
    )
  }
}
