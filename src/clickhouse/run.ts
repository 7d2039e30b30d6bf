/** Runs the statement of a question: within its deadline, and with failures as errors of the API. */
import type { Answer } from './connection.js'
import { storeError } from './failures.js'
import type { Statement } from './sql.js'
import type { Store } from './store.js'

/** Runs a statement; rejects with an ApiError. */
export type Run = <Row>(statement: Statement) => Promise<Answer<Row>>

/**
 * @param timeoutMs how long an answer may take; the query is stopped in the engine then
 * @param gone fires when nobody waits for the answer any more
 */
export function createRun({ reader }: Store, timeoutMs: number, gone?: AbortSignal): Run {
  return async <Row>(statement: Statement) => {
    const deadline = AbortSignal.timeout(timeoutMs)
    try {
      return await reader.query<Row>(statement, {
        signal: gone === undefined ? deadline : AbortSignal.any([deadline, gone]),
        settings: { max_execution_time: timeoutMs / 1_000 },
      })
    } catch (error) {
      throw storeError(error)
    }
  }
}
