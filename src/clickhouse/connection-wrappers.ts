/** Connections that add a rule to the statements of another connection. */
import { setMaxListeners } from 'node:events'
import { SettingsMap } from '@clickhouse/client'
import { linkSignals } from '../lib/signals.js'
import { SECOND_MS } from '../lib/time.js'
import type { Connection } from './connection-types.js'
import type { Settings } from './statements.js'
import { getFailureCode } from './errors.js'

/**
 * Returns a connection that sends nothing once a lease is lost, and cancels what is running then.
 *
 * The heartbeat notices the loss. A process that was suspended may still send one statement when it resumes, so a
 * step for which that would do harm calls `lease.assertHeld()` first.
 *
 * @param lost the signal of the lease; once it is aborted, statements reject with its reason
 */
export function fenceConnection(connection: Connection, lost: AbortSignal): Connection {
  // All statements that run at the same time listen.
  setMaxListeners(0, lost)
  return {
    ...connection,
    query: (statement, options) =>
      fence(lost, options?.signal, (signal) => connection.query(statement, { ...options, signal })),
    stream: (statement, consume, options) =>
      fence(lost, options?.signal, (signal) =>
        connection.stream(statement, consume, { ...options, signal }),
      ),
    execute: (statement, settings, given) =>
      fence(lost, given, (signal) => connection.execute(statement, settings, signal)),
    upload: (statement, bytes, settings, given) =>
      fence(lost, given, (signal) => connection.upload(statement, bytes, settings, signal)),
    download: (statement, consume, settings, given) =>
      fence(lost, given, (signal) => connection.download(statement, consume, settings, signal)),
  }
}

/** Does `work` unless `lost` is aborted, and gives it up when that happens; rejects with the reason of `lost` then. */
export async function fence<Result>(
  lost: AbortSignal,
  given: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const either = linkSignals(given, lost)
  try {
    lost.throwIfAborted()
    return await work(either.signal)
  } catch (error) {
    lost.throwIfAborted()
    throw error
  } finally {
    either.unlink()
  }
}

/** A statement that has ended. */
export interface ObservedStatement {
  /** The name of the connection that ran it, such as `reader`. */
  readonly connection: string
  readonly seconds: number
  /** The code of its error; undefined when it succeeded. */
  readonly errorCode: string | undefined
}

/** Is called for every statement of a connection. */
export interface StatementObserver {
  readonly onStatementStart: (connection: string) => void
  readonly onStatementEnd: (statement: ObservedStatement) => void
}

/** Returns a connection that reports its statements under this name. */
export function observeConnection(
  connection: Connection,
  name: string,
  { onStatementStart, onStatementEnd }: StatementObserver,
): Connection {
  const observe = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const begun = performance.now()
    const end = (errorCode?: string): void =>
      onStatementEnd({
        connection: name,
        seconds: (performance.now() - begun) / SECOND_MS,
        errorCode,
      })
    onStatementStart(name)
    try {
      const result = await work()
      end()
      return result
    } catch (error) {
      end(getFailureCode(error))
      throw error
    }
  }
  return {
    ...connection,
    query: (statement, options) => observe(() => connection.query(statement, options)),
    stream: (...select) => observe(() => connection.stream(...select)),
    execute: (...statement) => observe(() => connection.execute(...statement)),
    upload: (...insert) => observe(() => connection.upload(...insert)),
    download: (...select) => observe(() => connection.download(...select)),
  }
}

/** The nice value of a background process: its threads get the CPU time that others leave. */
export const LOW_PRIORITY: Settings = { os_thread_priority: '10' }

/** Returns a connection whose queries and statements yield the CPU to those of other connections. */
export const withLowPriority = (connection: Connection): Connection => ({
  ...connection,
  query: (statement, { settings, ...options } = {}) =>
    connection.query(statement, { ...options, settings: { ...LOW_PRIORITY, ...settings } }),
  stream: (statement, consume, { settings, ...options } = {}) =>
    connection.stream(statement, consume, {
      ...options,
      settings: { ...LOW_PRIORITY, ...settings },
    }),
  execute: (statement, settings, signal) =>
    connection.execute(statement, { ...LOW_PRIORITY, ...settings }, signal),
})

/**
 * Returns a connection that sees only some rows of tables.
 *
 * @param filters conditions on the rows, by the names of the tables: SQL of this program, without any value from outside
 */
export function withFilters(
  connection: Connection,
  filters: Readonly<Record<string, string>>,
): Connection {
  const additional_table_filters = SettingsMap.from(filters)
  return {
    ...connection,
    query: (statement, { settings, ...options } = {}) =>
      connection.query(statement, {
        ...options,
        settings: { additional_table_filters, ...settings },
      }),
    execute: (statement, settings, signal) =>
      connection.execute(statement, { additional_table_filters, ...settings }, signal),
  }
}
