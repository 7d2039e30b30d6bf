/** Sends tables. */
import type { Response } from 'express'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type { Facts, Table } from '../../analytics/table.js'
import { MEDIA_TYPES, type TableFormat } from '../../contract/response-formats.js'
import { continueWith } from '../../lib/generators.js'
import { writeArrow } from './arrow.js'
import { writeCsv } from './csv.js'
import { createRowWriter, writeNdjson } from './ndjson.js'
import { writeParquet } from './parquet.js'
import type { ReaderPace } from './reader-pace.js'
import type { TableWriter } from './table.js'

/** The Content-Type of each format. */
const CONTENT_TYPES: Readonly<Record<TableFormat, string>> = {
  ...MEDIA_TYPES,
  csv: `${MEDIA_TYPES.csv}; charset=utf-8; header=present`,
}

/** Sends a table whose rows are at hand, with its length. */
export async function sendTable(
  response: Response,
  format: TableFormat,
  table: Table,
): Promise<void> {
  const bytes = await buffer(WRITERS[format](table))
  setTableHeaders(response, format, table.facts)
  response.setHeader('Content-Length', bytes.length)
  response.end(bytes)
}

/**
 * Sends a table while its rows arrive. The next ones are read when the client has taken the last. If they break off after the first
 * byte, so does the connection: the response has no end that a client could take for that of the table.
 *
 * @param pace measures the client, and may end the response
 * @throws ApiError SERVICE_UNAVAILABLE if it does
 */
export async function streamTable(
  response: Response,
  format: TableFormat,
  table: Table,
  pace: ReaderPace,
): Promise<void> {
  await streamChunks(response, WRITERS[format](table), pace, () =>
    setTableHeaders(response, format, table.facts),
  )
}

/** Sends a response in JSON while its rows arrive, in the same way. @param head the members before `data` */
export async function streamJson(
  response: Response,
  head: object,
  table: Table,
  pace: ReaderPace,
): Promise<void> {
  await streamChunks(response, writeJson(head, table), pace, () =>
    response.setHeader('Content-Type', 'application/json; charset=utf-8'),
  )
}

async function streamChunks(
  response: Response,
  chunks: AsyncGenerator<Uint8Array>,
  pace: ReaderPace,
  setHeaders: () => void,
): Promise<void> {
  // Nothing is sent before there is something to send: until then a failure is an error response.
  const first = await chunks.next()
  setHeaders()
  try {
    await pipeline(pace.measure(continueWith(first, chunks)), response, { signal: pace.signal })
  } catch (error) {
    throw pace.signal.aborted ? pace.signal.reason : error
  }
}

/** Sets the headers that describe a table: `Tally-Period`, `Tally-Total` and those of its other facts. */
function setTableHeaders(response: Response, format: TableFormat, facts: Facts): void {
  response.setHeader('Content-Type', CONTENT_TYPES[format])
  for (const [name, value] of Object.entries(facts)) {
    response.setHeader(`Tally-${name.charAt(0).toUpperCase()}${name.slice(1)}`, value)
  }
}

/** Writes the members of `head`, at least one, and then the rows as the member `data`. */
async function* writeJson(head: object, { columns, batches }: Table): AsyncGenerator<Uint8Array> {
  const writeRow = createRowWriter(columns)
  let text = `${JSON.stringify(head).slice(0, -1)},"data":[`
  let separator = ''
  for await (const rows of batches) {
    yield Buffer.from(`${text}${separator}${rows.map(writeRow).join(',')}`)
    text = ''
    separator = ','
  }
  yield Buffer.from(`${text}]}`)
}

export const WRITERS: Readonly<Record<TableFormat, TableWriter>> = {
  csv: writeCsv,
  ndjson: writeNdjson,
  arrow: writeArrow,
  parquet: writeParquet,
}
