/** Runs the service in this process until a signal, or a failure, ends it. */
import type { EngineEvent } from '../clickhouse/embedded/engine.js'
import { nameShard } from '../cluster/cluster.js'
import { requireNarrowProjects } from '../cluster/require-narrow.js'
import type { Config } from '../config/config.js'
import type { Logger } from '../lib/log.js'
import type { LogOutput } from '../lib/log-output.js'
import { MINUTE_MS } from '../lib/time.js'
import { readVersion } from '../lib/version.js'
import type { Instruments } from '../telemetry/instruments.js'
import { connectTraces, type Traces } from '../telemetry/traces.js'
import { rethrowListenError } from './address.js'
import { listenEarly, type EarlyServer } from './serving/early-server.js'
import { startMetrics } from './metrics.js'
import { SERVICE_PURPOSES } from './open-engine.js'
import { openCluster, type OpenedCluster } from './open-cluster.js'
import type { OpenStoreOptions } from './open-store.js'
import type { StoreAccess } from './prepare-store.js'
import type { WaitOptions } from './retry-while-away.js'
import { waitForShutdown } from './shutdown-signals.js'
import { startParts, type PartsOptions } from './start-parts.js'

interface RunOptions extends Pick<PartsOptions, 'now' | 'pages' | 'onListening' | 'startBeside'> {
  readonly config: Config
  readonly purpose: keyof typeof SERVICE_PURPOSES
  readonly logger: Logger
  /** Where the logger writes. */
  readonly output: Pick<LogOutput, 'countDropped'>
  /** What the process may do to the store when it starts; `write` by default. */
  readonly access?: StoreAccess
  /** Runs before the service answers requests; returns early when `stop` is aborted. */
  readonly prepare?: (opened: OpenedCluster, stop: AbortSignal) => Promise<void>
}

/** How long a start waits for a ClickHouse that does not respond, as when both start at once. */
const SERVER_TIMEOUT_MS = 5 * MINUTE_MS

/**
 * Listens, opens the store, calls `prepare`, then starts the service and the loader. Until then only /livez answers 200.
 * On shutdown it stops the HTTP server, the loader and the store, in this order. After a signal during the start it starts
 * nothing more.
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

/** What the parts of a service process share. */
interface Run extends RunOptions {
  /** Undefined to measure nothing. */
  readonly instruments: Instruments | undefined
  /** Undefined to trace nothing. */
  readonly traces: Traces | undefined
  readonly server: EarlyServer
  readonly waiting: WaitOptions & { readonly stop: AbortSignal }
}

async function runMeasured(
  options: RunOptions,
  instruments: Instruments | undefined,
): Promise<void> {
  const { config, logger } = options
  const traces = connectTraces(readVersion())
  if (traces !== undefined) logger.info('requests are traced')
  const stopping = new AbortController()
  const shutdown = waitForShutdown(logger)
  void shutdown.then(() => stopping.abort())
  const server = await listenEarly({ config, logger, instruments }).catch(rethrowListenError)
  logger.info({ probes: server.address }, `starting; /livez and /readyz at ${server.address}`)
  const waiting = {
    waitMs: SERVER_TIMEOUT_MS,
    stop: stopping.signal,
    onNotice: (level: 'info' | 'warn', text: string) => logger[level](text),
    onPhase: (phase: string) => server.setPhase(phase),
  }
  const run = { ...options, instruments, traces, server, waiting }
  try {
    const opened = await unlessStopped(stopping.signal, () => open(run))
    const failure =
      opened === undefined ? await shutdown : await runOpened(run, opened, shutdown, stopping)
    if (failure !== undefined) throw failure
  } finally {
    await server.stop()
    logger.info('stopped')
  }
}

/** Returns the result of `work`; undefined when it fails because the process is being stopped. */
async function unlessStopped<Result>(
  stop: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work()
  } catch (error) {
    if (stop.aborted) return undefined
    throw error
  }
}

const open = ({
  config,
  purpose,
  logger,
  access = 'write',
  instruments,
  traces,
  waiting,
}: Run): Promise<OpenedCluster> =>
  openCluster(config, (shard): OpenStoreOptions => ({
    ...waiting,
    onNotice: (level, text) => nameShard(logger, shard)[level](text),
    purpose: SERVICE_PURPOSES[purpose],
    access,
    rollups: 'later',
    keepsReplicas: access === 'write',
    // Without the home there is nothing to serve.
    mayBeAway: config.cluster !== undefined && shard !== config.cluster.shards[0].name,
    // A process with only one role, api or collector, may use the engine of the process with the other.
    ownEngine: config.role === 'all',
    onEvent: (event) => logEngineEvent(nameShard(logger, shard), event),
    observer: instruments?.store(shard),
    trace: traces?.traceStatement,
    onAlone: (seconds) => instruments?.store(shard).onAlone(seconds),
    onBreaker: (isOpen, cause) => {
      instruments?.store(shard).onBreaker(isOpen)
      const log = nameShard(logger, shard)
      if (isOpen) log.warn({ err: cause }, 'the store does not answer; queries are refused')
      else log.info('the store answers again')
    },
  }))

/** Runs the service until the shutdown begins or the engine fails for good, then stops everything. Returns the failure. */
async function runOpened(
  run: Run,
  opened: OpenedCluster,
  shutdown: Promise<Error | undefined>,
  stopping: AbortController,
): Promise<Error | undefined> {
  const { server, prepare } = run
  const engines = opened.stores.flatMap(({ engine }) => (engine === undefined ? [] : [engine]))
  const ended = Promise.race([shutdown, ...engines.map(({ failed }) => failed)])
  void ended.then(() => stopping.abort())
  let stop: (() => Promise<void>) | undefined
  try {
    stop = await unlessStopped(stopping.signal, async () => {
      await requireNarrowProjects(opened.cluster)
      await prepare?.(opened, stopping.signal)
      stopping.signal.throwIfAborted()
      return startParts({ ...run, opened })
    })
    return await ended
  } finally {
    await server.stop()
    await stop?.()
    await opened.close()
  }
}

function logEngineEvent(logger: Logger, { kind, ...details }: EngineEvent): void {
  const isFailure = kind === 'died' || kind === 'restart failed' || kind === 'gave up'
  logger[isFailure ? 'error' : 'info'](details, `engine ${kind}`)
}
