/** Reads on which requests wait before they are known to be allowed: cheap ones, which end soon. */
import type { ApiError } from '../contract/errors.js'
import { FRESH_MS } from '../lib/lookups.js'
import { toStoreError } from './errors.js'
import type { QueryOptions } from './statements.js'

/** Creates the options of a read that uses one thread and takes no longer than its response is fresh. */
export const createBriefOptions = (): QueryOptions => ({
  signal: AbortSignal.timeout(FRESH_MS),
  settings: { max_threads: 1 },
})

/**
 * Reads from the store, with `createBriefOptions`. The read is cheap, so a store on which it is too slow or too expensive is
 * overloaded.
 *
 * @param createError creates the error for a store that does not answer
 * @throws ApiError INTERNAL_ERROR for what the store should never answer, else the error of `createError`
 */
export async function readBriefly<Result>(
  read: (options: QueryOptions) => Promise<Result>,
  createError: (cause: unknown) => ApiError,
): Promise<Result> {
  try {
    return await read(createBriefOptions())
  } catch (cause) {
    const failure = toStoreError(cause)
    throw failure.code === 'INTERNAL_ERROR' ? failure : createError(cause)
  }
}
