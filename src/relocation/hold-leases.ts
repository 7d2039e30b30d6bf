/** Holds leases of several shards at once. */
import { fenceConnection } from '../clickhouse/connection-wrappers.js'
import { withLease, type LeaseOptions } from '../clickhouse/lease/lease.js'
import type { LeaseName } from '../clickhouse/lease/lease-store.js'
import type { Cluster, Shard } from '../cluster/cluster.js'

/**
 * Runs work under a lease of each of some shards, which are taken in the order of the cluster. What writes to its cluster, on any
 * shard, sends nothing once one of the leases is lost.
 *
 * @param names of the shards
 * @throws LeaseTimeoutError when a lease does not become free in time
 */
export async function withLeases(
  cluster: Cluster,
  lease: LeaseName,
  names: readonly string[],
  work: (fenced: Cluster) => Promise<void>,
  options: LeaseOptions = {},
): Promise<void> {
  const shards = cluster.shards.filter(({ name }) => names.includes(name))
  await holdEach(cluster, lease, shards, work, options)
}

async function holdEach(
  cluster: Cluster,
  lease: LeaseName,
  [first, ...others]: readonly Shard[],
  work: (fenced: Cluster) => Promise<void>,
  options: LeaseOptions,
): Promise<void> {
  if (first === undefined) return work(cluster)
  await withLease(
    first.store.writer,
    lease,
    ({ signal }) => holdEach(fenceCluster(cluster, signal), lease, others, work, options),
    options,
  )
}

/** Fences what writes to the shards. */
export function fenceCluster({ shards }: Cluster, lost: AbortSignal): Cluster {
  const fence = ({ store, ...shard }: Shard): Shard => ({
    ...shard,
    store: {
      ...store,
      writer: fenceConnection(store.writer, lost),
      admin: fenceConnection(store.admin, lost),
    },
  })
  const [home, ...others] = shards
  const fenced = fence(home)
  return { home: fenced, shards: [fenced, ...others.map(fence)] }
}
