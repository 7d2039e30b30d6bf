/** Runs the statements of one query of the API, within its deadline and with errors of the API. */
import { SettingsMap } from '@clickhouse/client'
import { ApiError, createValidationError } from '../contract/errors.js'
import { linkSignals, withDeadline } from '../lib/signals.js'
import { MINUTE_MS, SECOND_MS } from '../lib/time.js'
import type { QueryResult, Settings } from './connection.js'
import { LOW_PRIORITY } from './connection-wrappers.js'
import { isClickHouseError, toStoreError } from './errors.js'
import type { Statement } from './sql.js'
import type { Store } from './store.js'
import type { ConsumeRows, RowStream } from './stream-rows.js'

const READ_SETTINGS: Settings = {
  // A row of a rollup may hold a bitmap of many users, so reading even a few rows is worth several threads.
  merge_tree_min_rows_for_concurrent_read: '1024',
  merge_tree_min_bytes_for_concurrent_read: '65536',
  // No table has projections, and a statement names the rows that it reads by its sorting key. To look for better ways takes
  // up to a tenth of the time of a statement that reads little.
  optimize_use_projections: 0,
  use_statistics: 0,
}

/** Builds the setting that filters the rows of tables. @param filters the name of each table, and its filter, without quotes */
export const filterTables = (
  filters: readonly (readonly [table: string, filter: string])[],
): Settings => ({
  additional_table_filters: SettingsMap.from(Object.fromEntries(filters)),
})

/** Runs a statement; rejects with an ApiError. */
export type RunQuery = <Row>(statement: Statement) => Promise<QueryResult<Row>>

/** The request that a query belongs to. */
export interface QueryScope {
  /** Aborted when the client no longer waits for the response. */
  readonly signal?: AbortSignal
  /** Starts the query_id of every statement, so that the logs of ClickHouse can be matched with those of the service. */
  readonly requestId?: string
  /** Further settings of every statement. */
  readonly settings?: Settings
}

/** A condition in the settings of a statement does not hold. */
export class GuardError extends Error {
  override readonly name = 'GuardError'

  constructor(cause: unknown) {
    super('a condition of the statement does not hold', { cause })
  }
}

/**
 * Turns a failure of a query into an error of the API, or into a GuardError: no statement of the API uses `throwIf`. Only filters have
 * patterns, so if one cannot be compiled, the request is not valid.
 */
function toQueryError(error: unknown): ApiError | GuardError {
  if (isClickHouseError(error, 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO')) return new GuardError(error)
  return isClickHouseError(error, 'CANNOT_COMPILE_REGEXP')
    ? createValidationError([], error)
    : toStoreError(error)
}

/**
 * Creates the runner of one query of the API. All its statements share the deadline.
 *
 * @param timeoutMs milliseconds from now that they may take together; ClickHouse then stops the running one
 */
export function createQueryRunner(
  { reader, readQueryLimits }: Pick<Store, 'reader' | 'readQueryLimits'>,
  timeoutMs: number,
  { signal: disconnected, requestId, settings: further }: QueryScope = {},
): RunQuery {
  const begun = performance.now()
  return async <Row>(statement: Statement) => {
    const left = Math.max(1, timeoutMs - (performance.now() - begun))
    try {
      return await withDeadline(left, disconnected, async (signal) =>
        reader.query<Row>(statement, {
          signal,
          ...(requestId === undefined ? {} : { requestId }),
          settings: {
            ...READ_SETTINGS,
            ...(await readQueryLimits()),
            max_execution_time: left / 1_000,
            ...further,
          },
        }),
      )
    } catch (error) {
      throw toQueryError(error)
    }
  }
}

/** Streams a SELECT with a LIMIT to a consumer. Both reject with an ApiError, except what the consumer itself rejects with. */
export type StreamQuery = <Row>(statement: Statement, consume: ConsumeRows<Row>) => Promise<void>

/** How many milliseconds a statement may take in all, with a client that reads slowly. Accounts allow no more. */
const STREAM_MS = MINUTE_MS

/**
 * Creates the runner of a streamed query of the API. Its statements leave the CPU to those of other requests.
 *
 * @param timeoutMs milliseconds from the start of a statement to its first rows
 */
export function createStreamRunner(
  { reader, readQueryLimits }: Pick<Store, 'reader' | 'readQueryLimits'>,
  timeoutMs: number,
  { signal: disconnected, requestId, settings: further }: QueryScope = {},
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
        ...further,
      }
      await reader.stream<Row>(
        statement,
        (rows) => consume(translateErrors(rows, () => clearTimeout(timers[0]))),
        { signal: end.signal, ...(requestId === undefined ? {} : { requestId }), settings },
      )
    } catch (error) {
      throw error instanceof ApiError || error instanceof GuardError ? error : toQueryError(error)
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
