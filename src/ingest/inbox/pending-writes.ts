/** Keeps the writes whose rows are not in the inbox yet, so that their requests can wait for them or be rejected. */
import type { ApiError } from '../../contract/errors.js'
import { withResolvers } from '../../lib/settle.js'

/** The rows of one request, and the promise that the request awaits. */
export interface PendingWrite {
  readonly rows: string
  readonly bytes: number
  /** Settles when the rows are stored or the write has failed. The request waits for it. */
  readonly done: Promise<void>
  readonly isSettled: () => boolean
  /** Resolves `done`, or rejects it with `error`. Later calls change nothing. */
  readonly settle: (error?: ApiError) => void
}

interface PendingWrites {
  /** Adds a write. @param bytes the length of `rows` in UTF-8 */
  readonly add: (rows: string, bytes: number) => PendingWrite
  /** Rejects all writes that are not settled. */
  readonly rejectAll: (error: ApiError) => void
}

export function createPendingWrites(): PendingWrites {
  const unsettled = new Set<PendingWrite>()
  return {
    rejectAll: (error) => unsettled.forEach((write) => write.settle(error)),
    add: (rows, bytes) => {
      const { promise, resolve, reject } = withResolvers<undefined>()
      const write: PendingWrite = {
        rows,
        bytes,
        done: promise,
        isSettled: () => !unsettled.has(write),
        settle: (error) => {
          if (!unsettled.delete(write)) return
          if (error === undefined) resolve(undefined)
          else reject(error)
        },
      }
      unsettled.add(write)
      return write
    },
  }
}
