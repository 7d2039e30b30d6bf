/** Writes Apache Parquet. */
import type { SchemaElement } from 'hyparquet'
import type { Cell, Column, ColumnType, Table } from '../../analytics/table.js'
import { nameFacts, readColumn, regroup } from './table.js'

/** The type of Parquet for each type of column, and how its values are passed to the library. */
interface ParquetType {
  readonly element: Omit<SchemaElement, 'name'>
  readonly convert: (cell: Exclude<Cell, null>) => unknown
}

const TEXT: ParquetType = {
  element: {
    type: 'BYTE_ARRAY',
    converted_type: 'UTF8',
    logical_type: { type: 'STRING' },
    repetition_type: 'OPTIONAL',
  },
  convert: String,
}
const TYPES: Readonly<Record<ColumnType, ParquetType>> = {
  text: TEXT,
  json: TEXT,
  integer: { element: { type: 'INT64', repetition_type: 'OPTIONAL' }, convert: BigInt },
  number: { element: { type: 'DOUBLE', repetition_type: 'OPTIONAL' }, convert: Number },
  boolean: { element: { type: 'BOOLEAN', repetition_type: 'OPTIONAL' }, convert: Boolean },
  moment: {
    element: {
      type: 'INT64',
      converted_type: 'TIMESTAMP_MILLIS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
      repetition_type: 'OPTIONAL',
    },
    convert: (cell) => new Date(String(cell)),
  },
}

/** Writes a table as a file of Parquet, with the facts as its metadata. Columns are compressed with Snappy. */
export async function* writeParquet({
  columns,
  facts,
  batches,
}: Table): AsyncGenerator<Uint8Array> {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer')
  const bytes = new ByteWriter()
  const take = (): Uint8Array => {
    const taken = Buffer.from(bytes.getBuffer())
    // `offset` stays: it is the place in the file.
    bytes.index = 0
    return taken
  }
  const file = new ParquetWriter({
    writer: bytes,
    schema: buildSchema(columns),
    kvMetadata: [...nameFacts(facts)].map(([key, value]) => ({ key, value })),
    createdBy: 'tallyhouse',
  })
  for await (const rows of regroup(batches)) {
    const columnData = columns.map(({ name, type }, index) => ({
      name,
      data: readColumn(rows, index).map((cell) =>
        cell === null ? null : TYPES[type].convert(cell),
      ),
    }))
    await file.write({ columnData, rowGroupSize: rows.length })
    yield take()
  }
  await file.finish()
  yield take()
}

const buildSchema = (columns: readonly Column[]): SchemaElement[] => [
  { name: 'schema', num_children: columns.length },
  ...columns.map(({ name, type }) => ({ name, ...TYPES[type].element })),
]
