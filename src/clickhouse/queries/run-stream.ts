/** Streams the rows of a SELECT for a request of the API, within its deadlines and with errors of the API. */
import { ApiError } from '../../contract/errors.js'
import { MINUTE_MS, SECOND_MS } from '../../lib/time.js'
import { LOW_PRIORITY } from '../connection-wrappers.js'
import { READ_SETTINGS, toQueryError, type QueryScope } from '../run.js'
import type { Statement } from '../sql.js'
import type { Store } from '../store.js'
import { linkSignals } from '../supervise.js'
import type { RowStream } from './read-rows.js'
import type { ConsumeRows } from './send-stream.js'

/** Streams a SELECT with a LIMIT to a consumer. Both reject with an ApiError, except what the consumer itself rejects with. */
export type StreamQuery = <Row>(statement: Statement, consume: ConsumeRows<Row>) => Promise<void>

/** How many milliseconds a statement may take in all, with a client that reads slowly. Accounts allow no more. */
export const STREAM_MS = MINUTE_MS

/**
 * Creates the runner of a streamed query of the API. Its statements leave the CPU to those of other requests.
 *
 * @param timeoutMs milliseconds from the start of a statement to its first rows
 */
export function createStreamRunner(
  { reader, readQueryLimits }: Pick<Store, 'reader' | 'readQueryLimits'>,
  timeoutMs: number,
  { signal: disconnected, requestId }: QueryScope = {},
): StreamQuery {
  return async <Row>(statement: Statement, consume: ConsumeRows<Row>) => {
    const deadline = new AbortController()
    const expire = (): void => deadline.abort(new Error('the deadline passed'))
    const timers = [setTimeout(expire, timeoutMs), setTimeout(expire, STREAM_MS)]
    const end = linkSignals(disconnected, deadline.signal)
    try {
      const settings = {
        ...READ_SETTINGS,
        ...LOW_PRIORITY,
        ...(await readQueryLimits()),
        max_execution_time: STREAM_MS / SECOND_MS,
      }
      await reader.stream<Row>(
        statement,
        (rows) => consume(translateErrors(rows, () => clearTimeout(timers[0]))),
        { signal: end.signal, ...(requestId === undefined ? {} : { requestId }), settings },
      )
    } catch (error) {
      throw error instanceof ApiError ? error : toQueryError(error)
    } finally {
      timers.forEach((timer) => clearTimeout(timer))
      end.unlink()
    }
  }
}

/** Passes rows on. @param onRows is called when they begin to arrive, or have ended */
async function* translateErrors<Row>(rows: RowStream<Row>, onRows: () => void): RowStream<Row> {
  try {
    for (;;) {
      const next = await rows.next()
      onRows()
      if (next.done === true) return next.value
      yield next.value
    }
  } catch (error) {
    throw toQueryError(error)
  }
}
