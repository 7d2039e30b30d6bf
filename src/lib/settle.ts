/** Work that goes on side by side. */

/**
 * Waits until all are done, even if one fails: none goes on behind the caller's back.
 *
 * @throws the error of the first that failed, in their order
 */
export async function settleAll(works: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(works)
  const failed = results.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}
