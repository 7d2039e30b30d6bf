/** Opens Parquet and Arrow, which ClickHouse reads. */
import type { Connection } from '../../../../clickhouse/connection.js'
import { isUtc, UTC } from '../../../../lib/time-zone.js'
import { getClickHouseReason } from '../../../../clickhouse/errors.js'
import type { Peeked } from '../byte-stream.js'
import { SourceError } from '../format.js'
import { bindColumns, type ColumnBinding, type Mapping } from '../mapping.js'
import { describeArrow } from './arrow.js'
import { listColumns, type Column, type ColumnarFormat, type FileDescription } from './columns.js'
import { describeParquet } from './parquet.js'
import { readStagedRows } from './staging.js'
import { isZoneless } from './value.js'

interface Options {
  readonly writer: Connection
  readonly mapping: Mapping
  /** The zone of timestamps whose type has none, if the import names one. */
  readonly zone?: string | undefined
  /** Called if the timestamps have no zone and are read in UTC. */
  readonly onZoneless?: (() => void) | undefined
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
  async (peeked: Peeked, options: Options): Promise<AsyncIterable<Buffer>> => {
    const { writer, mapping, onTotal } = options
    const description = await DESCRIBERS[format](peeked)
    try {
      const columns = await listColumns(writer, format, description.bytes).catch(
        rethrowAsSourceError(format),
      )
      const bindings = bindColumns(
        columns.map(({ name }) => name),
        mapping,
      )
      const reading = {
        hasForeignNames: mapping.size > 0,
        keepsZoneless: !isReadInUtc(options),
      }
      if (isReadInUtc(options) && bindsZoneless(columns, bindings)) options.onZoneless?.()
      const staging = { ...description, columns, bindings, reading }
      return readStagedRows(writer, staging, { onTotal, onError: rethrowAsSourceError(format) })
    } catch (error) {
      await description.close()
      throw error
    }
  }

const isReadInUtc = ({ zone = UTC }: Options): boolean => isUtc(zone)

/** Whether the timestamp is bound to a column whose type has no zone. */
const bindsZoneless = (columns: readonly Column[], bindings: readonly ColumnBinding[]): boolean =>
  bindings.some(
    ({ index, target }) =>
      target.kind === 'field' &&
      target.name === 'timestamp' &&
      isZoneless(columns[index]?.type ?? ''),
  )

/** Rethrows an error: one that ClickHouse reports becomes a SourceError, because it was reading the source. */
const rethrowAsSourceError =
  (format: ColumnarFormat) =>
  (error: unknown): never => {
    const reason = getClickHouseReason(error)
    if (reason === undefined) throw error
    throw new SourceError(`cannot be read as ${format}: ${reason}`)
  }
