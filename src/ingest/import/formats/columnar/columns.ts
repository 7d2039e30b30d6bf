/** Has ClickHouse tell the columns of a Parquet or Arrow file. */
import type { Connection } from '../../../../clickhouse/connection.js'
import { join, sql, statement, string, type Sql } from '../../../../clickhouse/sql.js'

export type ColumnarFormat = 'parquet' | 'arrow'

/** What a file says of its columns. */
export interface Description {
  /** A file of the same columns without any row; of Arrow, a stream. */
  readonly bytes: Buffer
  /** The input format of the whole. */
  readonly format: Sql
  /** The whole, to be read once. */
  readonly stream: AsyncIterable<Buffer>
  /** Ends the stream; for one that is not read at all. */
  readonly close: () => Promise<void>
}

export interface Column {
  readonly name: string
  /** A type of ClickHouse, e.g. `Nullable(String)`. */
  readonly type: string
}

const DESCRIBED_AS: Readonly<Record<ColumnarFormat, Sql>> = {
  parquet: sql`Parquet`,
  arrow: sql`ArrowStream`,
}

/** A longer parameter is refused. */
const LONGEST_PARAMETER = 100_000

/** The columns in their order, from a file without rows. */
export async function describeColumns(
  writer: Connection,
  format: ColumnarFormat,
  bytes: Buffer,
): Promise<readonly Column[]> {
  const text = bytes.toString('base64')
  const parts = Array.from({ length: Math.ceil(text.length / LONGEST_PARAMETER) }, (_, i) =>
    string(text.slice(i * LONGEST_PARAMETER, (i + 1) * LONGEST_PARAMETER)),
  )
  const { rows } = await writer.query<Column>(
    statement(
      sql`DESCRIBE format(${DESCRIBED_AS[format]}, base64Decode(arrayStringConcat([${join(parts)}])))`,
    ),
    { settings: { print_pretty_type_names: 0 } },
  )
  return rows.map(({ name, type }) => ({ name, type }))
}
