/** Connections that add a rule to the statements of another connection. */
import type { Connection, Settings } from './connection.js'
import { linkSignals } from './supervise.js'

/**
 * Returns a connection that sends nothing once a lease is lost, and cancels what is running then.
 *
 * The heartbeat notices the loss. A process that was suspended may still send one statement when it resumes, so a
 * step for which that would do harm calls `lease.assertHeld()` first.
 *
 * @param lost the signal of the lease; once it is aborted, statements reject with its reason
 */
export function fenceConnection(connection: Connection, lost: AbortSignal): Connection {
  const fenced = async <T>(
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const either = linkSignals(signal, lost)
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
  return {
    ...connection,
    query: (statement, options) =>
      fenced(options?.signal, (signal) => connection.query(statement, { ...options, signal })),
    execute: (statement, settings, given) =>
      fenced(given, (signal) => connection.execute(statement, settings, signal)),
    upload: (statement, bytes, settings, given) =>
      fenced(given, (signal) => connection.upload(statement, bytes, settings, signal)),
  }
}

/** The nice value of a background process: its threads get the CPU time that others leave. */
const LOW_PRIORITY: Settings = { os_thread_priority: '10' }

/** Returns a connection whose queries and statements yield the CPU to those of other connections. */
export const withLowPriority = (connection: Connection): Connection => ({
  ...connection,
  query: (statement, options = {}) =>
    connection.query(statement, {
      ...options,
      settings: { ...LOW_PRIORITY, ...options.settings },
    }),
  execute: (statement, settings, signal) =>
    connection.execute(statement, { ...LOW_PRIORITY, ...settings }, signal),
})
