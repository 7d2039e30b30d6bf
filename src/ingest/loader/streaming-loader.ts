/** Loads the stream while the service runs, so that collected events are visible to queries within seconds. */
import { setTimeout as sleep } from 'node:timers/promises'
import { lookForUnfinishedChanges } from '../../changes/left-changes.js'
import { fenceConnection, withLowPriority } from '../../clickhouse/connection-wrappers.js'
import type { Connection } from '../../clickhouse/connection.js'
import {
  acquireLease,
  HANDOVER_MS,
  LeaseTimeoutError,
  type HeldLease,
} from '../../clickhouse/lease/lease.js'
import type { Store } from '../../clickhouse/store.js'
import { linkSignals } from '../../lib/signals.js'
import type { Logger } from '../../lib/log.js'
import { MINUTE_MS, SECOND_MS } from '../../lib/time.js'
import { findUnfinishedLoads } from './load-log.js'
import { logReport, pickCounts } from './load-report.js'
import type { LoaderContext } from './loader-context.js'
import type { LoaderFailure, LoaderMonitor, LoaderObserver, LoaderState } from './loader-state.js'
import { loadStream, resumeLoads } from './loader.js'
import { MAX_LOAD } from './next-rows.js'
import { countWaitingRows } from './stream.js'

export interface StreamingLoaderOptions {
  readonly store: Store
  readonly logger: Logger
  readonly context: LoaderContext
  /** Takes note of what the loader does. */
  readonly monitor: LoaderMonitor
  readonly observer?: LoaderObserver | undefined
  readonly intervals?: Partial<LoaderIntervals>
}

/** Times in milliseconds. */
interface LoaderIntervals {
  /** From one load to the next, so that each load has more rows. */
  readonly loadMs: number
  /** From one check for waiting rows to the next, while rows arrive. */
  readonly pollMs: number
  /** The same while none arrive. `wake` begins the next check earlier. */
  readonly idlePollMs: number
  /** From the first failure to the next attempt. */
  readonly retryMs: number
  /** From the last arrival of rows until the loader releases its lease. */
  readonly idleMs: number
}

export interface StreamingLoader {
  /** Tells that rows were stored, so that an idle loader looks now. Rows of other processes it finds by itself. */
  wake(): void
  /** Stops after the current load. Rows that are still waiting are loaded after the next start. */
  stop(): Promise<void>
}

const INTERVALS: LoaderIntervals = {
  loadMs: 1_000,
  pollMs: 200,
  idlePollMs: 2_500,
  retryMs: 1_000,
  idleMs: 3_000,
}
/** When this many rows wait, they are loaded immediately, without waiting for `loadMs`. */
const FULL_LOAD_ROWS = 100_000
/** The wait after a failure grows up to this multiple of `retryMs`. */
const MAX_RETRY_FACTOR = 30
/** The longest wait for a lease that another process holds, so also the time in which a waiting loader stops. */
const LEASE_TIMEOUT_MS = 1_000

const SMALL_LOAD =
  'an earlier load of waiting events did not finish, so loads are small; each one that finishes lets the next one grow'

/** The options and the state of a running loader. */
interface LoaderRun extends Omit<StreamingLoaderOptions, 'intervals'> {
  readonly intervals: LoaderIntervals
  readonly stopped: AbortSignal
  /** Aborted by `wake`; a new one replaces it before each check. */
  woken: AbortController
  readonly logFailure: ReturnType<typeof createFailureLog>
  /** Whether interrupted work was finished since the start or the last failure. */
  recovered: boolean
  /** When the last load ended, by `performance.now()`. */
  lastLoadAt: number
  /** Whether a process has left a change to the next one: it was killed, or what it has hidden is to be deleted. */
  readonly isChangeUnfinished: () => Promise<boolean>
}

/**
 * Starts the loader. When several services share a store, one of them loads at a time. Whenever it acquires the
 * lease, the loader first finishes the work that an earlier holder left.
 */
export function startStreamingLoader(options: StreamingLoaderOptions): StreamingLoader {
  const stopping = new AbortController()
  const intervals = { ...INTERVALS, ...options.intervals }
  const run: LoaderRun = {
    ...options,
    intervals,
    stopped: stopping.signal,
    woken: new AbortController(),
    logFailure: createFailureLog(options.logger, intervals.retryMs),
    recovered: false,
    lastLoadAt: -Infinity,
    isChangeUnfinished: lookForUnfinishedChanges(options.store.lookups),
  }
  const ended = runLoader(run)
  return {
    wake: () => run.woken.abort(WOKEN),
    stop: async () => {
      stopping.abort()
      await ended
    },
  }
}

async function runLoader(run: LoaderRun): Promise<void> {
  const { monitor, intervals, stopped } = run
  while (!stopped.aborted) {
    try {
      run.woken = new AbortController()
      const waiting = await look(run)
      const isIdle = waiting === 0 && run.recovered && !(await run.isChangeUnfinished())
      if (isIdle) await pauseUntilWoken(run)
      else await loadUnderLease(run)
      monitor.reportSuccess()
    } catch (error) {
      const isBusy = error instanceof LeaseTimeoutError
      await pause(isBusy ? intervals.pollMs : await handleFailure(run, error), stopped)
    }
  }
}

/** Counts the waiting rows, and reports them. */
async function look({ store, monitor }: LoaderRun): Promise<number> {
  const askedAt = performance.now()
  const waiting = await countWaitingRows(store.lookups)
  monitor.reportWaiting(waiting, askedAt)
  return waiting.rows
}

/**
 * Reports a failure, and returns how long to wait until the next attempt, in milliseconds. While the store answers, the
 * wait doubles with each attempt: a load that fails is expensive. A store that is away is asked often, to go on as soon
 * as it is back: its first refusals then are not those of a load that always fails.
 */
async function handleFailure(run: LoaderRun, error: unknown): Promise<number> {
  const { store, monitor, observer, intervals, logFailure } = run
  run.recovered = false
  observer?.onLoadFailure()
  const isAway = await look(run).then(
    () => false,
    () => true,
  )
  const [load] = isAway ? [] : await findUnfinishedLoads(store.writer).catch(() => [])
  const failure = monitor.reportFailure(error, load, isAway)
  logFailure(failure, monitor.read())
  const factor = Math.min(2 ** Math.max(failure.refused - 1, 0), MAX_RETRY_FACTOR)
  return intervals.retryMs * factor
}

/** Acquires the lease, loads while rows arrive and no other process wants the lease, and releases it. */
async function loadUnderLease(run: LoaderRun): Promise<void> {
  const { store, context, observer, intervals, stopped } = run
  // A loader of another service does the same work, so this one does not ask it for the lease.
  const options = { waitMs: LEASE_TIMEOUT_MS, requestsTurn: false }
  const lease = await acquireLease(store.writer, 'loader', options)
  observer?.onLease(true)
  let wanted: boolean
  try {
    // Collecting and queries have priority: clients wait for them.
    const fenced = fenceConnection(withLowPriority(store.writer), lease.signal)
    // The previous holder may have been killed during a load, whose rows must not be loaded a second time.
    const resumed = await resumeLoads(fenced, context)
    if (resumed.received > 0) logReport(run.logger, resumed)
    observer?.onResumed(pickCounts(resumed))
    run.recovered = true
    wanted = await loadWhileHeld(run, lease, fenced)
  } finally {
    observer?.onLease(false)
    await lease.release()
  }
  // A slow machine may need more than HANDOVER_MS to notice the release. Rows can wait for one interval.
  if (wanted) await pause(Math.max(HANDOVER_MS, intervals.loadMs), stopped)
}

/** Loads until no rows have arrived for a while or the loader stops; returns true once another process wants the lease. */
async function loadWhileHeld(
  run: LoaderRun,
  lease: HeldLease,
  fenced: Connection,
): Promise<boolean> {
  const { monitor, intervals, stopped } = run
  let lastArrivalAt = performance.now()
  while (!stopped.aborted) {
    if (await lease.isWanted()) return true
    const waiting = await look(run)
    const now = performance.now()
    if (waiting > 0) lastArrivalAt = now
    const isDue = waiting > 0 && now - run.lastLoadAt >= intervals.loadMs
    if (isDue || waiting >= FULL_LOAD_ROWS) {
      await loadNext(run, fenced)
      monitor.reportSuccess()
    } else {
      if (now - lastArrivalAt >= intervals.idleMs) return false
      await pause(intervals.pollMs, stopped)
    }
  }
  return false
}

/** Loads the next rows of the stream, and reports the load. */
async function loadNext(run: LoaderRun, fenced: Connection): Promise<void> {
  const { logger, context, observer } = run
  const begun = performance.now()
  const load = await loadStream(fenced, context)
  run.lastLoadAt = performance.now()
  if (load === undefined) return
  const { report, bytes, maxRows } = load
  logReport(logger, report)
  if (maxRows < MAX_LOAD.rows) logger.info({ maxRows }, SMALL_LOAD)
  const seconds = (run.lastLoadAt - begun) / SECOND_MS
  observer?.onLoad({ seconds, bytes, maxRows, rows: pickCounts(report) })
}

/** The reason of the signal. Without one, each `abort` would create an error with a stack. */
const WOKEN = new Error('rows were stored')

async function pauseUntilWoken({ intervals, stopped, woken }: LoaderRun): Promise<void> {
  const either = linkSignals(stopped, woken.signal)
  await pause(intervals.idlePollMs, either.signal)
  either.unlink()
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => undefined)

/** A failure that lasts is logged at least this often. */
const MAX_INTERVAL_MS = 10 * MINUTE_MS

/**
 * Returns a function that logs a failure, each time after it has lasted twice as long. The first attempt is a warning
 * only: the failure may pass by itself, as a restart of the store does.
 *
 * @param minIntervalMs the interval after the first line of a failure
 */
function createFailureLog(
  logger: Logger,
  minIntervalMs: number,
): (failure: LoaderFailure, state: LoaderState) => void {
  let nextMs = 0
  return ({ attempts, ms, error, load }, { waitingRows, oldestWaitingMs }) => {
    if (attempts > 1 && ms < nextMs) return
    nextMs = ms + Math.min(Math.max(ms, minIntervalMs), MAX_INTERVAL_MS)
    const started = load && { number: load.number, batch: load.batch, step: load.step }
    const details = { err: error, load: started, attempts, waitingRows, oldestWaitingMs }
    if (attempts === 1) logger.warn(details, 'events wait to be loaded')
    else logger.error(details, 'events cannot be loaded')
  }
}
