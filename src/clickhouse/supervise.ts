/** Watches a call to the store from outside: ends it when its signal is aborted or a watch gives it up, and traces it. */
import { getFailureCode, QueryCancelledError } from './errors.js'

/** Rejects when the call should be given up; stops when `ended` is aborted. It never resolves. */
export type Watch = (ended: AbortSignal) => Promise<never>

/** Why signals for parts of a call are aborted. Without a reason, each `abort` would create an error with a stack. */
const ENDED = new Error('the call has ended')

export interface Supervision {
  /** Cancels the call. */
  readonly signal: AbortSignal | undefined
  readonly watch?: Watch
  /** Is called after the signal was aborted. */
  readonly onCancelled?: () => void
}

/**
 * Runs a call. It settles as soon as the signal is aborted or the watch rejects, whatever the call does.
 *
 * @param call receives a signal that is aborted when nobody waits for the call any more
 * @throws QueryCancelledError when the signal is aborted
 */
export async function supervise<T>(
  call: (abandoned: AbortSignal) => Promise<T>,
  { signal, watch, onCancelled }: Supervision,
): Promise<T> {
  if (signal?.aborted === true) throw new QueryCancelledError(signal.reason)
  const abandoned = new AbortController()
  const ended = new AbortController()
  const { promise: cancelled, reject } = rejectable()
  const cancel = (): void => {
    reject(new QueryCancelledError(signal?.reason))
    onCancelled?.()
  }
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    const rivals = watch === undefined ? [cancelled] : [cancelled, watch(ended.signal)]
    return await Promise.race([call(abandoned.signal), ...rivals])
  } catch (error) {
    abandoned.abort(ENDED)
    throw error
  } finally {
    signal?.removeEventListener('abort', cancel)
    ended.abort(ENDED)
  }
}

/** A statement as a trace shows it: never with its text or parameters. */
export interface TracedStatement {
  readonly operation: 'query' | 'execute' | 'upload'
  readonly queryId: string
  readonly getErrorCode: (error: unknown) => string
}

/** Runs a statement as a part of a trace. */
export type TraceStatement = <Result>(
  statement: TracedStatement,
  run: () => Promise<Result>,
) => Promise<Result>

/** Runs a statement as a part of a trace, if there is one. */
export const runTraced = <Result>(
  trace: TraceStatement | undefined,
  operation: TracedStatement['operation'],
  queryId: string,
  run: () => Promise<Result>,
): Promise<Result> =>
  trace === undefined ? run() : trace({ operation, queryId, getErrorCode: getFailureCode }, run)

function rejectable(): { promise: Promise<never>; reject: (error: Error) => void } {
  let reject!: (error: Error) => void
  const promise = new Promise<never>((_resolve, rejectPromise) => {
    reject = rejectPromise
  })
  return { promise, reject }
}
