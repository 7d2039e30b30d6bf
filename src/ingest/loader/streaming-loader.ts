/** Loads the stream while the service runs: what comes in is in the answers a moment later. */
import { setTimeout as sleep } from 'node:timers/promises'
import { withLowPriority } from '../../clickhouse/connection-wrappers.js'
import { LeaseTimeoutError, withLease } from '../../clickhouse/lease/lease.js'
import type { Store } from '../../clickhouse/store.js'
import { fenceConnection } from '../../clickhouse/connection-wrappers.js'
import type { Logger } from '../../lib/log.js'
import { loadStream, resumeLoads } from './loader.js'
import type { LoadReport } from './load-report.js'
import type { LoaderContext } from './loader-context.js'
import { countWaitingRows } from './stream.js'

export interface StreamingLoaderOptions {
  readonly store: Store
  readonly logger: Logger
  readonly context: LoaderContext
  readonly intervals?: Partial<LoaderIntervals>
}

export interface LoaderIntervals {
  /** The loader waits so many milliseconds between two loads, for more rows to come. */
  readonly loadMs: number
  /** It looks so often whether there are rows at all. */
  readonly pollMs: number
  /** It tries again so long after a failure. */
  readonly retryMs: number
}

export interface StreamingLoader {
  /** Ends once what it is loading is loaded; what waits then is loaded after the next start. */
  stop(): Promise<void>
}

const TIMES: LoaderIntervals = { loadMs: 1_000, pollMs: 200, retryMs: 1_000 }

/** So many waiting rows are loaded without a pause. */
const FULL = 100_000

/** Somebody else who holds the lease is asked for it so long, then again. */
const LEASE_WAIT_MS = 10_000

/**
 * Starts the loader. Of many that run on one store one loads at a time. It first finishes what an earlier
 * loader left, also after every failure of its own.
 */
export function startStreamingLoader(options: StreamingLoaderOptions): StreamingLoader {
  const { store, logger, context } = options
  const times = { ...TIMES, ...options.intervals }
  const stopping = new AbortController()
  const { signal } = stopping
  // Who sends and who asks goes first: both wait, and the loader has a second.
  const writer = withLowPriority(store.writer)
  let isSound = false

  const work = async (): Promise<LoadReport | undefined> =>
    withLease(
      store.writer,
      'loader',
      async (lease) => {
        const holder = fenceConnection(writer, lease.signal)
        if (isSound) return loadStream(holder, context)
        await resumeLoads(holder, context)
        isSound = true
        return undefined
      },
      { waitMs: LEASE_WAIT_MS },
    )

  const run = async (): Promise<void> => {
    let last = -Infinity
    while (!signal.aborted) {
      try {
        const waiting = isSound ? await countWaitingRows(store.lookups) : FULL
        const isDue = waiting >= FULL || performance.now() - last >= times.loadMs
        if (waiting > 0 && isDue) {
          tell(logger, await work())
          last = performance.now()
        } else {
          await pause(times.pollMs, signal)
        }
      } catch (error) {
        // Of failures in a row the first is told.
        const level = isSound && !(error instanceof LeaseTimeoutError) ? 'warn' : 'debug'
        isSound = false
        logger[level]({ err: error }, 'events wait to be loaded')
        await pause(times.retryMs, signal)
      }
    }
  }

  const ended = run()
  return {
    stop: async () => {
      stopping.abort()
      await ended
    },
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => undefined)

function tell(logger: Logger, report: LoadReport | undefined): void {
  if (report === undefined) return
  const { received, events, duplicates, bots, excluded, rejected } = report
  logger.debug({ received, events, duplicates, bots, excluded, rejected }, 'events loaded')
  if (rejected > 0) {
    logger.warn({ rejected }, 'rows were rejected; the table rejections has them, with the reasons')
  }
}
