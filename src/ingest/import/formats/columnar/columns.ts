/** Lists the columns of a Parquet or Arrow file, as ClickHouse reads them. */
import type { Connection, Settings } from '../../../../clickhouse/connection.js'
import { join, sql, statement, string, type Sql } from '../../../../clickhouse/sql.js'

export type ColumnarFormat = 'parquet' | 'arrow'

/** The schema of a file, and the file itself. */
export interface FileDescription {
  /** A file with the same columns and no rows; for Arrow, a stream. */
  readonly bytes: Buffer
  /** The ClickHouse input format of the whole file. */
  readonly format: Sql
  /** The whole file, to be read once. */
  readonly stream: AsyncIterable<Buffer>
  /** Closes the stream; for one that is never read. */
  readonly close: () => Promise<void>
}

export interface Column {
  readonly name: string
  /** A ClickHouse type, e.g. `Nullable(String)`. */
  readonly type: string
}

const SCHEMA_FORMATS: Readonly<Record<ColumnarFormat, Sql>> = {
  parquet: sql`Parquet`,
  arrow: sql`ArrowStream`,
}

/** Times that a Parquet file does not adjust to UTC get a type without a zone, as those of Arrow have. */
const DESCRIBING: Settings = {
  print_pretty_type_names: 0,
  input_format_parquet_local_time_as_utc: 0,
}

/** ClickHouse refuses longer query parameters, so the bytes are sent in parts. */
const MAX_PARAMETER_LENGTH = 100_000

/** Lists the columns of a file without rows, in the order of the file. */
export async function listColumns(
  writer: Connection,
  format: ColumnarFormat,
  bytes: Buffer,
): Promise<readonly Column[]> {
  const text = bytes.toString('base64')
  const parts = Array.from({ length: Math.ceil(text.length / MAX_PARAMETER_LENGTH) }, (_, i) =>
    string(text.slice(i * MAX_PARAMETER_LENGTH, (i + 1) * MAX_PARAMETER_LENGTH)),
  )
  const { rows } = await writer.query<Column>(
    statement(
      sql`DESCRIBE format(${SCHEMA_FORMATS[format]}, base64Decode(arrayStringConcat([${join(parts)}])))`,
    ),
    { settings: DESCRIBING },
  )
  return rows.map(({ name, type }) => ({ name, type }))
}
