/** Runs the statement of a question: within its deadline, and with failures as errors of the API. */
import type { QueryResult, Settings } from './connection.js'
import { toStoreError } from './errors.js'
import type { Statement } from './sql.js'
import type { Store } from './store.js'

/** A row of a rollup may hold many users: few rows are work enough for several threads. */
const SETTINGS: Settings = {
  merge_tree_min_rows_for_concurrent_read: '1024',
  merge_tree_min_bytes_for_concurrent_read: '65536',
}

/** Runs a statement; rejects with an ApiError. */
export type RunQuery = <Row>(statement: Statement) => Promise<QueryResult<Row>>

/**
 * For one answer: all its statements share the deadline.
 *
 * @param timeoutMs how long the answer may take from now; a query is stopped in the engine then
 * @param gone fires when nobody waits for the answer any more
 */
export function createQueryRunner(
  { reader }: Store,
  timeoutMs: number,
  gone?: AbortSignal,
): RunQuery {
  const begun = performance.now()
  return async <Row>(statement: Statement) => {
    const left = Math.max(1, timeoutMs - (performance.now() - begun))
    const end = new AbortController()
    const deadline = setTimeout(() => end.abort(new Error('the deadline passed')), left)
    const leave = (): void => end.abort(gone?.reason)
    if (gone?.aborted === true) leave()
    gone?.addEventListener('abort', leave, { once: true })
    try {
      return await reader.query<Row>(statement, {
        signal: end.signal,
        settings: { ...SETTINGS, max_execution_time: left / 1_000 },
      })
    } catch (error) {
      throw toStoreError(error)
    } finally {
      clearTimeout(deadline)
      gone?.removeEventListener('abort', leave)
    }
  }
}
