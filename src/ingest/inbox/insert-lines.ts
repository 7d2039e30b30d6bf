/** Inserts lines into the inbox as the rows of one block. */
import { Readable } from 'node:stream'
import type { Connection } from '../../clickhouse/connection.js'
import { isClickHouseError, toStoreError } from '../../clickhouse/errors.js'
import { sql, statement } from '../../clickhouse/sql.js'
import { ApiError } from '../../contract/errors.js'
import { ONE_BLOCK } from './one-block.js'

/** What one request brings. */
export interface NewLines {
  readonly projectId: string
  /** Events, each a JSON object on one line, with an event id. */
  readonly lines: readonly string[]
  readonly receivedAt: Date
}

const INSERT = statement(
  sql`INSERT INTO inbox (project, line, received_at) FORMAT JSONCompactEachRow`,
)

/** Lines as the text that `insertRows` sends. */
export function formatRows({ projectId, lines, receivedAt }: NewLines): string {
  const start = `[${JSON.stringify(projectId)},`
  const end = `,"${receivedAt.toISOString().replace('T', ' ').slice(0, 23)}"]\n`
  return lines.map((line) => start + JSON.stringify(line) + end).join('')
}

/**
 * Inserts all rows or none. Where its answer is lost they are there nevertheless: done again they are there twice,
 * and count once by their event ids.
 *
 * @throws ApiError SERVICE_UNAVAILABLE when it may be tried again, INTERNAL_ERROR when that would not help.
 */
export async function insertRows(writer: Connection, rows: Buffer): Promise<void> {
  try {
    await writer.upload(INSERT, Readable.from([rows]), {
      ...ONE_BLOCK,
      async_insert: 0,
      input_format_parallel_parsing: 0,
    })
  } catch (cause) {
    const error = toStoreError(cause)
    const isForGood =
      error.code === 'INTERNAL_ERROR' && !PASSING.some((type) => isClickHouseError(cause, type))
    throw isForGood ? error : createUnavailableError(cause)
  }
}

/** What the store says when it has too much to do, or is full: of ClickHouse's error types. */
const PASSING = ['TOO_MANY_PARTS', 'NOT_ENOUGH_SPACE', 'CANNOT_ALLOCATE_MEMORY']

/** The error for events that the store does not take now. */
export const createUnavailableError = (cause: unknown): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', 'Events cannot be stored right now. Try again in a moment.', {
    cause,
    headers: { 'Retry-After': '1' },
  })
