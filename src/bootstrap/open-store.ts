/** Opens the store that a configuration describes: a server, or the engine of the data folder. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/config.js'
import { readEngineFile } from '../clickhouse/embedded/engine-file.js'
import {
  DataDirInUseError,
  findEngine,
  startEngine,
  type Engine,
  type EngineEvent,
} from '../clickhouse/embedded/engine.js'
import { engineDirOf } from '../clickhouse/embedded/engine-dir.js'
import type { Holder } from '../clickhouse/embedded/launcher/protocol.js'
import type { Endpoint } from '../clickhouse/endpoint.js'
import { migrate } from '../clickhouse/migrations/migrate.js'
import { connectStore, type Store } from '../clickhouse/store.js'
import { openGeoip } from '../ingest/enrichment/geoip.js'
import { finishInterruptedWork } from '../ingest/loader/loader.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { createLoaderContext } from './loader-context.js'
import { ensureRollups } from '../rollups/ensure-rollups.js'

export const SERVE = 'tallyhouse serve'
export const DEMO = 'tallyhouse demo'

/** The purposes of processes that run the service: their engine is there for other commands too. */
const SERVICES: ReadonlySet<string> = new Set([SERVE, DEMO])

export interface OpenOptions {
  /** True for a process whose engine must be its own. */
  readonly ownEngine?: boolean
  readonly onEvent?: (event: EngineEvent) => void
}

export interface OpenedStore {
  readonly store: Store
  readonly loader: LoaderContext
  readonly endpoint: Endpoint
  /** The engine that this process runs; absent where it uses another one's. */
  readonly engine: Engine | undefined
  /** The migrations that were applied just now. */
  readonly migrated: readonly string[]
  /** Closes the store, then stops the engine of this process. */
  close(): Promise<void>
}

interface Found {
  readonly endpoint: Endpoint
  readonly engine: Engine | undefined
}

/** How long to wait for a command that has the data folder for a moment, or a service that starts. */
const PATIENCE_MS = 15_000
const POLL_MS = 200

/**
 * Opens the store and brings its database up to date. Without a server in the configuration it is
 * the engine of the service that runs on the data folder, else one that ends with this process.
 *
 * @param purpose what this process does, for those it keeps waiting, e.g. `tallyhouse migrate`.
 * @throws UserError for a GeoIP database that cannot be used; DataDirInUseError when another process keeps the data folder; MigrationError; what the
 *   client throws when nothing answers.
 */
export async function openStore(
  config: Pick<Config, 'clickhouse' | 'dataDir'> & Partial<Pick<Config, 'geoipDb'>>,
  purpose: string,
  options: OpenOptions = {},
): Promise<OpenedStore> {
  const loader = createLoaderContext(
    config.geoipDb === undefined ? undefined : await openGeoip(config.geoipDb),
  )
  const { endpoint, engine } =
    config.clickhouse === undefined
      ? await openEngine(config.dataDir, purpose, options)
      : { endpoint: config.clickhouse, engine: undefined }
  try {
    const migrated = await migrate(endpoint)
    const store = connectStore(endpoint)
    await ensureRollups(store, {
      finishInterruptedWork: (writer) => finishInterruptedWork(writer, loader),
    })
    const close = async (): Promise<void> => {
      await store.close()
      await engine?.stop()
    }
    return { store, loader, endpoint, engine, migrated, close }
  } catch (error) {
    await engine?.stop()
    throw error
  }
}

async function openEngine(dataDir: string, purpose: string, options: OpenOptions): Promise<Found> {
  const { ownEngine = false, ...engineOptions } = options
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    const endpoint = ownEngine ? undefined : await findService(dataDir)
    if (endpoint !== undefined) return { endpoint, engine: undefined }
    try {
      const engine = await startEngine({ dataDir, purpose, ...engineOptions })
      return { endpoint: engine.endpoint, engine }
    } catch (error) {
      if (!(error instanceof DataDirInUseError)) throw error
      const stays = ownEngine && isService(error.holder)
      if (stays || performance.now() > until) throw error
    }
    await sleep(POLL_MS)
  }
}

/** The engine of a running service. Another command's is not used: it ends with that command. */
async function findService(dataDir: string): Promise<Endpoint | undefined> {
  const announcement = await readEngineFile(engineDirOf(dataDir))
  return isService(announcement?.holder) ? findEngine(dataDir) : undefined
}

const isService = (holder: Holder | undefined): boolean =>
  holder !== undefined && SERVICES.has(holder.purpose)
