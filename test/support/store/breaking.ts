/** Connections that fail or pause at a chosen statement, as if the process had been killed or suspended there. */
import type { Connection } from '../../../src/clickhouse/connection.js'
import { LEASE_TABLES } from '../../../src/clickhouse/lease/lease-tables.js'
import type { LeaseName } from '../../../src/clickhouse/lease/lease-store.js'
import { identifier, sql, statement } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'

/** The error of every statement after the connection was broken. */
export class BrokenError extends Error {
  override readonly name = 'BrokenError'
}

/**
 * Returns a connection that runs statements up to `last` and none after it. The last statement runs but
 * reports a failure: to the store this looks like a process that was killed before the next statement.
 *
 * @param last the number of the last statement, from 1, or a pattern that matches its text
 */
export function breakAfter(connection: Connection, last: number | RegExp): Connection {
  let done = 0
  let isBroken = false
  const runCounted = async <T>(query: string, work: () => Promise<T>): Promise<T> => {
    if (isBroken) throw new BrokenError()
    done += 1
    // Concurrent statements are numbered, too.
    const isLast = typeof last === 'number' ? done === last : last.test(query)
    const result = await work()
    isBroken ||= isLast
    if (isBroken) throw new BrokenError()
    return result
  }
  return {
    ...connection,
    query: (statement, options) =>
      runCounted(statement.query, () => connection.query(statement, options)),
    execute: (statement, settings) =>
      runCounted(statement.query, () => connection.execute(statement, settings)),
    upload: (statement, bytes, settings) =>
      runCounted(statement.query, () => connection.upload(statement, bytes, settings)),
  }
}

/** A connection that notes its statements, to choose where the same work is to be broken off. */
export interface NotedConnection {
  readonly connection: Connection
  /**
   * Lists places for `breakAfter`: each statement from two before the first that matches `publishing`, and every fourth of
   * those before, which publish nothing. The last place is behind all statements: there nothing is broken off.
   */
  readonly listPlaces: (publishing: RegExp) => readonly number[]
}

export function noteStatements(connection: Connection): NotedConnection {
  const texts: string[] = []
  return {
    connection: {
      ...connection,
      query: (statement, options) => {
        texts.push(statement.query)
        return connection.query(statement, options)
      },
      execute: (statement, settings) => {
        texts.push(statement.query)
        return connection.execute(statement, settings)
      },
      upload: (statement, bytes, settings) => {
        texts.push(statement.query)
        return connection.upload(statement, bytes, settings)
      },
    },
    listPlaces: (publishing) => {
      const first = texts.findIndex((text) => publishing.test(text)) + 1
      const all = texts.map((_, i) => i + 1)
      const chosen = all.filter((place) => place >= first - 2 || place % 4 === 1)
      return [...chosen, Number.POSITIVE_INFINITY]
    },
  }
}

/**
 * Returns a connection that awaits `meanwhile` before it sends a statement.
 *
 * @param before the number of the statement, counted from 1, or a pattern: the first statement that matches it counts
 */
export function pauseBefore(
  connection: Connection,
  before: number | RegExp,
  meanwhile: () => Promise<void>,
): Connection {
  let count = 0
  let hasPaused = false
  const runPausing = async <T>(query: string, work: () => Promise<T>): Promise<T> => {
    count += 1
    if (!hasPaused && (typeof before === 'number' ? count === before : before.test(query))) {
      hasPaused = true
      await meanwhile()
    }
    return work()
  }
  return {
    ...connection,
    query: (statement, options) =>
      runPausing(statement.query, () => connection.query(statement, options)),
    execute: (statement, settings) =>
      runPausing(statement.query, () => connection.execute(statement, settings)),
  }
}

/** Releases a lease of a broken process, so that a test need not wait until it has expired. */
export async function releaseLease(
  { writer, admin }: Pick<Store, 'writer' | 'admin'>,
  name: LeaseName = 'loader',
): Promise<void> {
  const [newest] = await LEASE_TABLES.listGenerations(writer, name)
  if (newest === undefined) return
  const table = identifier(`lease_${name}_${newest.number}`)
  await admin.execute(statement(sql`INSERT INTO ${table} (state, at) SELECT 'released', now64(3)`))
}
