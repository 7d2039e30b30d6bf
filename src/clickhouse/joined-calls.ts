/**
 * Answers many callers with few statements. Calls that come while a statement runs share the next one, because a statement takes
 * many times as long as a row.
 */
import { setImmediate } from 'node:timers/promises'
import type { Connection } from './connection.js'
import { join, sql, statement, type Sql } from './sql.js'

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

const MAX_ITEMS = 100

/**
 * Joins the calls of a function. A call is answered by a statement that begins after the call, so a caller reads what it has written.
 *
 * @param run answers up to 100 items, in their order. If it rejects, all of their calls do
 */
export function joinCalls<Item, Result>(
  run: (connection: Connection, items: readonly Item[]) => Promise<readonly Result[]>,
): (connection: Connection, item: Item) => Promise<Result> {
  /** What waits for the end of a running statement. */
  const queues = new WeakMap<Connection, Waiting<Item, Result>[]>()
  const drain = async (connection: Connection, queue: Waiting<Item, Result>[]): Promise<void> => {
    while (queue.length > 0) {
      // Calls that ended together make their next ones together: the first of these waits for the others.
      await setImmediate()
      const calls = queue.splice(0, MAX_ITEMS)
      try {
        const results = await run(
          connection,
          calls.map(({ item }) => item),
        )
        calls.forEach(({ resolve }, i) => resolve(results[i] as Result))
      } catch (error) {
        calls.forEach(({ reject }) => reject(error))
      }
    }
    queues.delete(connection)
  }
  return (connection, item) =>
    new Promise((resolve, reject) => {
      const queue = queues.get(connection)
      if (queue !== undefined) {
        queue.push({ item, resolve, reject })
        return
      }
      const opened = [{ item, resolve, reject }]
      queues.set(connection, opened)
      void drain(connection, opened)
    })
}

/**
 * Returns a function that inserts a row, and resolves once it is stored. It rejects with what the statement rejects with; the row may
 * have been stored then. It is passed the values of the row, in the order of the columns.
 *
 * @param into the table and its columns
 */
export const joinInserts = (into: Sql): ((connection: Connection, values: Sql) => Promise<void>) =>
  joinCalls(async (connection, rows) => {
    const selects = rows.map((values) => sql`SELECT ${values}`)
    await connection.execute(statement(sql`INSERT INTO ${into} ${join(selects, sql` UNION ALL `)}`))
    return rows.map(() => undefined)
  })
