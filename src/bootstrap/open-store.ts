/** Opens the store that a configuration describes: a ClickHouse server, or the engine of the data folder. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../clickhouse/embedded/engine.js'
import type { StatementObserver } from '../clickhouse/connection-wrappers.js'
import type { Endpoint } from '../clickhouse/endpoint.js'
import { isUnreachable } from '../clickhouse/errors.js'
import { requireRestored } from '../clickhouse/backup/restore.js'
import { requireFitServer } from '../clickhouse/server-checks.js'
import { connectStore, type Store } from '../clickhouse/store.js'
import { SECOND_MS } from '../lib/time.js'
import type { Config } from '../config/config.js'
import { finishDeletions } from '../deletion/deletion-steps.js'
import { openGeoip, type Geoip } from '../ingest/enrichment/geoip.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { hasEngine, openEngine, type OpenEngineOptions, type OpenedEngine } from './open-engine.js'
import {
  createNotSetUpError,
  requireUpToDate,
  updateStore,
  type StoreAccess,
} from './prepare-store.js'

export interface OpenStoreOptions extends Omit<OpenEngineOptions, 'dataDir'> {
  readonly access: StoreAccess
  /** Is told about every statement. */
  readonly observer?: StatementObserver | undefined
  /** How long to wait for a ClickHouse server that does not respond, in milliseconds; 0 by default. */
  readonly waitMs?: number
  /** Ends that wait. */
  readonly stop?: AbortSignal
  /** Called with what is worth a line in the log while the store is opened. */
  readonly onNotice?: (level: 'info' | 'warn', text: string) => void
}

export interface OpenedStore {
  readonly store: Store
  readonly loader: LoaderContext
  readonly endpoint: Endpoint
  /** The engine that this process runs; undefined when it uses a server or another process's engine. */
  readonly engine: Engine | undefined
  /** The files of the migrations that were applied on opening. */
  readonly migrated: readonly string[]
  /** Closes the store, then stops the engine of this process. */
  close(): Promise<void>
}

type StoreConfig = Pick<Config, 'clickhouse' | 'dataDir' | 'maxEventAgeDays'> &
  Partial<Pick<Config, 'geoipDb'>>

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
  const { endpoint, engine } = await openEndpoint(config, options)
  if (config.clickhouse !== undefined) await requireServer(endpoint, options)
  const store = connectStore(endpoint, options.observer)
  const close = async (): Promise<void> => {
    await store.close()
    await engine?.stop()
  }
  try {
    const migrated = await prepare(endpoint, store, loader, options)
    return { store, loader, endpoint, engine, migrated, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Creates the context of the service's loaders. Without `geoip`, addresses get no country and city. */
export const createLoaderContext = (maxEventAgeDays: number, geoip?: Geoip): LoaderContext => ({
  geoip,
  maxEventAgeDays,
  finishDeletions,
})

async function openEndpoint(
  { clickhouse, dataDir }: StoreConfig,
  { access, purpose, ownEngine = false, onEvent = () => undefined }: OpenStoreOptions,
): Promise<OpenedEngine> {
  if (clickhouse !== undefined) return { endpoint: clickhouse, engine: undefined }
  // Starting an engine only to read would leave an empty database in a mistyped folder.
  if (access !== 'write' && !(await hasEngine(dataDir))) throw createNotSetUpError()
  return openEngine({ dataDir, purpose, ownEngine, onEvent })
}

const RETRY_INTERVAL_MS = SECOND_MS
/** How often a wait is logged. */
const NOTICE_INTERVAL_MS = 10 * SECOND_MS

/**
 * Waits until the server responds, and checks that it is fit.
 *
 * @throws UserError when it is not fit; the client's error when it does not respond within `waitMs`
 */
async function requireServer(
  endpoint: Endpoint,
  { waitMs = 0, stop, onNotice }: Pick<OpenStoreOptions, 'waitMs' | 'stop' | 'onNotice'>,
): Promise<void> {
  const begun = performance.now()
  let noticedAt = -Infinity
  for (;;) {
    try {
      for (const warning of await requireFitServer(endpoint)) onNotice?.('warn', warning)
      return
    } catch (error) {
      const waited = performance.now() - begun
      if (!isUnreachable(error) || waited >= waitMs) throw error
      if (waited - noticedAt >= NOTICE_INTERVAL_MS) {
        const left = Math.round((waitMs - waited) / SECOND_MS)
        onNotice?.('warn', `ClickHouse does not respond at ${endpoint.url}: retrying for ${left} s`)
        noticedAt = waited
      }
    }
    await sleep(RETRY_INTERVAL_MS, undefined, { signal: stop })
  }
}

async function prepare(
  endpoint: Endpoint,
  store: Store,
  loader: LoaderContext,
  { access, onNotice }: OpenStoreOptions,
): Promise<readonly string[]> {
  await requireRestored(store.admin)
  if (access === 'write') {
    return updateStore(endpoint, store, loader, (text) => onNotice?.('info', text))
  }
  await requireUpToDate(store, access)
  return []
}
