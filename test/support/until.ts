/** Waits for a state, for as long as a busy machine may need to reach it. */
import { setTimeout as sleep } from 'node:timers/promises'

/** The longest wait for a state. It only ends a test that would wait forever, so it says nothing about speed. */
const PATIENCE_MS = 300_000
const PAUSE_MS = 5

/**
 * Waits until a condition holds, and returns the milliseconds that took, for logs.
 *
 * @throws after five minutes
 */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<number> {
  const begun = performance.now()
  while (!(await isSo())) {
    if (performance.now() - begun > PATIENCE_MS) throw new Error('still not so after 300 s')
    await sleep(PAUSE_MS)
  }
  return Math.round(performance.now() - begun)
}
