/** The stores of a cluster, and where a project lives in it. */
import { HOME } from '../clickhouse/endpoint.js'
import { StoreUnavailableError, toStoreError } from '../clickhouse/errors.js'
import type { Store } from '../clickhouse/store.js'
import { FieldValueError } from '../lib/errors.js'
import type { Logger } from '../lib/log.js'
import type { StoredProject } from '../projects/project.js'

/** A whole store: one ClickHouse with its inbox, its loader, its facts and its rollups. */
export interface Shard {
  /** As in the table `projects`: letters, digits, `_` and `-`. */
  readonly name: string
  readonly store: Store
  /** Whether its store was prepared since the start of this process; a store that is left out was. */
  readonly isPrepared?: () => boolean
}

/** The stores of a service; a service without a cluster has one. */
export interface Cluster {
  /** The store with the projects and keys. */
  readonly home: Shard
  /** All stores, the home first. */
  readonly shards: readonly [Shard, ...Shard[]]
}

/** The shards of a project, in order: at least one. */
export type ProjectShards = readonly [Shard, ...Shard[]]

/** Returns a cluster of a single store. */
export const toCluster = (store: Store): Cluster => {
  const home = { name: HOME, store }
  return { home, shards: [home] }
}

/**
 * Finds the shards of a project, in order.
 *
 * @throws ApiError SERVICE_UNAVAILABLE for a shard that the configuration of this process does not name, or that has not
 *   answered since the start
 */
export function locate(
  { home, shards }: Cluster,
  project: Pick<StoredProject, 'id' | 'shards'>,
): ProjectShards {
  const found = project.shards.map((name) => {
    const shard = shards.find((one) => one.name === name)
    const { isPrepared = () => true } = shard ?? {}
    if (shard !== undefined && isPrepared()) return shard
    const state = shard === undefined ? 'is not configured' : 'has not answered yet'
    throw toStoreError(
      new StoreUnavailableError(`the project ${project.id} lives on ${name}, which ${state}`),
    )
  })
  const [first = home, ...others] = found
  return [first, ...others]
}

/** Finds the shards of a project in the order of the cluster, in which the leases of several are taken. @throws as `locate` */
export function locateInOrder(
  cluster: Cluster,
  project: Pick<StoredProject, 'id' | 'shards'>,
): readonly Shard[] {
  const located = locate(cluster, project)
  return cluster.shards.filter((shard) => located.includes(shard))
}

/**
 * Checks that projects may have a width.
 *
 * @throws FieldValueError that names the width: a query across shards asks one server of each, and it would have to be the active one
 */
export function requireSingleServers({ shards }: Cluster, width: number): void {
  const replicated = shards.find(({ store }) => store.writer.replica !== undefined)
  if (width <= 1 || replicated === undefined) return
  throw new FieldValueError(
    'width',
    `the shard ${replicated.name} has replicas, and no project lives across shards that have replicas`,
  )
}

/** Finds a shard by its name; undefined if there is none. */
export const findShard = ({ shards }: Cluster, name: string): Shard | undefined =>
  shards.find((shard) => shard.name === name)

/** Returns a logger whose lines name a shard; the store of a service without a cluster needs no name. */
export const nameShard = (logger: Logger, shard: string): Logger =>
  shard === HOME ? logger : logger.child({ shard })
