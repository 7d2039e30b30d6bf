/** A connection for the holder of a lease: it sends nothing more once the lease is lost. */
import type { Connection } from '../connection.js'

/** @param lost the signal of the lease; statements are refused with its reason. */
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
    upload: async (statement, bytes, settings) => {
      lost.throwIfAborted()
      await connection.upload(statement, bytes, settings)
    },
  }
}
