/** Work that is done again and again in the background. */
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Does work at once, and again after a pause, until it is stopped. The pause does not keep the process alive.
 *
 * @param work must not reject; its signal is aborted when it is to stop
 * @param pauseMs milliseconds from the end of one call to the next
 * @returns a function that stops it, and waits for the call that runs
 */
export function startRepeating(
  work: (stop: AbortSignal) => Promise<void>,
  pauseMs: number,
): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await work(signal)
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  const ended = run()
  return async () => {
    stopping.abort()
    await ended
  }
}
