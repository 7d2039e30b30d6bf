/** Writes CSV, as RFC 4180: a header, CRLF, UTF-8, quotes where they are needed. */
import type { Cell, Table, TableRow } from './table.js'

/** A text that needs quotes. An empty one has them, too: without quotes it means null. */
const QUOTED = /^$|[",\r\n]/

function writeCell(cell: Cell): string {
  if (cell === null) return ''
  const text = String(cell)
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const writeRow = (row: TableRow): string => `${row.map(writeCell).join(',')}\r\n`

/** Writes a table as CSV. A null is an empty field. */
export async function* writeCsv({ columns, batches }: Table): AsyncGenerator<Uint8Array> {
  yield Buffer.from(writeRow(columns.map(({ name }) => name)))
  for await (const rows of batches) yield Buffer.from(rows.map(writeRow).join(''))
}
