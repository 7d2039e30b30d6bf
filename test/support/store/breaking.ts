/** Connections that break or fall asleep at a chosen statement, as a process that is killed or paused. */
import type { Connection } from '../../../src/clickhouse/connection.js'

/** Every statement on a broken connection fails with this. */
export class BrokenError extends Error {
  override readonly name = 'BrokenError'
}

/**
 * Returns a connection that runs statements up to `last` and none after it. The last statement runs but
 * reports a failure: to the store this looks like a process that was killed before the next statement.
 *
 * @param last the number of the last statement, from 1, or a pattern that matches its text
 */
export function breaking(connection: Connection, last: number | RegExp): Connection {
  let done = 0
  let isBroken = false
  const lastly = async <T>(query: string, work: () => Promise<T>): Promise<T> => {
    if (isBroken) throw new BrokenError()
    done += 1
    // Statements that are sent at the same time have numbers of their own.
    const isLast = typeof last === 'number' ? done === last : last.test(query)
    const result = await work()
    isBroken ||= isLast
    if (isBroken) throw new BrokenError()
    return result
  }
  return {
    ...connection,
    query: (statement, options) =>
      lastly(statement.query, () => connection.query(statement, options)),
    execute: (statement, settings) =>
      lastly(statement.query, () => connection.execute(statement, settings)),
    upload: (statement, bytes, settings) =>
      lastly(statement.query, () => connection.upload(statement, bytes, settings)),
  }
}

/** Returns a connection that awaits `meanwhile` ahead of its statement number `before`, from 1. */
export function sleeping(
  connection: Connection,
  before: number,
  meanwhile: () => Promise<void>,
): Connection {
  let count = 0
  const awake = async <T>(work: () => Promise<T>): Promise<T> => {
    count += 1
    if (count === before) await meanwhile()
    return work()
  }
  return {
    ...connection,
    query: (statement, options) => awake(() => connection.query(statement, options)),
    execute: (statement, settings) => awake(() => connection.execute(statement, settings)),
  }
}
