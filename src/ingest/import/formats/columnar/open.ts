/** Opens Parquet and Arrow, which ClickHouse reads. */
import type { Connection } from '../../../../clickhouse/connection.js'
import { getClickHouseReason } from '../../../../clickhouse/errors.js'
import type { Peeked } from '../byte-stream.js'
import { SourceError } from '../format.js'
import { bindColumns, type Mapping } from '../mapping.js'
import { describeArrow } from './arrow.js'
import { listColumns, type ColumnarFormat, type FileDescription } from './columns.js'
import { describeParquet } from './parquet.js'
import { readStagedRows } from './staging.js'

interface Options {
  readonly writer: Connection
  readonly mapping: Mapping
  /** Called with the number of rows, before the first of them is read. */
  readonly onTotal: (rows: number) => void
}

const DESCRIBERS: Readonly<Record<ColumnarFormat, (peeked: Peeked) => Promise<FileDescription>>> = {
  parquet: describeParquet,
  arrow: describeArrow,
}

/**
 * Creates the reader of a format. It checks the columns when it is called; ClickHouse reads the file when the first row
 * is requested.
 *
 * @throws SourceError if the file is not of the format, or its columns cannot be bound to fields
 */
export const openColumnar =
  (format: ColumnarFormat) =>
  async (peeked: Peeked, { writer, mapping, onTotal }: Options): Promise<AsyncIterable<Buffer>> => {
    const description = await DESCRIBERS[format](peeked)
    try {
      const columns = await listColumns(writer, format, description.bytes).catch(
        rethrowAsSourceError(format),
      )
      const bindings = bindColumns(
        columns.map(({ name }) => name),
        mapping,
      )
      const staging = { ...description, columns, bindings, hasForeignNames: mapping.size > 0 }
      return readStagedRows(writer, staging, { onTotal, onError: rethrowAsSourceError(format) })
    } catch (error) {
      await description.close()
      throw error
    }
  }

/** Rethrows an error: one that ClickHouse reports becomes a SourceError, because it was reading the source. */
const rethrowAsSourceError =
  (format: ColumnarFormat) =>
  (error: unknown): never => {
    const reason = getClickHouseReason(error)
    if (reason === undefined) throw error
    throw new SourceError(`cannot be read as ${format}: ${reason}`)
  }
