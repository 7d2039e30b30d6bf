/** Inserts the lines of collected events into the inbox, as rows of one block. */
import { Readable } from 'node:stream'
import type { Connection, Settings } from '../../clickhouse/connection.js'
import { toStoreError } from '../../clickhouse/errors.js'
import { formatTime, sql, statement } from '../../clickhouse/sql.js'
import { ApiError } from '../../contract/errors.js'
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

/** The error for events that cannot be stored now. */
export const createUnavailableError = (cause: unknown): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', 'Events cannot be stored right now. Try again in a moment.', {
    cause,
  })
