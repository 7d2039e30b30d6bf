/** Reads the data of a project from all its shards. */
import type { Connection } from '../clickhouse/connection.js'
import { StoreUnavailableError, toStoreError } from '../clickhouse/errors.js'
import { averageSizes, type ProjectSizes } from '../model/project-sizes.js'
import type { StoredProject } from '../projects/project.js'
import { locate, type Cluster, type ProjectShards, type Shard } from './cluster.js'
import { findGroup } from './groups.js'
import { acrossStores } from './shard-settings.js'

/** A group of shards as a statement names it. */
export interface StatementGroup {
  /** Its name in `remote_servers`. */
  readonly name: string
  /** The database of all its shards. */
  readonly database: string
  /** The number of its shards. */
  readonly width: number
  /** Whether some of them may still have rows of users who have left for others. */
  readonly isWidening: boolean
}

/**
 * Finds the group of a project's shards; undefined for a project on one shard, whose statements name no group.
 *
 * @throws ApiError SERVICE_UNAVAILABLE if the project's shards are no group
 */
export function findStatementGroup(
  cluster: Cluster,
  project: Pick<StoredProject, 'id' | 'shards' | 'isWidening'>,
): StatementGroup | undefined {
  const [first, ...others] = locate(cluster, project)
  if (others.length === 0) return undefined
  const all = cluster.shards.map(({ name }) => name)
  const group = findGroup(all, project.shards)
  if (group !== undefined) {
    const { database } = first.store
    const width = group.shards.length
    return { name: group.name, database, width, isWidening: project.isWidening }
  }
  const names = project.shards.join(', ')
  throw toStoreError(
    new StoreUnavailableError(`the project ${project.id} lives on ${names}, which are no group`),
  )
}

/** Returns the connection for the queries of a project: to its first shard, which asks the others. */
export const openReader = ([first, ...others]: ProjectShards): Connection =>
  others.length === 0
    ? first.store.reader
    : others.reduce(
        (connection, { store }) => store.guardOther(connection),
        acrossStores(first.store.reader),
      )

/** Returns the earliest of the moments that `find` finds on the shards of a project; null if it finds none. */
export const findEarliest = <OneShard>(
  shards: readonly OneShard[],
  find: FindMoment<OneShard>,
): Promise<Date | null> => findMoment(shards, find, Math.min)

/** The same for the latest. */
export const findLatest = <OneShard>(
  shards: readonly OneShard[],
  find: FindMoment<OneShard>,
): Promise<Date | null> => findMoment(shards, find, Math.max)

type FindMoment<OneShard> = (shard: OneShard) => Promise<Date | null>

async function findMoment<OneShard>(
  shards: readonly OneShard[],
  find: FindMoment<OneShard>,
  choose: (...times: readonly number[]) => number,
): Promise<Date | null> {
  const found = await Promise.all(shards.map(find))
  const times = found.flatMap((moment) => (moment === null ? [] : [moment.getTime()]))
  return times.length === 0 ? null : new Date(choose(...times))
}

/** How many shards of a project are asked for its sizes: senders are spread evenly, so a few tell how large each is. */
const MAX_SIZED_SHARDS = 16

/**
 * Reads how much data one shard of a project has: the mean of its shards, or of some of them if they are many.
 *
 * @param read reads the sizes of one shard; undefined if they are not known
 * @returns undefined if no shard's are known
 */
export async function readMeanSizes<OneShard>(
  shards: readonly OneShard[],
  read: (shard: OneShard) => Promise<ProjectSizes | undefined>,
): Promise<ProjectSizes | undefined> {
  const step = Math.ceil(shards.length / MAX_SIZED_SHARDS)
  const sizes = await Promise.all(shards.filter((_, i) => i % step === 0).map(read))
  const [first, ...others] = sizes.filter((one) => one !== undefined)
  return first === undefined ? undefined : averageSizes([first, ...others])
}

/** Whether something is true of any shard. */
export async function isTrueOfAny(
  shards: readonly Shard[],
  test: (shard: Shard) => Promise<boolean>,
): Promise<boolean> {
  const results = await Promise.all(shards.map(test))
  return results.includes(true)
}
