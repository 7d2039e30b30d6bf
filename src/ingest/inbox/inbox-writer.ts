/** Writes the lines of many requests into the inbox together, in a few inserts. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../../clickhouse/connection.js'
import type { ApiError } from '../../contract/errors.js'
import { SECOND_MS } from '../../lib/time.js'
import { createUnavailableError, formatRows, insertIntoAny, type NewLines } from './insert-lines.js'
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

interface InboxWriterOptions extends InsertLimits {
  /** The most bytes that may be queued or being inserted; a write that would exceed this limit is rejected at once. */
  readonly maxPendingBytes: number
  /** The longest that a write is pending, in milliseconds. */
  readonly timeoutMs: number
  /** Lists the connections that can insert, in the order in which they are tried; the given one alone by default. */
  readonly listWriters?: () => readonly Connection[]
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

/** An insert ends this long after the last of its writes timed out, so a store that hangs keeps no slot. */
const ABORT_DELAY_MS = SECOND_MS
const PING_TIMEOUT_MS = SECOND_MS

/** Creates an inbox writer over the writer's connection. */
export function createInboxWriter(
  connection: Connection,
  options: Partial<InboxWriterOptions> = {},
): InboxWriter {
  const { maxPendingBytes, timeoutMs, listWriters, ...limits } = {
    ...DEFAULTS,
    listWriters: () => [connection],
    ...options,
  }
  const pending = createPendingWrites()
  let lastError: unknown
  const insert = createInsert(
    listWriters,
    timeoutMs + ABORT_DELAY_MS,
    (error) => (lastError = error),
  )
  const scheduler = createInsertScheduler<PendingWrite>(insert, limits)

  async function write(lines: NewLines): Promise<void> {
    const rows = formatRows(lines)
    const bytes = Buffer.byteLength(rows)
    if (scheduler.countBytes() + bytes > maxPendingBytes) throw createUnavailableError(lastError)
    const one = pending.add(rows, bytes)
    const timeout = setTimeout(() => one.settle(createUnavailableError(lastError)), timeoutMs)
    scheduler.enqueue(one)
    await one.done.finally(() => {
      clearTimeout(timeout)
      scheduler.remove(one)
    })
  }

  return { write, rejectPending: pending.rejectAll }
}

/**
 * Creates the function that inserts the rows of a group and settles its writes. Temporary failures are retried while a
 * write of the group is pending. After an insert that was aborted, the next ones wait until the store answers a ping,
 * so that they do not hang as long on a store that still hangs.
 *
 * @param maxMs how long the attempts of a group may take together
 * @param onFailure is called with the cause of each failed attempt
 */
function createInsert(
  listWriters: () => readonly Connection[],
  maxMs: number,
  onFailure: (cause: unknown) => void,
): (group: readonly PendingWrite[]) => Promise<void> {
  let isHanging = false

  async function attempt(rows: Buffer, signal: AbortSignal): Promise<void> {
    const writers = listWriters()
    if (isHanging && !(await isAnyAwake(writers))) {
      throw createUnavailableError(new Error('the store does not answer'))
    }
    try {
      await insertIntoAny(writers, rows, signal)
      isHanging = false
    } catch (error) {
      isHanging = signal.aborted
      throw error
    }
  }

  return async (group) => {
    const rows = Buffer.from(group.map((write) => write.rows).join(''))
    const settleAll = (error?: ApiError): void => group.forEach((write) => write.settle(error))
    const signal = AbortSignal.timeout(maxMs)
    for (let failures = 0; group.some((write) => !write.isSettled()); failures++) {
      try {
        await attempt(rows, signal)
        settleAll()
      } catch (error) {
        onFailure((error as ApiError).cause)
        if ((error as ApiError).code !== 'SERVICE_UNAVAILABLE') settleAll(error as ApiError)
        else await sleep(RETRY_DELAYS_MS[Math.min(failures, RETRY_DELAYS_MS.length - 1)])
      }
    }
  }
}

async function isAnyAwake(writers: readonly Connection[]): Promise<boolean> {
  const answers = await Promise.all(writers.map((writer) => writer.ping(PING_TIMEOUT_MS)))
  return answers.includes(true)
}
