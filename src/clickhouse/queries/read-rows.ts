/** Reads rows from a response while it arrives. */
import type { Row as Line } from '@clickhouse/client'
import { IncompleteResponseError, parseClickHouseError, toConnectionError } from '../errors.js'

/**
 * The rows of a SELECT, some at a time and never none. At the end it returns how many there are before LIMIT and OFFSET.
 *
 * It throws when the response breaks off: an IncompleteResponseError, or the error of ClickHouse or of the connection.
 */
export type RowStream<Row> = AsyncGenerator<readonly Row[], number, undefined>

/** A line of the format JSONEachRowWithProgress. Those of other kinds report the progress, or name the columns. */
interface StreamLine<Row> {
  readonly row?: Row
  readonly rows_before_limit_at_least?: number
  readonly exception?: string
}

/** Reads the rows of a response in the format JSONEachRowWithProgress. */
export async function* readRows<Row>(lines: AsyncIterable<readonly Line[]>): RowStream<Row> {
  let total: number | undefined
  try {
    for await (const some of lines) {
      const parsed = some.map((line) => line.json<StreamLine<Row>>())
      for (const { exception, rows_before_limit_at_least: count } of parsed) {
        if (exception !== undefined) throw parseClickHouseError(exception)
        if (count !== undefined) total = count
      }
      const rows = parsed.flatMap(({ row }) => (row === undefined ? [] : [row]))
      if (rows.length > 0) yield rows
    }
  } catch (error) {
    throw toConnectionError(error)
  }
  if (total === undefined) throw new IncompleteResponseError()
  return total
}
