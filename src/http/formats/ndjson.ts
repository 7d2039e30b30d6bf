/** Writes NDJSON: one JSON object per row, with the columns as its members. */
import type { Cell, Column, Table, TableRow } from '../../analytics/table.js'

const writeCell = ({ type }: Column, cell: Cell): string =>
  type === 'json' && typeof cell === 'string' ? cell : JSON.stringify(cell)

/** Creates the function that writes a row as a JSON object. */
export function createRowWriter(columns: readonly Column[]): (row: TableRow) => string {
  const members = columns.map((column, index) => ({
    column,
    index,
    prefix: `${index === 0 ? '{' : ','}${JSON.stringify(column.name)}:`,
  }))
  return (row) => {
    const cells = members.map(
      ({ column, index, prefix }) => prefix + writeCell(column, row[index] ?? null),
    )
    return `${cells.join('')}}`
  }
}

/** Writes a table as NDJSON, in UTF-8. Every line ends with LF. */
export async function* writeNdjson({ columns, batches }: Table): AsyncGenerator<Uint8Array> {
  const writeRow = createRowWriter(columns)
  for await (const rows of batches) {
    yield Buffer.from(rows.map((row) => `${writeRow(row)}\n`).join(''))
  }
}
