/** Work that goes on side by side, and promises that are settled from outside. */

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

export interface Deferred<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void
}

/** The same as `Promise.withResolvers`, which needs Node.js 22. */
export function withResolvers<T>(): Deferred<T> {
  let resolve!: (value: T) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}
