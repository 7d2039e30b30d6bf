/** Writes the stream format of Apache Arrow. */
import type * as Arrow from 'apache-arrow'
import type { Cell, ColumnType, Table, TableRow } from '../../analytics/table.js'
import { nameFacts, readColumn, regroup } from './table.js'

type Library = typeof Arrow

/** The type of Arrow for each type of column, and how its values are passed to the library. */
interface ArrowType {
  readonly create: (library: Library) => Arrow.DataType
  readonly convert: (cell: Exclude<Cell, null>) => unknown
}

const TEXT: ArrowType = { create: ({ Utf8 }) => new Utf8(), convert: String }
const TYPES: Readonly<Record<ColumnType, ArrowType>> = {
  text: TEXT,
  json: TEXT,
  integer: { create: ({ Int64 }) => new Int64(), convert: BigInt },
  number: { create: ({ Float64 }) => new Float64(), convert: Number },
  boolean: { create: ({ Bool }) => new Bool(), convert: Boolean },
  moment: {
    create: ({ TimestampMillisecond }) => new TimestampMillisecond('UTC'),
    convert: (cell) => Date.parse(String(cell)),
  },
}

/** Writes a table as a stream of Arrow: the schema with the facts as its metadata, and record batches. */
export async function* writeArrow({ columns, facts, batches }: Table): AsyncGenerator<Uint8Array> {
  const library = await import('apache-arrow')
  const fields = columns.map(
    ({ name, type }) => new library.Field(name, TYPES[type].create(library), true),
  )
  const schema = new library.Schema(fields, nameFacts(facts))
  const { writer, take } = createWriter(library, schema)
  for await (const rows of regroup(batches)) {
    writer.write(buildBatch(library, schema, columns, rows))
    yield take()
  }
  writer.finish()
  yield take()
}

function buildBatch(
  library: Library,
  schema: Arrow.Schema,
  columns: Table['columns'],
  rows: readonly TableRow[],
): Arrow.RecordBatch {
  const children = schema.fields.map(({ type }, index) => {
    const convert = TYPES[columns[index]?.type ?? 'text'].convert
    const values = readColumn(rows, index).map((cell) => (cell === null ? null : convert(cell)))
    return toData(library.vectorFromArray(values, type))
  })
  const data = library.makeData({
    type: new library.Struct(schema.fields),
    length: rows.length,
    children,
  })
  return new library.RecordBatch(schema, data)
}

/** A new vector has one chunk. The types of the library do not know of what. */
const toData = ({ data }: { readonly data: readonly unknown[] }): Arrow.Data =>
  data[0] as Arrow.Data

/** Creates a writer that keeps its bytes until they are taken: the library's own queue has no bound. */
function createWriter(
  { AsyncByteQueue, RecordBatchStreamWriter }: Library,
  schema: Arrow.Schema,
): { readonly writer: Arrow.RecordBatchStreamWriter; readonly take: () => Uint8Array } {
  const chunks: Uint8Array[] = []
  const sink = Object.assign(new AsyncByteQueue(), {
    write: ({ buffer, byteOffset, byteLength }: Uint8Array) =>
      void chunks.push(new Uint8Array(buffer, byteOffset, byteLength)),
  })
  const writer = new RecordBatchStreamWriter({ autoDestroy: false }).reset(sink, schema)
  return { writer, take: () => Buffer.concat(chunks.splice(0)) }
}
