/** Decides which stores an import writes to, and which of them each row goes to. */
import { locate, type Cluster, type ProjectShards } from '../../../cluster/cluster.js'
import { chooseShard, type Placement } from '../../../cluster/choose-shard.js'
import { findProject, listProjects } from '../../../projects/store.js'
import { resolveTimestamp } from '../timestamps/resolve-timestamps.js'
import { readFields, type FieldNeeds, type RoutingFields } from './read-fields.js'
import type { Route } from './split-lines.js'

/** Where the rows of an import go. */
export interface Routing {
  readonly shards: ProjectShards
  /** Returns the position of a row's shard; 0 for a row that is no object, which any store rejects. */
  readonly route: Route
}

/** What a routing needs to know of an import. */
interface RoutingOptions {
  /** The project of all rows; without it each row names its own. */
  readonly projectId?: string
  readonly now: Date
  /** The IANA name of the zone of timestamps that name none; UTC by default. */
  readonly zone?: string | undefined
}

/**
 * Finds where the rows of a project go; without one, each row names its own.
 *
 * @throws ApiError SERVICE_UNAVAILABLE for a project on a store that is not configured
 */
export async function findRouting(cluster: Cluster, options: RoutingOptions): Promise<Routing> {
  const { projectId } = options
  const { home, shards } = cluster
  if (shards.length === 1) return { shards, route: () => 0 }
  if (projectId === undefined) return routeByProject(cluster, options)
  const project = await findProject(home.store.reader, projectId)
  if (project === undefined) return { shards: [home], route: () => 0 }
  return { shards: locate(cluster, project), route: createRoute(project, options) }
}

/** Routes rows of one project. */
function createRoute(placement: Placement, options: RoutingOptions): Route {
  const needs = { project: false, timestamp: wasWidened(placement) }
  return (bytes, start, end) => {
    const fields = readFields(bytes, start, end, needs)
    return fields === undefined ? 0 : place(fields, placement, options)
  }
}

/** Returns the position of a row's shard, by the timestamp that will be loaded. */
function place(fields: RoutingFields, placement: Placement, { now, zone }: RoutingOptions): number {
  const { timestamp } = fields
  const event =
    timestamp === undefined ? fields : { ...fields, timestamp: resolveTimestamp(timestamp, zone) }
  return chooseShard(event, placement, now)
}

const wasWidened = ({ formerWidths }: Placement): boolean => formerWidths.length > 0

/** Routes rows by the project that they name. Rows of unknown projects go to the home, which rejects them. */
async function routeByProject(cluster: Cluster, options: RoutingOptions): Promise<Routing> {
  const { home, shards } = cluster
  const projects = await listProjects(home.store.reader)
  const places = new Map(
    projects.map((project) => {
      const positions = locate(cluster, project).map((shard) => shards.indexOf(shard))
      return [project.id, { project, positions }] as const
    }),
  )
  const needs: FieldNeeds = { project: true, timestamp: projects.some(wasWidened) }
  return {
    shards,
    route: (bytes, start, end) => {
      const fields = readFields(bytes, start, end, needs)
      const found = places.get(fields?.project ?? '')
      return fields === undefined || found === undefined
        ? 0
        : (found.positions[place(fields, found.project, options)] ?? 0)
    },
  }
}
