/** Reads the rows of a streamed statement as a generator. */
import type { Statement } from '../../clickhouse/sql.js'
import { withResolvers } from '../../lib/settle.js'
import type { StoredRows, StreamRows } from '../operation.js'

/**
 * Runs a statement. It ends when its rows have been read, or when the generator is closed.
 *
 * @param onFailure is called when the statement fails, also while its rows are not being read
 * @returns the number of rows before LIMIT
 */
export async function* pullRows<Stored>(
  stream: StreamRows,
  statement: Statement,
  onFailure: (error: unknown) => void,
): AsyncGenerator<readonly Stored[], number, undefined> {
  const opened = withResolvers<StoredRows<Stored>>()
  const finished = withResolvers<undefined>()
  const running = stream<Stored>(statement, async (rows) => {
    opened.resolve(rows)
    await finished.promise
  }).catch((error: unknown) => {
    opened.reject(error)
    onFailure(error)
  })
  try {
    return yield* await opened.promise
  } finally {
    finished.resolve(undefined)
    await running
  }
}
