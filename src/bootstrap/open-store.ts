/** Opens the store that a configuration describes: a ClickHouse server, or the engine of the data folder. */
import { types } from 'node:util'
import type { Engine } from '../clickhouse/embedded/engine.js'
import type { TraceStatement } from '../clickhouse/connection.js'
import type { BreakerObserver } from '../clickhouse/breaker.js'
import type { StatementObserver } from '../clickhouse/connection-wrappers.js'
import type { Endpoint } from '../clickhouse/endpoint.js'
import { requireRestored } from '../clickhouse/backup/restore.js'
import { requireFitServer } from '../clickhouse/checks/server-checks.js'
import { prepareReplicas } from '../clickhouse/replicas/prepare.js'
import { alignAll } from '../clickhouse/replicas/take-over.js'
import {
  watchReplicas,
  type ReplicaWatch,
  type WatchOptions,
} from '../clickhouse/replicas/watch.js'
import { connectStore, type Store } from '../clickhouse/store.js'
import type { Config } from '../config/config.js'
import { finishDeletions } from '../deletion/deletion-steps.js'
import { leaveProjects } from '../deletion/shard-context.js'
import { openGeoip, type Geoip } from '../ingest/enrichment/geoip.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { ROLLUP_NAMES } from '../model/rollups.js'
import { abandonRollups } from '../rollups/progress.js'
import type { EngineMember } from '../clickhouse/embedded/member.js'
import { SECOND_MS } from '../lib/time.js'
import { hasEngine, openEngine, type OpenEngineOptions, type OpenedEngine } from './open-engine.js'
import {
  createNotSetUpError,
  requireUpToDate,
  updateStore,
  type RollupBuild,
  type StoreAccess,
} from './prepare-store.js'
import { isStoreAway, retryWhileAway, type WaitOptions } from './retry-while-away.js'

export interface OpenStoreOptions
  extends Omit<OpenEngineOptions, 'dataDir' | 'member'>, WaitOptions {
  readonly access: StoreAccess
  /** With `write` access: when outdated rollups are rebuilt; `first` by default. */
  readonly rollups?: RollupBuild
  /** Is called for every statement. */
  readonly observer?: StatementObserver | undefined
  /** Runs each statement as a part of a trace. */
  readonly trace?: TraceStatement | undefined
  /** Of a store that has replicas: whether this process lets another one take over, and keeps them alike; false by default. */
  readonly keepsReplicas?: boolean
  readonly onAlone?: WatchOptions['onAlone']
  /**
   * Whether the process can do without the store for a while: if its server does not respond, the store is returned all the
   * same, and prepared once the server does.
   */
  readonly mayBeAway?: boolean
  /** Is called when the store no longer answers queries, and when it does again. */
  readonly onBreaker?: BreakerObserver
}

export interface OpenedStore {
  readonly store: Store
  readonly loader: LoaderContext
  readonly endpoint: Endpoint
  /** The engine that this process runs; undefined when it uses a server or another process's engine. */
  readonly engine: Engine | undefined
  /** The files of the migrations that were applied on opening. */
  readonly migrated: readonly string[]
  /** Resolves once the store is prepared; never if it is away until it is closed. */
  readonly prepared: Promise<void>
  /** Closes the store, then stops the engine of this process. */
  close(): Promise<void>
}

type StoreConfig = Pick<Config, 'clickhouse' | 'dataDir' | 'maxEventAgeDays'> &
  Partial<Pick<Config, 'geoipDb'>> & {
    /** For an embedded engine that has others beside it. */
    readonly member?: EngineMember | undefined
    /** Whether it is one of several stores. */
    readonly isShard?: boolean
  }

/**
 * Opens the store. With `write` access it is brought up to date first; with any other, opening changes nothing.
 *
 * @throws UserError for an unusable GeoIP database, and for a store that `access` cannot read;
 *   DataDirInUseError when another process holds the data folder; MigrationError; the client's error when
 *   ClickHouse does not answer
 */
export async function openStore(
  config: StoreConfig,
  options: OpenStoreOptions,
): Promise<OpenedStore> {
  const loader = createLoaderContext(
    config.maxEventAgeDays,
    config.geoipDb === undefined ? undefined : await openGeoip(config.geoipDb),
  )
  const preparing = config.isShard === true ? leaveProjects(loader) : loader
  const { endpoint, engine } = await openEndpoint(config, options)
  const store = connectStore(endpoint, options.observer, options.trace, options.onBreaker)
  const replicas = endpoint.replicas && watchReplicas(endpoint.replicas, toWatchOptions(options))
  const close = async (): Promise<void> => {
    await replicas?.stop()
    await store.close()
    await engine?.stop()
  }
  let engineFailure: Error | undefined
  void engine?.failed.then((failure) => (engineFailure = failure))
  const attempt = async (onResponse: () => void): Promise<readonly string[]> => {
    if (engineFailure !== undefined) throw engineFailure
    if (config.clickhouse !== undefined) {
      for (const text of await prepareServers(endpoint, replicas, options.access)) {
        options.onNotice?.('warn', text)
      }
    }
    await requireRestored(store.admin)
    onResponse()
    return prepare(endpoint, store, preparing, options)
  }
  const opened = { store, loader, endpoint, engine }
  try {
    const isPatient = options.mayBeAway === true && config.clickhouse !== undefined
    const waiting = isPatient ? { ...options, waitMs: OPTIONAL_WAIT_MS } : options
    const migrated = await retryWhileAway(attempt, endpoint.url, waiting)
    return { ...opened, migrated, prepared: Promise.resolve(), close }
  } catch (error) {
    if (options.mayBeAway === true && isStoreAway(error)) {
      return { ...opened, migrated: [], ...prepareLater(attempt, endpoint.url, options, close) }
    }
    await close()
    throw error
  }
}

const toWatchOptions = ({
  keepsReplicas = false,
  onNotice,
  onAlone,
}: OpenStoreOptions): WatchOptions => ({
  keeps: keepsReplicas ? { names: ROLLUP_NAMES, abandon: abandonRollups } : undefined,
  onNotice,
  onAlone,
})

/** Checks the servers of a store. Returns warnings. @throws UserError for a server that is not fit */
async function prepareServers(
  { replicas, ...endpoint }: Endpoint,
  watch: ReplicaWatch | undefined,
  access: StoreAccess,
): Promise<readonly string[]> {
  if (replicas === undefined) return requireFitServer(endpoint)
  const warnings = access === 'write' ? await prepareReplicas(replicas) : []
  await watch?.look()
  return warnings
}

/** How long a start waits for a store that may be away. */
const OPTIONAL_WAIT_MS = 2 * SECOND_MS

/** Prepares a store once it responds, unless it is closed before. */
function prepareLater(
  attempt: (onResponse: () => void) => Promise<unknown>,
  url: string,
  options: OpenStoreOptions,
  close: () => Promise<void>,
): Pick<OpenedStore, 'prepared' | 'close'> {
  const closing = new AbortController()
  const stop =
    options.stop === undefined ? closing.signal : AbortSignal.any([closing.signal, options.stop])
  const { onNotice } = options
  const prepared = retryWhileAway(attempt, url, { stop, waitMs: Infinity, onNotice }).then(
    () => onNotice?.('info', 'the store is ready'),
    (error: unknown) => {
      if (stop.aborted) return NEVER
      onNotice?.('warn', `the store cannot be used: ${toMessage(error)}`)
      return NEVER
    },
  )
  return {
    prepared,
    close: async () => {
      closing.abort()
      await close()
    },
  }
}

const NEVER = new Promise<never>(() => undefined)

const toMessage = (error: unknown): string =>
  types.isNativeError(error) ? error.message : 'unknown error'

/** Creates the context of the service's loaders. Without `geoip`, addresses get no country and city. */
export const createLoaderContext = (maxEventAgeDays: number, geoip?: Geoip): LoaderContext => ({
  geoip,
  maxEventAgeDays,
  finishDeletions,
})

async function openEndpoint(
  { clickhouse, dataDir, member }: StoreConfig,
  { access, purpose, ownEngine = false, onEvent = () => undefined, stop }: OpenStoreOptions,
): Promise<OpenedEngine> {
  if (clickhouse !== undefined) return { endpoint: clickhouse, engine: undefined }
  // Starting an engine only to read would leave an empty database in a mistyped folder.
  if (access !== 'write' && !(await hasEngine(dataDir))) throw createNotSetUpError()
  return openEngine({
    dataDir,
    member,
    purpose,
    ownEngine,
    onEvent,
    ...(stop === undefined ? {} : { stop }),
  })
}

async function prepare(
  endpoint: Endpoint,
  store: Store,
  loader: LoaderContext,
  { access, ...options }: OpenStoreOptions,
): Promise<readonly string[]> {
  if (access === 'write') {
    const applied = await updateStore(endpoint, store, loader, options)
    if (endpoint.replicas !== undefined) await alignAll(endpoint.replicas)
    return applied
  }
  await requireUpToDate(store, access)
  return []
}
