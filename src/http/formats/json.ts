/** Writes a table as one JSON object, for answers that have too many rows to be built in memory. */
import { createRowWriter } from './ndjson.js'
import type { Table } from '../../analytics/table.js'

/** Writes the members of `head`, of which there is at least one, and then the rows as the member `data`. */
export async function* writeJson(
  head: object,
  { columns, batches }: Table,
): AsyncGenerator<Uint8Array> {
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
