/** The results of a batch, with how long each took. */
import type { BatchResult } from '../../contract/api.js'
import type { Result } from './run-endpoint.js'

/** Reads a clock that never goes back, in milliseconds. */
export type ReadClock = () => number

/**
 * Waits for a result, and adds how long it took. Only answers are timed: an error says itself what it is about.
 *
 * @param isTimed whether the result says how long it took
 */
export async function timeResult(
  run: () => Promise<Result>,
  isTimed: boolean,
  now: ReadClock,
): Promise<Omit<Result, 'source'> & Pick<BatchResult, 'timing'>> {
  const begun = now()
  const { source, ...result } = await run()
  if (!isTimed || result.status !== 200) return result
  const milliseconds = Math.round(10 * Math.max(0, now() - begun)) / 10
  return {
    ...result,
    timing: { milliseconds, ...(source === undefined ? {} : { cache: source }) },
  }
}
