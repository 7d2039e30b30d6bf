/** Writes the lines of many requests into the inbox together, in a few inserts. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../../clickhouse/connection.js'
import type { ApiError } from '../../contract/errors.js'
import { createUnavailableError, formatRows, insertRows, type NewLines } from './insert-lines.js'
import { createInsertScheduler, type InsertLimits } from './insert-scheduler.js'
import { createPendingWrites, type PendingWrite } from './pending-writes.js'

export interface InboxWriter {
  /**
   * Writes lines into the inbox, all of them or none, and resolves once they are stored.
   *
   * @throws ApiError SERVICE_UNAVAILABLE when the store does not take the lines within the timeout, or too many
   *   bytes are pending. After a timeout the lines may still be stored.
   */
  readonly write: (lines: NewLines) => Promise<void>
  /** Rejects every pending write with this error. */
  readonly rejectPending: (error: ApiError) => void
}

export interface InboxWriterOptions extends InsertLimits {
  /** The most bytes that may be pending; a write that would exceed this limit is rejected at once. */
  readonly maxPendingBytes: number
  /** The longest that a write is pending, in milliseconds. */
  readonly timeoutMs: number
}

const MB = 1024 * 1024
const DEFAULTS: InboxWriterOptions = {
  maxPendingBytes: 64 * MB,
  maxInsertBytes: 8 * MB,
  maxInserts: 2,
  intervalMs: 25,
  timeoutMs: 5_000,
}

/** The waits between the attempts of an insert; the last one repeats. */
const RETRY_DELAYS_MS = [20, 50, 100, 200]

/** Creates an inbox writer over the writer's connection. */
export function createInboxWriter(
  connection: Connection,
  options: Partial<InboxWriterOptions> = {},
): InboxWriter {
  const { maxPendingBytes, timeoutMs, ...limits } = { ...DEFAULTS, ...options }
  const pending = createPendingWrites()
  let lastError: unknown
  const enqueue = createInsertScheduler<PendingWrite>(
    (group) => insertUntilSettled(connection, group, (error) => (lastError = error)),
    limits,
  )

  async function write(lines: NewLines): Promise<void> {
    const rows = formatRows(lines)
    const bytes = Buffer.byteLength(rows)
    if (pending.countBytes() + bytes > maxPendingBytes) throw createUnavailableError(lastError)
    const one = pending.add(rows, bytes)
    const timeout = setTimeout(() => one.settle(createUnavailableError(lastError)), timeoutMs)
    enqueue(one)
    await one.done.finally(() => clearTimeout(timeout))
  }

  return { write, rejectPending: pending.rejectAll }
}

/**
 * Inserts the rows of a group and settles its writes. Temporary failures are retried while a write of the
 * group is pending.
 *
 * @param onFailure is called with the cause of each failed attempt
 */
async function insertUntilSettled(
  connection: Connection,
  group: readonly PendingWrite[],
  onFailure: (cause: unknown) => void,
): Promise<void> {
  const rows = Buffer.from(group.map((write) => write.rows).join(''))
  const settleAll = (error?: ApiError): void => group.forEach((write) => write.settle(error))
  for (let attempt = 0; group.some((write) => !write.isSettled()); attempt++) {
    try {
      await insertRows(connection, rows)
      settleAll()
    } catch (error) {
      onFailure((error as ApiError).cause)
      if ((error as ApiError).code !== 'SERVICE_UNAVAILABLE') settleAll(error as ApiError)
      else await sleep(RETRY_DELAYS_MS[Math.min(attempt, RETRY_DELAYS_MS.length - 1)])
    }
  }
}
