/** Inserts the lines of collected events into the inbox, as rows of one block. */
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, Settings } from '../../clickhouse/connection.js'
import { toStoreError } from '../../clickhouse/errors.js'
import { formatTime, sql, statement } from '../../clickhouse/sql.js'
import { ApiError } from '../../contract/errors.js'
import { SECOND_MS } from '../../lib/time.js'
import { ONE_BLOCK } from './one-block.js'

/** The events of one request. */
export interface NewLines {
  readonly projectId: string
  /** One JSON object per event, on one line, with an event id. */
  readonly lines: readonly string[]
  readonly receivedAt: Date
}

const INSERT = statement(
  sql`INSERT INTO inbox (project, line, received_at, age_checked) FORMAT JSONCompactEachRow`,
)

const INSERT_SETTINGS: Settings = {
  ...ONE_BLOCK,
  async_insert: 0,
  input_format_parallel_parsing: 0,
}

/** Formats lines as the text that `insertRows` uploads. */
export function formatRows({ projectId, lines, receivedAt }: NewLines): string {
  const start = `[${JSON.stringify(projectId)},`
  const end = `,"${formatTime(receivedAt)}",true]\n`
  return lines.map((line) => start + JSON.stringify(line) + end).join('')
}

/**
 * Inserts all rows or none. When the response is lost, the rows may have been stored; repeating the insert then
 * stores them twice, and they count once by their event ids.
 *
 * @param signal ends the insert and destroys its connection
 * @throws ApiError SERVICE_UNAVAILABLE when the insert may succeed later or was aborted, INTERNAL_ERROR when it never will.
 */
export async function insertRows(
  writer: Connection,
  rows: Buffer,
  signal: AbortSignal,
): Promise<void> {
  try {
    await writer.upload(INSERT, Readable.from([rows]), INSERT_SETTINGS, signal)
  } catch (cause) {
    if (signal.aborted) throw createUnavailableError(signal.reason)
    const error = toStoreError(cause)
    throw error.code === 'INTERNAL_ERROR' ? error : createUnavailableError(cause)
  }
}

/** A replica that has not confirmed an insert after this long is not waited for alone. */
const SILENCE_MS = SECOND_MS

/**
 * Inserts the same rows over the first connection that takes them. The next one is tried after an error, or after a second of silence:
 * rows that both store count once.
 *
 * @throws as `insertRows`, what the last one rejects with
 */
export async function insertIntoAny(
  [writer, ...others]: readonly Connection[],
  rows: Buffer,
  signal: AbortSignal,
): Promise<void> {
  if (writer === undefined) throw new TypeError('there is no connection to insert over')
  const inserted = insertRows(writer, rows, signal)
  if (others.length === 0) return inserted
  const ended = new AbortController()
  const next = async (): Promise<void> => {
    const pause = sleep(SILENCE_MS, undefined, { signal: ended.signal }).catch(() => undefined)
    await Promise.race([inserted.catch(() => undefined), pause])
    if (!ended.signal.aborted) await insertIntoAny(others, rows, signal)
    else await inserted
  }
  const first = inserted.then(() => ended.abort(INSERTED))
  await Promise.any([first, next()]).catch((error: unknown) => {
    throw error instanceof AggregateError ? error.errors.at(-1) : error
  })
}

/** Without a reason, each `abort` would create an error with a stack. */
const INSERTED = new Error('the rows are inserted')

/** The error for events that cannot be stored now. */
export const createUnavailableError = (cause: unknown): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', 'Events cannot be stored right now. Try again in a moment.', {
    cause,
  })
