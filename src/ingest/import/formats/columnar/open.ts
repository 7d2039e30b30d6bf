/** Opens Parquet and Arrow: ClickHouse reads them. */
import type { Connection } from '../../../../clickhouse/connection.js'
import { getClickHouseReason } from '../../../../clickhouse/errors.js'
import { SourceError } from '../format.js'
import { takeColumns, type Mapping } from '../mapping.js'
import type { Peeked } from '../peek.js'
import { describeArrow } from './arrow.js'
import { describeColumns, type ColumnarFormat, type Description } from './columns.js'
import { describeParquet } from './parquet.js'
import { stagedRows } from './staging.js'

interface Options {
  readonly writer: Connection
  readonly mapping: Mapping
  /** Is told how many rows there are, before the first of them. */
  readonly onTotal: (rows: number) => void
}

const DESCRIBE: Readonly<Record<ColumnarFormat, (peeked: Peeked) => Promise<Description>>> = {
  parquet: describeParquet,
  arrow: describeArrow,
}

/** Its columns are looked at when it is opened, all else when the first row is asked for. */
export const openColumnar =
  (format: ColumnarFormat) =>
  async (peeked: Peeked, { writer, mapping, onTotal }: Options): Promise<AsyncIterable<Buffer>> => {
    const description = await DESCRIBE[format](peeked)
    try {
      const columns = await describeColumns(writer, format, description.bytes).catch(blame(format))
      const taken = takeColumns(
        columns.map(({ name }) => name),
        mapping,
      )
      const staging = { ...description, columns, taken, isForeign: mapping.size > 0 }
      return stagedRows(writer, staging, { onTotal, onFault: blame(format) })
    } catch (error) {
      await description.close()
      throw error
    }
  }

/** What ClickHouse cannot read is the source's fault. */
const blame =
  (format: ColumnarFormat) =>
  (error: unknown): never => {
    const reason = getClickHouseReason(error)
    if (reason === undefined) throw error
    throw new SourceError(`cannot be read as ${format}: ${reason}`)
  }
