/** Writes NDJSON: one JSON object per row, with the columns as its members. */
import type { Cell, Column, Table } from './table.js'

const writeCell = ({ type }: Column, cell: Cell): string =>
  type === 'json' && typeof cell === 'string' ? cell : JSON.stringify(cell)

/** Writes a table as NDJSON, in UTF-8. Every line ends with LF. */
export async function* writeNdjson({ columns, batches }: Table): AsyncGenerator<Uint8Array> {
  const members = columns.map((column, index) => ({
    column,
    index,
    prefix: `${index === 0 ? '{' : ','}${JSON.stringify(column.name)}:`,
  }))
  for await (const rows of batches) {
    const lines = rows.map((row) => {
      const cells = members.map(
        ({ column, index, prefix }) => prefix + writeCell(column, row[index] ?? null),
      )
      return `${cells.join('')}}\n`
    })
    yield Buffer.from(lines.join(''))
  }
}
