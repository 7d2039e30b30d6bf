/** Runs the service in this process until a signal, or a failure, ends it. */
import { isValidAt, listPublicKeys, takeOverPublicKeys } from '../auth/public-keys.js'
import type { EngineEvent } from '../clickhouse/embedded/engine.js'
import type { Store } from '../clickhouse/store.js'
import type { Config } from '../config/config.js'
import { createLoaderMonitor } from '../ingest/loader/loader-state.js'
import { startStreamingLoader } from '../ingest/loader/streaming-loader.js'
import type { Logger } from '../lib/log.js'
import type { LogOutput } from '../lib/log-output.js'
import { MINUTE_MS } from '../lib/time.js'
import type { Instruments } from '../telemetry/instruments.js'
import { startExpirations } from '../deletion/expire-projects.js'
import { rethrowListenError } from './address.js'
import { startMetrics } from './metrics.js'
import { SERVICE_PURPOSES } from './open-engine.js'
import { openStore, type OpenedStore } from './open-store.js'
import type { StoreAccess } from './prepare-store.js'
import { waitForShutdown } from './shutdown-signals.js'
import { startService, type ServiceOptions } from './start-service.js'

export interface RunOptions {
  readonly config: Config
  readonly purpose: keyof typeof SERVICE_PURPOSES
  readonly logger: Logger
  /** Where the logger writes. */
  readonly output: Pick<LogOutput, 'countDropped'>
  readonly now: () => Date
  /** What the process may do to the store when it starts; `write` by default. */
  readonly access?: StoreAccess
  /** Runs before the service listens; returns early when `stop` is aborted. */
  readonly prepare?: (opened: OpenedStore, stop: AbortSignal) => Promise<void>
  /** Pages to serve beside the service's own; called after `prepare`. */
  readonly pages?: () => NonNullable<ServiceOptions['pages']>
  readonly onListening: (address: string) => void
}

/** How long a start waits for a ClickHouse server that is not there yet, as when both start at once. */
const SERVER_TIMEOUT_MS = 5 * MINUTE_MS

/**
 * Opens the store, calls `prepare`, then starts the service and the loader. On shutdown it stops the service, the
 * loader and the store, in this order. After a signal during `prepare` it starts nothing.
 *
 * @throws the error that prevented the start or ended the service; the process then exits with 1
 */
export async function runService(options: RunOptions): Promise<void> {
  const metrics = await startMetrics(options)
  try {
    await runMeasured(options, metrics.instruments)
  } finally {
    await metrics.stop()
  }
}

/** @param instruments undefined to measure nothing */
async function runMeasured(
  options: RunOptions,
  instruments: Instruments | undefined,
): Promise<void> {
  const { config, purpose, logger, prepare } = options
  const stopping = new AbortController()
  const shutdown = waitForShutdown(logger).finally(() => stopping.abort())
  const opened = await openStore(config, {
    purpose: SERVICE_PURPOSES[purpose],
    access: options.access ?? 'write',
    // A process with only one role, api or collector, may use the engine of the process with the other.
    ownEngine: config.role === 'all',
    onEvent: (event) => logEngineEvent(logger, event),
    observer: instruments?.store,
    waitMs: SERVER_TIMEOUT_MS,
    stop: stopping.signal,
    onNotice: (level, text) => logger[level](text),
  }).catch((error: unknown) => {
    if (stopping.signal.aborted) return undefined
    throw error
  })
  if (opened === undefined) return
  try {
    await prepare?.(opened, stopping.signal)
    const stop = stopping.signal.aborted ? undefined : await start(options, opened, instruments)
    const failure = await Promise.race([
      shutdown,
      ...(opened.engine === undefined ? [] : [opened.engine.failed]),
    ])
    await stop?.()
    if (failure !== undefined) throw failure
  } finally {
    await opened.close()
    logger.info('stopped')
  }
}

/** Starts the service, then the loader. Returns a function that stops both in the same order. */
async function start(
  { config, logger, now, pages = () => [], onListening }: RunOptions,
  opened: OpenedStore,
  instruments: Instruments | undefined,
): Promise<() => Promise<void>> {
  if (config.role !== 'collector') await preparePublicKeys(opened.store, config, logger, now())
  const monitor = createLoaderMonitor()
  instruments?.load.watchInbox(monitor.read)
  const service = await startService({
    config,
    opened,
    logger,
    now,
    instruments,
    pages: pages(),
    getLoaderState: monitor.read,
  }).catch(rethrowListenError)
  onListening(service.address)
  const { store, loader: context } = opened
  const loader = startStreamingLoader({
    store,
    context,
    logger,
    monitor,
    observer: instruments?.load,
  })
  const stopExpirations = startExpirations({ store, context, logger, now })
  return async () => {
    await service.stop()
    await stopExpirations()
    await loader.stop()
  }
}

/** Takes over the public keys of an earlier version, and warns when the store has none that is valid. */
async function preparePublicKeys(
  store: Store,
  { dataDir }: Config,
  logger: Logger,
  now: Date,
): Promise<void> {
  await takeOverPublicKeys(store, dataDir, now).catch((error: unknown) =>
    logger.error(
      { err: error },
      'the file of public keys could not be read; the keys in the store are used',
    ),
  )
  if (!(await listPublicKeys(store.reader)).some((key) => isValidAt(key, now))) {
    logger.warn(
      'no public key is valid, so every API key is refused; issue one with "tallyhouse key issue"',
    )
  }
}

function logEngineEvent(logger: Logger, { kind, ...details }: EngineEvent): void {
  const isFailure = kind === 'died' || kind === 'restart failed' || kind === 'gave up'
  logger[isFailure ? 'error' : 'info'](details, `engine ${kind}`)
}
