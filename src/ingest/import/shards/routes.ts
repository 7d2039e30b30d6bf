/** Decides which stores an import writes to, and which of them each row goes to. */
import { locate, type Cluster, type ProjectShards } from '../../../cluster/cluster.js'
import { chooseShard } from '../../../cluster/sender.js'
import { findProject, listProjects } from '../../../projects/store.js'
import { readFields } from './read-fields.js'
import type { Route } from './split-lines.js'

/** Where the rows of an import go. */
export interface Routing {
  readonly shards: ProjectShards
  /** Returns the position of a row's shard; 0 for a row that is no object, which any store rejects. */
  readonly route: Route
}

/**
 * Finds where the rows of a project go; without one, each row names its own.
 *
 * @throws ApiError SERVICE_UNAVAILABLE for a project on a store that is not configured
 */
export async function findRouting(
  cluster: Cluster,
  projectId: string | undefined,
): Promise<Routing> {
  const { home, shards } = cluster
  if (shards.length === 1) return { shards, route: () => 0 }
  if (projectId === undefined) return routeByProject(cluster)
  const project = await findProject(home.store.reader, projectId)
  const own: ProjectShards = project === undefined ? [home] : locate(cluster, project)
  return { shards: own, route: createRoute(own.length) }
}

/** Routes rows of one project. */
const createRoute =
  (width: number): Route =>
  (bytes, start, end) => {
    const fields = readFields(bytes, start, end, false)
    return fields === undefined ? 0 : chooseShard(fields, width)
  }

/** Routes rows by the project that they name. Rows of unknown projects go to the home, which rejects them. */
async function routeByProject(cluster: Cluster): Promise<Routing> {
  const { home, shards } = cluster
  const positions = new Map<string, readonly number[]>()
  for (const project of await listProjects(home.store.reader)) {
    const found = locate(cluster, project)
    positions.set(
      project.id,
      found.map((shard) => shards.indexOf(shard)),
    )
  }
  return {
    shards,
    route: (bytes, start, end) => {
      const fields = readFields(bytes, start, end, true)
      const shard = positions.get(fields?.project ?? '')
      return fields === undefined || shard === undefined
        ? 0
        : (shard[chooseShard(fields, shard.length)] ?? 0)
    },
  }
}
