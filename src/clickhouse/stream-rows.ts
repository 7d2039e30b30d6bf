/** Sends a SELECT whose rows are read while they arrive. */
import type { Row as TextLine } from '@clickhouse/client'
import { addAbortSignal } from 'node:stream'
import { IncompleteResponseError, parseClickHouseError, toConnectionError } from './errors.js'
import { SEMANTIC_SETTINGS } from './semantic-settings.js'
import type { Statement } from './sql.js'
import { createQueryId, type Line, type QueryOptions, type Settings } from './statements.js'
import { runTraced, supervise } from './supervise.js'

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
export async function* readRows<Row>(lines: AsyncIterable<readonly TextLine[]>): RowStream<Row> {
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

/** Does something with rows. The statement ends when it settles; what it rejects with is not changed. */
export type ConsumeRows<Row> = (rows: RowStream<Row>) => Promise<void>

/** Settings of every streamed query. */
const STREAM_SETTINGS: Settings = {
  ...SEMANTIC_SETTINGS,
  wait_end_of_query: 0,
  // An error breaks the connection. Otherwise it would be a line in the format, which is read as well.
  http_write_exception_in_output_format: 0,
  exact_rows_before_limit: 1,
  output_format_json_quote_64bit_integers: 0,
  // As in the format JSON.
  output_format_json_validate_utf8: 1,
}

/** Sends a SELECT, which needs a LIMIT, and hands its rows to a consumer. ClickHouse waits while the consumer is busy. */
export async function sendStream<Row>(
  { client, overseer, killsCancelled, trace }: Line,
  { query, query_params }: Statement,
  consume: ConsumeRows<Row>,
  { settings, signal, requestId }: QueryOptions = {},
): Promise<void> {
  const query_id = createQueryId(requestId)
  let failure: { readonly error: unknown } | undefined
  const send = async (abort_signal: AbortSignal): Promise<void> => {
    const result = await client.query({
      query,
      query_params,
      query_id,
      abort_signal,
      format: 'JSONEachRowWithProgress',
      use_multipart_params_auto: true,
      clickhouse_settings: { ...STREAM_SETTINGS, ...settings },
    })
    const lines = addAbortSignal(abort_signal, result.stream())
    try {
      await consume(readRows<Row>(lines))
    } catch (error) {
      failure = { error }
      throw error
    } finally {
      // Ends the statement if there are rows that nobody has read.
      result.close()
    }
  }
  return runTraced(trace, 'query', query_id, () =>
    supervise(send, {
      signal,
      // A response whose reader is slow goes on after the end of the statement.
      watch: overseer.watch(query_id, () => false),
      onCancelled: () => killsCancelled && overseer.kill(query_id),
    }).catch((error: unknown) => {
      throw failure?.error === error ? error : toConnectionError(error)
    }),
  )
}
