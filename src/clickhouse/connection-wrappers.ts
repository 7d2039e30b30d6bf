/** Connections that add a rule to the statements of another connection. */
import type { Connection, Settings } from './connection.js'

/**
 * Returns a connection that sends nothing once a lease is lost.
 *
 * The heartbeat notices the loss. A process that was suspended may still send one statement when it resumes, so a
 * step for which that would do harm calls `lease.assertHeld()` first.
 *
 * @param lost the signal of the lease; once it is aborted, statements reject with its reason
 */
export function fenceConnection(connection: Connection, lost: AbortSignal): Connection {
  return {
    ...connection,
    query: async (statement, options) => {
      lost.throwIfAborted()
      return connection.query(statement, options)
    },
    execute: async (statement, settings) => {
      lost.throwIfAborted()
      await connection.execute(statement, settings)
    },
    upload: async (statement, bytes, settings, signal) => {
      lost.throwIfAborted()
      await connection.upload(statement, bytes, settings, signal)
    },
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
  execute: (statement, settings) => connection.execute(statement, { ...LOW_PRIORITY, ...settings }),
})
