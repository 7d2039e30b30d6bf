/** Writes CSV, as RFC 4180: a header, CRLF, UTF-8, quotes where they are needed. */
import type { Cell, Table, TableRow } from '../../analytics/table.js'

/** A text that needs quotes. An empty one has them, too: without quotes it means null. */
const QUOTED = /^$|[",\r\n]/

function writeCell(cell: Cell): string {
  if (cell === null) return ''
  const text = String(cell)
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Writes a row without the end of its line. A null is an empty field. */
export const writeCsvRow = (row: TableRow): string => row.map(writeCell).join(',')

const writeLine = (row: TableRow): string => `${writeCsvRow(row)}\r\n`

/** Writes a table as CSV. */
export async function* writeCsv({ columns, batches }: Table): AsyncGenerator<Uint8Array> {
  yield Buffer.from(writeLine(columns.map(({ name }) => name)))
  for await (const rows of batches) yield Buffer.from(rows.map(writeLine).join(''))
}
