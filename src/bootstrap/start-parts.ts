/** Starts the parts of a service process over its stores: the HTTP service, and loader, rollups and expirations of each store. */
import { isValidAt, listPublicKeys } from '../auth/public-keys.js'
import type { Connection } from '../clickhouse/connection.js'
import type { Store } from '../clickhouse/store.js'
import { locateInOrder, nameShard } from '../cluster/cluster.js'
import { markCut } from '../cluster/directory.js'
import { startProjectSync } from '../cluster/sync-projects.js'
import type { Config } from '../config/config.js'
import { startExpirations } from '../deletion/expire-projects.js'
import {
  createLoaderMonitor,
  findLatest,
  type LoaderMonitor,
  type LoaderState,
} from '../ingest/loader/loader-state.js'
import { countWaitingRows } from '../ingest/loader/stream.js'
import { startStreamingLoader } from '../ingest/loader/streaming-loader.js'
import type { Logger } from '../lib/log.js'
import { startRepeating } from '../lib/repeat.js'
import { SECOND_MS } from '../lib/time.js'
import { startForwarding } from '../relocation/forward-rows.js'
import type { Instruments } from '../telemetry/instruments.js'
import type { Traces } from '../telemetry/traces.js'
import { startOperations } from '../management/run-operations.js'
import { getLoader, type OpenedCluster, type OpenedShard } from './open-cluster.js'
import { startRollupBuild, type StoreAccess } from './prepare-store.js'
import { retryWhileAway, type WaitOptions } from './retry-while-away.js'
import type { EarlyServer } from './serving/early-server.js'
import { startService, type ServiceOptions } from './serving/start-service.js'

export interface PartsOptions {
  readonly config: Config
  readonly opened: OpenedCluster
  readonly logger: Logger
  readonly now: () => Date
  /** Undefined to measure nothing. */
  readonly instruments: Instruments | undefined
  /** Undefined to trace nothing. */
  readonly traces: Traces | undefined
  readonly server: EarlyServer
  /** What the process may do to the store; `write` by default. */
  readonly access?: StoreAccess
  readonly waiting: WaitOptions
  /** Pages to serve beside the service's own; called once the store is prepared. */
  readonly pages?: () => NonNullable<ServiceOptions['pages']>
  /** Called with the URL of the service once it answers requests. */
  readonly onListening: (address: string) => void
  /** Starts work of the command beside the service. Returns a function that stops it; the stores are open until then. */
  readonly startBeside?: (opened: OpenedCluster) => () => Promise<void>
}

/** Starts the service, then what works on each store. Returns a function that stops them. */
export async function startParts(options: PartsOptions): Promise<() => Promise<void>> {
  const { config, logger, now, server, pages = () => [], onListening } = options
  const { opened, instruments, traces, waiting } = options
  const { store, endpoint, stores, cluster } = opened
  if (config.role !== 'collector') {
    const attempt = () => checkPublicKeys(store, logger, now())
    await retryWhileAway(attempt, endpoint.url, waiting)
  }
  const monitors = new Map(stores.map(({ name }) => [name, createLoaderMonitor()]))
  const readState = (): LoaderState => findLatest([...monitors.values()].map(({ read }) => read()))
  const workers = new Map<string, Worker>()
  let operations: ReturnType<typeof startOperations> | undefined
  for (const [name, monitor] of monitors) instruments?.load(name).watchInbox(monitor.read)
  const service = await startService({
    config,
    cluster,
    logger,
    now,
    instruments,
    traces,
    server,
    pages: pages(),
    getLoaderState: readState,
    readInbox: (name) => (monitors.get(name) ?? createLoaderMonitor()).readInbox(),
    onStored: (name) => workers.get(name)?.wake(),
    onOperation: () => operations?.wake(),
  })
  onListening(service.address)
  if (service.managementAddress !== undefined) {
    logger.info({ address: service.managementAddress }, 'management is served')
  }
  for (const one of stores) {
    workers.set(one.name, startWorker(options, one, monitors.get(one.name)))
  }
  if (config.role !== 'collector') {
    operations = startOperations({
      cluster,
      getContext: ({ name }) => getLoader(opened, name),
      logger,
      now,
    })
  }
  const stopSync = startProjectSync(cluster, logger)
  const stopForwarding = startForwarding(cluster, logger)
  const beside = options.startBeside === undefined ? [] : [options.startBeside(opened)]
  return async () => {
    await service.stop()
    await operations?.stop()
    const stops = [...workers.values()].map(({ stop }) => stop)
    await Promise.all([...stops, ...beside, stopSync, stopForwarding].map((stop) => stop()))
  }
}

/** What works on a store. */
interface Worker {
  /** Tells its loader that the collector of this process stored events. */
  readonly wake: () => void
  readonly stop: () => Promise<void>
}

/** Starts what works on a store once it is prepared. */
function startWorker(
  options: PartsOptions,
  shard: OpenedShard,
  monitor = createLoaderMonitor(),
): Worker {
  if (!isLoadedHere(options.config, shard.name)) {
    return { wake: () => undefined, stop: watchWaiting(shard.store.lookups, monitor) }
  }
  let started: Worker | undefined
  let isStopped = false
  void shard.prepared.then(() => {
    if (!isStopped) started = work(options, shard, monitor)
  })
  return {
    wake: () => started?.wake(),
    stop: async () => {
      isStopped = true
      await started?.stop()
    },
  }
}

/** Works on a store: loads what is collected, expires, and builds outdated rollups. */
function work(
  { opened, now, instruments, access = 'write', ...options }: PartsOptions,
  { name, store, loader: context }: OpenedShard,
  monitor: LoaderMonitor,
): Worker {
  const { cluster } = opened
  const logger = nameShard(options.logger, name)
  const loader = startStreamingLoader({
    store,
    context,
    logger,
    monitor,
    observer: instruments?.load(name),
  })
  const stopExpirations = startExpirations({
    store,
    context,
    logger,
    now,
    findStores: (project) =>
      locateInOrder(cluster, project).map((shard) => ({
        store: shard.store,
        context: getLoader(opened, shard.name),
      })),
    markCut: (projectId) => markCut(cluster, projectId),
    onHeld: instruments?.load(name).onHeld,
  })
  const stopBuild = access === 'write' ? startRollupBuild(store, context, logger) : undefined
  return {
    wake: () => loader.wake(),
    stop: async () => {
      await stopBuild?.()
      await stopExpirations()
      await loader.stop()
    },
  }
}

/** Whether this process loads the events of a shard. */
const isLoadedHere = ({ loader }: Pick<Config, 'loader'>, name: string): boolean =>
  loader === 'all' || (loader !== 'none' && loader.includes(name))

/** Warns when the store has no public key that is valid. */
async function checkPublicKeys(store: Store, logger: Logger, now: Date): Promise<void> {
  if (!(await listPublicKeys(store.reader)).some((key) => isValidAt(key, now))) {
    logger.warn(
      'no public key is valid, so every API key is refused; issue one with "tallyhouse key issue"',
    )
  }
}

/**
 * Starts to report every second what waits in a store that another process loads, so that the collector can limit it.
 * Returns the function that stops it.
 */
function watchWaiting(
  lookups: Connection,
  monitor: Pick<LoaderMonitor, 'reportWaiting' | 'reportSuccess'>,
): () => Promise<void> {
  const look = async (): Promise<void> => {
    const askedAt = performance.now()
    monitor.reportWaiting(await countWaitingRows(lookups), askedAt)
    monitor.reportSuccess()
  }
  return startRepeating(() => look().catch(() => undefined), SECOND_MS)
}
