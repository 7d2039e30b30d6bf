/** The results of a batch, with how long each took. */
import type { BatchResult } from '../../contract/api.js'
import type { Outcome } from './run-operation.js'

/** Reads a clock that never goes back, in milliseconds. */
export type ReadClock = () => number

/**
 * Waits for an outcome, and returns it as a part of a result. Only answers are timed: an error says itself what it is about.
 *
 * @param isTimed whether the result says how long it took
 */
export async function timeResult<Body>(
  run: () => Promise<Outcome<Body>>,
  isTimed: boolean,
  now: ReadClock,
): Promise<Omit<Outcome<Body>, 'source'> & Pick<BatchResult, 'timing'>> {
  const begun = now()
  const { source, ...result } = await run()
  if (!isTimed || result.status !== 200) return result
  const milliseconds = Math.round(10 * Math.max(0, now() - begun)) / 10
  return {
    ...result,
    timing: { milliseconds, ...(source === undefined ? {} : { cache: source }) },
  }
}
