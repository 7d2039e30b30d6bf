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
  const settings = { max_execution_time: timeoutMs / 1_000 }
  return async <Row>(statement: Statement) => {
    const end = new AbortController()
    const deadline = setTimeout(() => end.abort(new Error('the deadline passed')), timeoutMs)
    const leave = (): void => end.abort(gone?.reason)
    if (gone?.aborted === true) leave()
    gone?.addEventListener('abort', leave, { once: true })
    try {
      return await reader.query<Row>(statement, { signal: end.signal, settings })
    } catch (error) {
      throw storeError(error)
    } finally {
      clearTimeout(deadline)
      gone?.removeEventListener('abort', leave)
    }
  }
}
