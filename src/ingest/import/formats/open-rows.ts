/** Opens a source of any format as lines of NDJSON, one a row of the source. */
import type { Connection } from '../../../clickhouse/connection.js'
import { unpack } from './unpack.js'
import { openColumnar } from './columnar/open.js'
import { readCsv } from './csv.js'
import { detectFormat, ENOUGH } from './detect.js'
import { FORMATS, SourceError, type Format } from './format.js'
import { readLog } from './log.js'
import { readMapped } from './mapped.js'
import { OWN_NAMES, type Mapping } from './mapping.js'
import { peek, type Peeked } from './peek.js'

export interface OpenOptions {
  /** What the source is; where it is left out its first bytes tell. */
  readonly format?: Format | undefined
  readonly mapping?: Mapping | undefined
  /** The origin of all pages of an access log, e.g. `https://example.com`. */
  readonly origin?: string | undefined
  /** Reads Parquet and Arrow. */
  readonly writer: Connection
}

export interface OpenedRows {
  readonly format: Format
  /** Tells readings of the same bytes apart: their format, mapping and origin. */
  readonly identity: string
  /**
   * Bytes of NDJSON, to be read once: one line a row, in the order of the source. A row that is passed over
   * is a blank line, one that is unfit is `\x15<reason>\x1f<row>`.
   */
  readonly rows: AsyncIterable<Buffer>
  /** How many rows have been passed over so far; blank lines are no rows. */
  passedOver(): number
  /** How many rows there are, where that is known before they are read. */
  total(): number | undefined
}

interface Opening extends OpenOptions {
  readonly mapping: Mapping
  readonly onPassedOver: () => void
  readonly onTotal: (rows: number) => void
}

/**
 * Opens a source, plain or gzip'd. Nothing is loaded by it.
 *
 * @throws SourceError where the source cannot be read as events; its rows may throw it as well, before
 *   the first of them. Errors of reading and of unpacking are passed on.
 */
export async function openRows(
  source: AsyncIterable<Buffer>,
  options: OpenOptions,
): Promise<OpenedRows> {
  const { mapping = OWN_NAMES, origin } = options
  const peeked = await peek(unpack(source), ENOUGH)
  try {
    const format = options.format ?? formatOf(peeked, mapping)
    checkOptions(format, mapping, origin)
    let passedOver = 0
    let total: number | undefined
    const rows = await READERS[format](peeked, {
      ...options,
      mapping,
      onPassedOver: () => passedOver++,
      onTotal: (all) => (total = all),
    })
    return {
      format,
      identity: JSON.stringify([format, [...mapping].sort(), origin ?? '']),
      rows,
      passedOver: () => passedOver,
      total: () => total,
    }
  } catch (error) {
    await peeked.close()
    throw error
  }
}

const READERS: Readonly<
  Record<
    Format,
    (peeked: Peeked, opening: Opening) => AsyncIterable<Buffer> | Promise<AsyncIterable<Buffer>>
  >
> = {
  // As it is: the most events come this way.
  ndjson: ({ stream }, { mapping, onPassedOver }) =>
    mapping.size === 0 ? stream : readMapped(withoutMark(stream), mapping, onPassedOver),
  csv: ({ stream }, { mapping }) => readCsv(withoutMark(stream), mapping),
  log: ({ stream }, options) => readLog(withoutMark(stream), options),
  parquet: openColumnar('parquet'),
  arrow: openColumnar('arrow'),
}

function formatOf({ head, isWhole }: Peeked, mapping: Mapping): Format {
  if (isWhole && head.toString().trim() === '') throw new SourceError('is empty')
  const format = detectFormat(head, mapping)
  if (format !== undefined) return format
  throw new SourceError(
    `is not recognised as ${FORMATS.join(', ')}; say what it is with --format, ` +
      'or what its columns are with --map <field>=<column>',
  )
}

function checkOptions(format: Format, mapping: Mapping, origin: string | undefined): void {
  if (format === 'log' && mapping.size > 0) {
    throw new SourceError('is an access log, which has no columns to --map')
  }
  if (format !== 'log' && origin !== undefined) {
    throw new SourceError(`is ${format}; --origin is for access logs`)
  }
}

/** Text without the mark that some programs put ahead of it. */
async function* withoutMark(stream: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let isFirst = true
  for await (const chunk of stream) {
    const isMarked = isFirst && chunk.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf]))
    isFirst = false
    yield isMarked ? chunk.subarray(3) : chunk
  }
}
