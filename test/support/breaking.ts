/** A connection that breaks: it carries out a number of statements, and answers for the last no more. */
import type { Connection } from '../../src/clickhouse/connection.js'

/** What a connection says once it is broken. */
export class BrokenError extends Error {
  override readonly name = 'BrokenError'
}

/**
 * Carries out `count` statements and then none, as a process that is killed. The last is carried out
 * but reports a failure: for the store that is the moment before the next as well.
 */
export function breaking(connection: Connection, count: number): Connection {
  let left = count
  const lastly = async <T>(work: () => Promise<T>): Promise<T> => {
    if (left <= 0) throw new BrokenError()
    left -= 1
    const result = await work()
    if (left === 0) throw new BrokenError()
    return result
  }
  return {
    ...connection,
    query: (statement, options) => lastly(() => connection.query(statement, options)),
    execute: (statement, settings) => lastly(() => connection.execute(statement, settings)),
    upload: (statement, bytes, settings) =>
      lastly(() => connection.upload(statement, bytes, settings)),
  }
}
