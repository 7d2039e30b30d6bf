/** Fails queries at once while a store hangs. */
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../lib/time.js'
import type { Connection } from './connection.js'
import { fence } from './connection-wrappers.js'
import { isAnswer, StoreUnavailableError } from './errors.js'

/** Is called when a breaker opens, with the failure of the last ping, and when it closes. */
export type BreakerObserver = (isOpen: boolean, cause?: unknown) => void

export interface Breaker {
  /** Returns a connection whose queries reject with a StoreUnavailableError while the breaker is open. */
  readonly guard: (connection: Connection) => Connection
  /** Does the same for a connection to another store, which asks this one for its part of the rows. */
  readonly guardOther: (connection: Connection) => Connection
  /** Ends the pings for good. */
  readonly stop: () => void
}

/** The breaker opens when this many pings in succession, and all queries meanwhile, get no response. */
const MAX_UNANSWERED = 3
const PING_PAUSE_MS = SECOND_MS / 4
/** A query that fails this soon after a response says nothing about the store: it was too slow, or its client left. */
const RECENT_MS = SECOND_MS

/**
 * Creates the breaker of a store: while the store hangs, queries fail at once instead of at their deadlines.
 *
 * A query that ends without a response makes it ping the store until there is a response; an error of ClickHouse is one. When
 * too many pings fail, it opens: it gives up the queries that wait for the store, and lets no more through. It closes with
 * the next answer to a ping. While the store answers, it sends nothing.
 *
 * @param ping sends a short query; rejects when it is not answered soon
 */
export function createBreaker(ping: () => Promise<unknown>, observer?: BreakerObserver): Breaker {
  let opened = createOpened()
  let answeredAt = -Infinity
  let isPinging = false
  let isStopped = false

  /** Runs a query or a ping, and notes whether the store answered. */
  async function attempt<Result>(work: () => Promise<Result>, isOther = false): Promise<Result> {
    try {
      const result = await work()
      answeredAt = performance.now()
      return result
    } catch (error) {
      // An error of another store says nothing about this one.
      if (isAnswer(error) && !isOther) answeredAt = performance.now()
      else if (performance.now() - answeredAt > RECENT_MS) void pingUntilAnswered()
      throw error
    }
  }
  async function pingUntilAnswered(): Promise<void> {
    if (isPinging) return
    isPinging = true
    let failure: unknown
    for (let unanswered = 0; !isStopped; unanswered++) {
      if (unanswered === MAX_UNANSWERED) open(failure)
      const begun = performance.now()
      failure = await attempt(ping).catch((error: unknown) => error)
      if (answeredAt < begun) await sleep(PING_PAUSE_MS, undefined, { ref: false })
      if (answeredAt >= begun) break
    }
    isPinging = false
    if (!opened.signal.aborted || isStopped) return
    opened = createOpened()
    observer?.(false)
  }
  function open(cause: unknown): void {
    opened.abort(new StoreUnavailableError('the store does not answer', { cause }))
    observer?.(true, cause)
  }
  const guard = (connection: Connection, isOther: boolean): Connection =>
    wrapQueries(connection, (given, send) =>
      fence(opened.signal, given, (signal) => attempt(() => send(signal), isOther)),
    )
  return {
    guard: (connection) => guard(connection, false),
    guardOther: (connection) => guard(connection, true),
    stop: () => (isStopped = true),
  }
}

const wrapQueries = (
  connection: Connection,
  run: <R>(given: AbortSignal | undefined, send: (signal: AbortSignal) => Promise<R>) => Promise<R>,
): Connection => ({
  ...connection,
  query: (statement, options) =>
    run(options?.signal, (signal) => connection.query(statement, { ...options, signal })),
  stream: (statement, consume, options) =>
    run(options?.signal, (signal) => connection.stream(statement, consume, { ...options, signal })),
})

/** Many queries listen at once. */
function createOpened(): AbortController {
  const opened = new AbortController()
  setMaxListeners(0, opened.signal)
  return opened
}
