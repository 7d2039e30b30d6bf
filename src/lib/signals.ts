/** Signals that abort work: joined ones, and deadlines. */

/**
 * Returns a signal that is aborted with either of two. The caller unlinks it when its work ends.
 *
 * Not AbortSignal.any: on Node 20 it retains every signal derived from a long-lived one.
 */
export function linkSignals(...signals: readonly (AbortSignal | undefined)[]): {
  readonly signal: AbortSignal
  unlink(): void
} {
  const either = new AbortController()
  const links = signals.flatMap((signal) => {
    if (signal === undefined) return []
    const abort = (): void => either.abort(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
    return [() => signal.removeEventListener('abort', abort)]
  })
  return { signal: either.signal, unlink: () => links.forEach((unlink) => unlink()) }
}

/**
 * Calls `work` with a signal that is aborted at a deadline, or with another signal.
 *
 * Not AbortSignal.timeout in AbortSignal.any: Node 20 collects a timeout that nothing else refers to, so it never fires.
 *
 * @param ms milliseconds from now
 */
export async function withDeadline<Result>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const deadline = new AbortController()
  const timer = setTimeout(
    () => deadline.abort(new DOMException('the deadline passed', 'TimeoutError')),
    ms,
  )
  const end = linkSignals(signal, deadline.signal)
  try {
    return await work(end.signal)
  } finally {
    clearTimeout(timer)
    end.unlink()
  }
}
