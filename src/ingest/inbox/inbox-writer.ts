/** Writes the lines of many requests into the inbox together. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../../clickhouse/connection.js'
import type { ApiError } from '../../contract/errors.js'
import { insertRows, formatRows, createUnavailableError, type NewLines } from './insert-lines.js'

export interface InboxWriter {
  /**
   * Resolves once the lines are in the inbox, all of them.
   *
   * @throws ApiError SERVICE_UNAVAILABLE when the store does not take them in time, or too many wait for it;
   *   in the first case it is not known whether they come to be there.
   */
  readonly write: (lines: NewLines) => Promise<void>
  /** Lets nobody wait any more: whoever waits gets this error. */
  readonly rejectPending: (error: ApiError) => void
}

/** How much is kept and written at once, and how long is waited. */
export interface InboxWriterOptions {
  /** Bytes that may wait; what would come above is refused at once. */
  readonly maxPendingBytes: number
  /** Bytes of one insert; a request that has more is an insert of its own. */
  readonly maxInsertBytes: number
  /** Inserts at one time. */
  readonly maxInserts: number
  /** Milliseconds from the start of an insert to that of the next: each costs the store the same, however small. */
  readonly intervalMs: number
  /** Milliseconds that a request waits at most. */
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
/** Milliseconds between the attempts of an insert, the last again and again. */
const PAUSES = [20, 50, 100, 200]

/** The rows of one request, for which somebody waits until `end` is called. */
interface Waiting {
  readonly rows: string
  readonly bytes: number
  isOver: boolean
  end(error?: ApiError): void
}

/** A writer over the writer's connection. What comes while it writes, it writes next, as one insert. */
export function createInboxWriter(
  connection: Connection,
  options: Partial<InboxWriterOptions> = {},
): InboxWriter {
  const { maxPendingBytes, maxInsertBytes, maxInserts, intervalMs, timeoutMs } = {
    ...DEFAULTS,
    ...options,
  }
  const waiting = new Set<Waiting>()
  let waitingBytes = 0
  let queue: Waiting[] = []
  let queuedBytes = 0
  let running = 0
  let lastStart = -Infinity
  let timer: NodeJS.Timeout | undefined
  let trouble: unknown

  async function write(lines: NewLines): Promise<void> {
    const rows = formatRows(lines)
    const bytes = Buffer.byteLength(rows)
    if (waitingBytes + bytes > maxPendingBytes) throw createUnavailableError(trouble)
    await new Promise<void>((resolve, reject) => {
      const overdue = setTimeout(() => one.end(createUnavailableError(trouble)), timeoutMs)
      const one: Waiting = {
        rows,
        bytes,
        isOver: false,
        end(error) {
          if (one.isOver) return
          one.isOver = true
          waitingBytes -= bytes
          waiting.delete(one)
          clearTimeout(overdue)
          if (error === undefined) resolve()
          else reject(error)
        },
      }
      waiting.add(one)
      waitingBytes += bytes
      queue.push(one)
      queuedBytes += bytes
      startInserts()
    })
  }

  function startInserts(): void {
    while (queue.length > 0 && running < maxInserts && timer === undefined) {
      const early = queuedBytes < maxInsertBytes ? lastStart + intervalMs - performance.now() : 0
      if (early > 0) timer = setTimeout(startLater, early)
      else void insert(takeGroup())
    }
  }

  function startLater(): void {
    timer = undefined
    startInserts()
  }

  /** Those who wait longest, as many as one insert may have; at least one. */
  function takeGroup(): readonly Waiting[] {
    let bytes = 0
    let end = 0
    for (const one of queue) {
      if (end > 0 && bytes + one.bytes > maxInsertBytes) break
      bytes += one.bytes
      end += 1
    }
    const group = queue.slice(0, end)
    queue = queue.slice(end)
    queuedBytes -= bytes
    return group.filter(({ isOver }) => !isOver)
  }

  async function insert(group: readonly Waiting[]): Promise<void> {
    if (group.length === 0) return
    lastStart = performance.now()
    running += 1
    await insertUntilDone(group)
    running -= 1
    startInserts()
  }

  /** Tries as long as anybody waits. */
  async function insertUntilDone(group: readonly Waiting[]): Promise<void> {
    const rows = Buffer.from(group.map((one) => one.rows).join(''))
    const endAll = (error?: ApiError): void => group.forEach((one) => one.end(error))
    for (let attempt = 0; group.some(({ isOver }) => !isOver); attempt++) {
      try {
        await insertRows(connection, rows)
        endAll()
      } catch (error) {
        trouble = (error as ApiError).cause
        if ((error as ApiError).code !== 'SERVICE_UNAVAILABLE') endAll(error as ApiError)
        else await sleep(PAUSES[Math.min(attempt, PAUSES.length - 1)])
      }
    }
  }

  return { write, rejectPending: (error) => waiting.forEach((one) => one.end(error)) }
}
