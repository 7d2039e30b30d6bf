/** Runs the service in this process until it is told to stop. */
import type { EngineEvent } from '../clickhouse/embedded/engine.js'
import { openStore, type OpenedStore } from './open-store.js'
import type { Config } from '../config/config.js'
import { startStreamingLoader } from '../ingest/loader/streaming-loader.js'
import type { Logger } from '../lib/log.js'
import { startService, type ServiceOptions } from './start-service.js'
import { explainAddress } from './address.js'
import { waitForShutdown } from './shutdown-signals.js'

export interface RunOptions {
  readonly config: Config
  /** What this process does, for those it keeps waiting. */
  readonly purpose: string
  readonly logger: Logger
  readonly now: () => Date
  /** Is done before anything is answered; it ends early when `stop` fires. */
  readonly prepare?: (opened: OpenedStore, stop: AbortSignal) => Promise<void>
  /** Further pages; they are asked for after `prepare`. */
  readonly pages?: () => NonNullable<ServiceOptions['pages']>
  readonly onListening: (address: string) => void
}

/**
 * Starts the store and the service, and stops both in the opposite order.
 *
 * @throws what keeps it from starting, or made it stop: the process then exits with 1.
 */
export async function runService(options: RunOptions): Promise<void> {
  const { config, purpose, logger, now, prepare, pages = () => [], onListening } = options
  const stopping = new AbortController()
  const end = waitForShutdown(logger).finally(() => stopping.abort())
  const opened = await openStore(config, purpose, {
    // One that only takes events, or only answers, may do so beside another.
    ownEngine: config.role === 'all',
    onEvent: (event) => logEngine(logger, event),
  })
  try {
    await prepare?.(opened, stopping.signal)
    const service = stopping.signal.aborted
      ? undefined
      : await startService({ config, opened, logger, now, pages: pages() }).catch(explainAddress)
    if (service !== undefined) onListening(service.address)
    const { store, loader: context } = opened
    const loader = startStreamingLoader({ store, context, logger })
    const failure = await Promise.race([end, ...(opened.engine ? [opened.engine.failed] : [])])
    await service?.stop()
    await loader.stop()
    if (failure !== undefined) throw failure
  } finally {
    await opened.close()
    logger.info('stopped')
  }
}

function logEngine(logger: Logger, { kind, ...details }: EngineEvent): void {
  const isTrouble = kind === 'died' || kind === 'restart failed' || kind === 'gave up'
  logger[isTrouble ? 'error' : 'info'](details, `engine ${kind}`)
}
