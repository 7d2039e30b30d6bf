/** A connection that breaks: it carries out a number of statements, and answers for the last no more. */
import type { Connection } from '../../../src/clickhouse/connection.js'

/** What a connection says once it is broken. */
export class BrokenError extends Error {
  override readonly name = 'BrokenError'
}

/**
 * Carries out statements up to the last and then none, as a process that is killed. The last is carried
 * out but reports a failure: for the store that is the moment before the next as well.
 *
 * @param last how many statements are carried out, or what the text of the last one is like.
 */
export function breaking(connection: Connection, last: number | RegExp): Connection {
  let done = 0
  let isBroken = false
  const lastly = async <T>(query: string, work: () => Promise<T>): Promise<T> => {
    if (isBroken) throw new BrokenError()
    done += 1
    // Of statements that are sent at once each has a number of its own.
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

/** Does something else before a statement, as what goes on in the world while a process is asleep. */
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
