/** Keeps what the loader of this process did last, for health probes and metrics. */
import { MINUTE_MS } from '../../lib/time.js'
import type { InboxView } from '../collect/waiting-work.js'
import type { Load } from './load-log.js'
import type { LoadCounts } from './load-report.js'
import type { WaitingRows } from './stream.js'

/** Is called with what a loader does, for metrics. */
export interface LoaderObserver {
  readonly onLoad: (load: {
    readonly seconds: number
    /** The sum of the lengths of the lines. */
    readonly bytes: number
    readonly rows: LoadCounts
    /** The most rows that it could have. */
    readonly maxRows: number
  }) => void
  /** Loads of an earlier process were ended. */
  readonly onResumed: (rows: LoadCounts) => void
  readonly onLoadFailure: () => void
  readonly onLease: (isHeld: boolean) => void
}

/** The state of a loader. Times are in milliseconds before now. */
export interface LoaderState {
  /** Since a load ended, or the loader found nothing to load; undefined before the first time. */
  readonly msSinceSuccess: number | undefined
  /** Undefined while the loader succeeds. */
  readonly failure: LoaderFailure | undefined
  /** The collected rows that waited at the last look, also those of a load that runs. */
  readonly waitingRows: number
  /** The age of the oldest of them; 0 when none waits. */
  readonly oldestWaitingMs: number
}

export interface LoaderFailure {
  /** Attempts that failed since the last success. */
  readonly attempts: number
  /** Those of them, since the store was last away, that failed although it answered. */
  readonly refused: number
  /** Since the first attempt. */
  readonly ms: number
  readonly error: unknown
  /** The load that could not be finished; undefined when it is unknown, or when none was started. */
  readonly load: Load | undefined
}

/** Events that wait longer are late: queries answer without them. The promise is seconds, but an import may need its turn. */
export const LATE_MS = MINUTE_MS

/** Returns whether collected events have waited for too long, whichever process should have loaded them. */
export const isLate = (state: LoaderState): boolean => state.oldestWaitingMs > LATE_MS

/** Combines the states of all stores: the oldest wait, and the sum of waiting rows. */
export function findLatest(states: readonly LoaderState[]): LoaderState {
  const [latest, ...others] = [...states].sort((a, b) => b.oldestWaitingMs - a.oldestWaitingMs)
  if (latest === undefined) throw new TypeError('a process has at least one store')
  const waitingRows = others.reduce((sum, one) => sum + one.waitingRows, latest.waitingRows)
  const failure = latest.failure ?? others.find((one) => one.failure !== undefined)?.failure
  return { ...latest, waitingRows, failure }
}

/** What the loader reports, and others read. */
export interface LoaderMonitor {
  readonly read: () => LoaderState
  /** What it last saw of the stream. */
  readonly readInbox: () => InboxView
  /** @param askedAt when the rows were asked for, by `performance.now()` */
  readonly reportWaiting: (waiting: WaitingRows, askedAt?: number) => void
  readonly reportSuccess: () => void
  /** Returns the failure with all attempts since the last success. @param isAway whether the store does not answer */
  readonly reportFailure: (error: unknown, load: Load | undefined, isAway: boolean) => LoaderFailure
}

/** A failure with the moment of its first attempt, by `performance.now()`. */
type StoredFailure = Omit<LoaderFailure, 'ms'> & { readonly since: number }

/** Creates the monitor of a loader that has done nothing yet. */
export function createLoaderMonitor(): LoaderMonitor {
  let succeededAt: number | undefined
  let failure: StoredFailure | undefined
  let waiting: WaitingRows = { rows: 0, oldestMs: 0, oldestAt: 0 }
  let lookedAt = 0
  let inbox: Omit<InboxView, 'isLate'> = { askedAt: -Infinity, oldestAt: Infinity }

  const readFailure = ({ since, ...stored }: StoredFailure): LoaderFailure => ({
    ...stored,
    ms: performance.now() - since,
  })
  const read = (): LoaderState => ({
    msSinceSuccess: succeededAt === undefined ? undefined : performance.now() - succeededAt,
    failure: failure && readFailure(failure),
    waitingRows: waiting.rows,
    oldestWaitingMs: waiting.rows === 0 ? 0 : waiting.oldestMs + performance.now() - lookedAt,
  })
  return {
    read,
    readInbox: () => ({ ...inbox, isLate: isLate(read()) }),
    reportWaiting: (found, askedAt = performance.now()) => {
      waiting = found
      lookedAt = performance.now()
      inbox = { askedAt, oldestAt: found.rows === 0 ? Infinity : found.oldestAt }
    },
    reportSuccess: () => {
      succeededAt = performance.now()
      failure = undefined
    },
    reportFailure: (error, load, isAway) => {
      const before = failure ?? { attempts: 0, refused: 0, since: performance.now() }
      failure = {
        attempts: before.attempts + 1,
        refused: isAway ? 0 : before.refused + 1,
        since: before.since,
        error,
        load,
      }
      return readFailure(failure)
    },
  }
}
