/** Starts the service over open stores. */
import { createApi } from './read-api.js'
import { createReadStore, type ReadStore } from './read-stores.js'
import type { Store } from '../../clickhouse/store.js'
import { nameShard, type Cluster } from '../../cluster/cluster.js'
import type { Role } from '../../config/config.js'
import type { SpecName } from '../../contract/spec.js'
import { cacheProbe } from '../../http/server/health.js'
import { compileContract } from '../../http/validation/contract.js'
import { watchDisk } from '../../ingest/inbox/disk-space.js'
import { watchRollups } from './rollup-trust.js'
import { createQueryUsage } from '../../usage/query-usage.js'
import { createApp } from './app.js'
import type { ServiceOptions } from './service-options.js'
import { createCollector, type CollectStore } from './collector.js'
import { listenEarly } from './early-server.js'
import { createManagement, listenForManagement } from './management.js'

export type { ServiceOptions } from './service-options.js'

export interface RunningService {
  /** The URL of the service, e.g. `http://127.0.0.1:8080`. */
  readonly address: string
  /** The URL of management, if it has a port of its own. */
  readonly managementAddress: string | undefined
  /** Finishes pending requests and stores accepted events, then stops listening; takes at most 6 seconds. */
  stop(): Promise<void>
}

/**
 * Starts the service. The application takes its requests only once the contracts are compiled, in production with all
 * operations, so the first one is not slower than others.
 *
 * @throws Error if a contract does not compile; the system's error if the address cannot be bound
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { cluster, config, logger, instruments, traces, pages, getLoaderState } = options
  const { role } = config
  const server = options.server ?? (await listenEarly({ config, logger, instruments }))
  const { shutdown } = server
  const reads = role === 'collector' ? undefined : await openReads(options)
  const collects = role === 'api' ? undefined : openCollects(options)
  for (const [name, { disk }] of collects ?? []) {
    instruments?.store(name).watchDisk(disk.readFreeBytes)
  }
  const usage =
    reads && createQueryUsage({ writer: cluster.home.store.writer, now: options.now, logger })
  const api = reads && usage && createApi(options, reads, usage)
  const contract = await compileContract(config, CONTRACTS[role])
  const management = api && createManagement(options, api)
  const isApart = config.managementPort !== undefined
  const app = createApp({
    api,
    management,
    isManagementApart: isApart,
    trustedProxies: config.trustedProxies,
    collector: collects && createCollector(options, collects, shutdown.stopping),
    isReady: cacheProbe((timeoutMs) => cluster.home.store.lookups.ping(timeoutMs)),
    listAway: cacheProbe((timeoutMs) => listAway(cluster, timeoutMs)),
    contract,
    shutdown,
    logger,
    observer: instruments?.http,
    startSpan: traces?.startRequest,
    ...(pages === undefined ? {} : { pages }),
    ...(getLoaderState === undefined ? {} : { getLoaderState }),
  })
  const apart =
    isApart && management !== undefined
      ? await listenForManagement(options, management, contract, api?.authenticate)
      : undefined
  server.handOver(app)
  return {
    address: server.address,
    managementAddress: apart?.address,
    stop: async () => {
      await Promise.all([server.stop(), apart?.stop()])
      await usage?.stop()
      for (const { rollups } of reads?.values() ?? []) rollups.stop()
      for (const { disk } of collects?.values() ?? []) disk.stop()
    },
  }
}

/** Opens what reads each store, by the name of the shard. */
async function openReads({
  cluster,
  logger,
  now,
}: ServiceOptions): Promise<ReadonlyMap<string, ReadStore>> {
  const open = async (store: Store): Promise<ReadStore> =>
    createReadStore(store, await watchRollups(store.lookups, logger), now)
  const opened = cluster.shards.map(async ({ name, store }) => [name, await open(store)] as const)
  return new Map(await Promise.all(opened))
}

/** Opens what writes into the inbox of each store, by the name of the shard. */
const openCollects = ({
  cluster,
  logger,
  readInbox,
}: ServiceOptions): ReadonlyMap<string, CollectStore> =>
  new Map(
    cluster.shards.map(({ name, store }) => [
      name,
      {
        store,
        disk: watchDisk(store.lookups, nameShard(logger, name)),
        readInbox: readInbox && (() => readInbox(name)),
      },
    ]),
  )

/** The contracts that a process with this role serves. */
const CONTRACTS: Readonly<Record<Role, readonly SpecName[]>> = {
  all: ['openapi', 'collector'],
  api: ['openapi'],
  collector: ['collector'],
}

/** Lists the shards beside the home that do not respond. */
async function listAway({ home, shards }: Cluster, timeoutMs: number): Promise<readonly string[]> {
  const asked = shards.map(async (shard) => {
    const isUp = shard.name === home.name || (await shard.store.lookups.ping(timeoutMs))
    return isUp ? [] : [shard.name]
  })
  return (await Promise.all(asked)).flat()
}
