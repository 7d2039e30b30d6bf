/** Opens the stores that a configuration describes: one, or the shards of a cluster. */
import type { Cluster, Shard } from '../cluster/cluster.js'
import type { Config } from '../config/config.js'
import { createShardContext } from '../deletion/shard-context.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { openStore, type OpenedStore, type OpenStoreOptions } from './open-store.js'
import { listPlaces, type ShardPlace, type StoresConfig } from './shard-places.js'

/** A store of a cluster. */
export interface OpenedShard extends OpenedStore {
  /** The name of its shard. */
  readonly name: string
}

/** The stores of a cluster; what is not of the cluster is that of its home. */
export interface OpenedCluster extends OpenedShard {
  readonly cluster: Cluster
  /** In the order of the cluster: the home first. */
  readonly stores: readonly [OpenedShard, ...OpenedShard[]]
}

type ClusterConfig = StoresConfig &
  Pick<Config, 'maxEventAgeDays'> &
  Partial<Pick<Config, 'geoipDb'>>

/**
 * Opens all stores. The home is opened first: the process that holds its data folder holds those of the others.
 *
 * @param getOptions the options of a shard; the home may not be away
 * @throws as `openStore`; the stores that were opened are closed then
 */
export async function openCluster(
  config: ClusterConfig,
  getOptions: (shard: string) => OpenStoreOptions,
): Promise<OpenedCluster> {
  const [first, ...rest] = await listPlaces(config)
  const open = async ({ name, ...place }: ShardPlace): Promise<OpenedShard> => ({
    name,
    ...(await openStore({ ...config, ...place, isShard: rest.length > 0 }, getOptions(name))),
  })
  const home = await open(first)
  const others = await Promise.allSettled(rest.map(open))
  const opened = others.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const close = async (): Promise<void> => {
    await Promise.all([home, ...opened].map((one) => one.close()))
  }
  const failed = others.find((one) => one.status === 'rejected')
  if (failed !== undefined) {
    await close()
    throw failed.reason
  }
  const joined = joinStores([home, ...opened])
  // The stores that are prepared are known as such from here on.
  await Promise.resolve()
  return { ...joined, close }
}

/** Makes a cluster of stores, whose loaders then know of each other. */
function joinStores([home, ...others]: OpenedCluster['stores']): OpenedCluster {
  const directory = toShard(home)
  const cluster = { home: directory, shards: [directory, ...others.map(toShard)] as const }
  const join = (one: OpenedShard): OpenedShard => ({
    ...one,
    loader: createShardContext(cluster, one, one.loader),
  })
  const joined = join(home)
  return { ...joined, stores: [joined, ...others.map(join)], cluster }
}

function toShard({ name, store, prepared }: OpenedShard): Shard {
  let isPrepared = false
  void prepared.then(() => (isPrepared = true))
  return { name, store, isPrepared: () => isPrepared }
}

/** Returns the context of the loader of a shard. */
export function getLoader({ stores }: OpenedCluster, shard: string): LoaderContext {
  const found = stores.find(({ name }) => name === shard)
  if (found === undefined) throw new TypeError(`the store ${shard} is not open`)
  return found.loader
}
