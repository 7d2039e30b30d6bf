/** Inserts rows of many callers together: what comes while an insert runs goes with the next one. */
import type { Connection } from './connection.js'
import { join, sql, statement, type Sql } from './sql.js'

interface WaitingRow {
  readonly values: Sql
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** The rows that wait for the end of a running insert, by connection and target. */
const queues = new WeakMap<Connection, Map<Sql, WaitingRow[]>>()

const MAX_ROWS = 100

/**
 * Inserts a row, and resolves once it is stored. Rows that wait at the same time share a statement, because a statement takes many
 * times as long as a row.
 *
 * @param into the table and its columns, a constant of the caller: rows are joined by it
 * @param values the values of the row, in the order of the columns
 * @throws what the statement rejects with; the rows may have been stored
 */
export function insertJoined(connection: Connection, into: Sql, values: Sql): Promise<void> {
  const byTarget = queues.get(connection) ?? new Map<Sql, WaitingRow[]>()
  queues.set(connection, byTarget)
  return new Promise((resolve, reject) => {
    const row = { values, resolve, reject }
    const queue = byTarget.get(into)
    if (queue !== undefined) {
      queue.push(row)
      return
    }
    const opened = [row]
    byTarget.set(into, opened)
    void drain(connection, into, opened, () => byTarget.delete(into))
  })
}

/** Inserts the rows that wait. Never rejects. @param onEmpty is called as soon as none waits */
async function drain(
  connection: Connection,
  into: Sql,
  queue: WaitingRow[],
  onEmpty: () => void,
): Promise<void> {
  while (queue.length > 0) {
    const rows = queue.splice(0, MAX_ROWS)
    const selects = rows.map(({ values }) => sql`SELECT ${values}`)
    try {
      await connection.execute(
        statement(sql`INSERT INTO ${into} ${join(selects, sql` UNION ALL `)}`),
      )
      rows.forEach(({ resolve }) => resolve())
    } catch (error) {
      rows.forEach(({ reject }) => reject(error))
    }
  }
  onEmpty()
}
