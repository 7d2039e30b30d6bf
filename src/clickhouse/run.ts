/** Runs the statements of one query of the API, within its deadline and with errors of the API. */
import { createValidationError, type ApiError } from '../contract/errors.js'
import type { QueryResult, Settings } from './connection.js'
import { isClickHouseError, toStoreError } from './errors.js'
import type { Statement } from './sql.js'
import type { Store } from './store.js'
import { linkSignals } from './supervise.js'

/** A row of a rollup may hold a bitmap of many users, so reading even a few rows is worth several threads. */
export const READ_SETTINGS: Settings = {
  merge_tree_min_rows_for_concurrent_read: '1024',
  merge_tree_min_bytes_for_concurrent_read: '65536',
}

/** Runs a statement; rejects with an ApiError. */
export type RunQuery = <Row>(statement: Statement) => Promise<QueryResult<Row>>

/** The request that a query belongs to. */
export interface QueryScope {
  /** Aborted when the client no longer waits for the response. */
  readonly signal?: AbortSignal
  /** Starts the query_id of every statement, so that the logs of ClickHouse can be matched with those of the service. */
  readonly requestId?: string
}

/** Turns a failure of a query into an error of the API. Only filters have patterns, so the request is not valid. */
export const toQueryError = (error: unknown): ApiError =>
  isClickHouseError(error, 'CANNOT_COMPILE_REGEXP')
    ? createValidationError([], error)
    : toStoreError(error)

/**
 * Creates the runner of one query of the API. All its statements share the deadline.
 *
 * @param timeoutMs milliseconds from now that they may take together; ClickHouse then stops the running one
 */
export function createQueryRunner(
  { reader, readQueryLimits }: Pick<Store, 'reader' | 'readQueryLimits'>,
  timeoutMs: number,
  { signal: disconnected, requestId }: QueryScope = {},
): RunQuery {
  const begun = performance.now()
  return async <Row>(statement: Statement) => {
    const left = Math.max(1, timeoutMs - (performance.now() - begun))
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(new Error('the deadline passed')), left)
    const end = linkSignals(disconnected, deadline.signal)
    try {
      return await reader.query<Row>(statement, {
        signal: end.signal,
        ...(requestId === undefined ? {} : { requestId }),
        settings: {
          ...READ_SETTINGS,
          ...(await readQueryLimits()),
          max_execution_time: left / 1_000,
        },
      })
    } catch (error) {
      throw toQueryError(error)
    } finally {
      clearTimeout(timer)
      end.unlink()
    }
  }
}
