/** Picks the writer of a format. */
import type { TableFormat } from '../../contract/answer-formats.js'
import { writeArrow } from './arrow.js'
import { writeCsv } from './csv.js'
import { writeNdjson } from './ndjson.js'
import { writeParquet } from './parquet.js'
import type { TableWriter } from './table.js'

export const WRITERS: Readonly<Record<TableFormat, TableWriter>> = {
  csv: writeCsv,
  ndjson: writeNdjson,
  arrow: writeArrow,
  parquet: writeParquet,
}
