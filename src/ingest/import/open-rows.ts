/** Opens a source of any format as lines of NDJSON, one per row of the source. */
import type { Connection } from '../../clickhouse/connection.js'
import { isUtc } from '../../lib/time-zone.js'
import { dropByteOrderMark, peek, unpack, type Peeked } from './formats/byte-stream.js'
import { openColumnar } from './formats/columnar/open.js'
import { bindFields, readCsv } from './formats/csv.js'
import { DETECTION_BYTES, detectFormat, findUnreadable } from './formats/detect.js'
import { FORMATS, SourceError, type Format } from './formats/format.js'
import { readLog } from './formats/log.js'
import { readMappedNdjson } from './formats/mapped-ndjson.js'
import { NO_MAPPING, type Mapping } from './formats/mapping.js'
import { readByPreset } from './presets/read-preset.js'
import { findPreset, refuseTotals, type Tool } from './presets/tools.js'

export interface OpenOptions {
  /** The format of the source; detected from its first bytes if left out. */
  readonly format?: Format | undefined
  readonly mapping?: Mapping | undefined
  /** The tool that exported the source; its preset stands for a format and a mapping. */
  readonly tool?: Tool | undefined
  /** The origin of all pages of an access log, e.g. `https://example.com`. */
  readonly origin?: string | undefined
  /** The zone of timestamps that name none, if the import names one. */
  readonly zone?: string | undefined
  /** Called if the columns of a file have no zone and are read in UTC; rows of text report theirs when they are loaded. */
  readonly onZoneless?: (() => void) | undefined
  /** Called once with the columns of a tool's export that events have no field for. */
  readonly onLeftOut?: ((columns: readonly string[]) => void) | undefined
  /** The connection through which ClickHouse reads Parquet and Arrow. */
  readonly writer: Connection
}

export interface OpenedRows {
  readonly format: Format
  /** Identifies how the bytes are read; depends on format, mapping, origin and zone, or on the tool. */
  readonly identity: string
  /**
   * Bytes of NDJSON, to be read once: one line per row, in the order of the source. Skipped rows and invalid rows
   * are marked as in `inbox/line-marks.ts`.
   */
  readonly rows: AsyncIterable<Buffer>
  /** Returns how many rows have been skipped so far; blank lines are not rows. */
  skipped(): number
  /** Returns the number of rows, if it is known before they are read. */
  total(): number | undefined
}

interface ReaderOptions extends OpenOptions {
  readonly mapping: Mapping
  readonly onSkipped: () => void
  readonly onTotal: (rows: number) => void
}

/**
 * Opens a source, plain or gzip'd, without loading anything.
 *
 * @throws SourceError if the source cannot be read as events; reading `rows` may throw it as well, before the first
 *   row. Errors of reading and of unpacking are passed on.
 */
export async function openRows(
  source: AsyncIterable<Buffer>,
  options: OpenOptions,
): Promise<OpenedRows> {
  const { mapping = NO_MAPPING, tool } = options
  const peeked = await peek(unpack(source), DETECTION_BYTES)
  try {
    const unreadable = findUnreadable(peeked.head)
    if (unreadable !== undefined) throw new SourceError(unreadable)
    if (mapping.size === 0) refuseTotals(peeked.head)
    let skipped = 0
    let total: number | undefined
    const counters = { onSkipped: () => skipped++, onTotal: (all: number) => (total = all) }
    const opened =
      tool === undefined
        ? await openFormat(peeked, { ...options, ...counters, mapping })
        : openExport(peeked, tool, { ...options, ...counters })
    return { ...opened, skipped: () => skipped, total: () => total }
  } catch (error) {
    await peeked.close()
    throw error
  }
}

type OpenedSource = Pick<OpenedRows, 'format' | 'identity' | 'rows'>

async function openFormat(peeked: Peeked, options: ReaderOptions): Promise<OpenedSource> {
  const { mapping, origin, zone } = options
  const format = options.format ?? requireFormat(peeked, mapping)
  checkOptions(format, mapping, origin)
  return {
    format,
    identity: JSON.stringify([format, [...mapping].sort(), origin ?? '', ...namedZone(zone)]),
    rows: await READERS[format](peeked, options),
  }
}

function openExport(
  { stream }: Peeked,
  tool: Tool,
  options: Pick<ReaderOptions, 'onSkipped' | 'onLeftOut'>,
): OpenedSource {
  const preset = findPreset(tool)
  return {
    format: preset.format === 'csv' ? 'csv' : 'ndjson',
    identity: JSON.stringify([tool]),
    rows: readByPreset(dropByteOrderMark(stream), preset, options),
  }
}

/** The zone as a part of the identity: sources without one keep theirs. */
const namedZone = (zone: string | undefined): readonly string[] =>
  zone === undefined || isUtc(zone) ? [] : [zone]

const READERS: Readonly<
  Record<
    Format,
    (
      peeked: Peeked,
      options: ReaderOptions,
    ) => AsyncIterable<Buffer> | Promise<AsyncIterable<Buffer>>
  >
> = {
  // Without a mapping the bytes pass unchanged: this is the most common case.
  ndjson: ({ stream }, { mapping, onSkipped }) =>
    mapping.size === 0 ? stream : readMappedNdjson(dropByteOrderMark(stream), mapping, onSkipped),
  csv: ({ stream }, { mapping }) => readCsv(dropByteOrderMark(stream), bindFields(mapping)),
  log: ({ stream }, options) => readLog(dropByteOrderMark(stream), options),
  parquet: openColumnar('parquet'),
  arrow: openColumnar('arrow'),
}

function requireFormat({ head, isWhole }: Peeked, mapping: Mapping): Format {
  if (isWhole && head.toString().trim() === '') throw new SourceError('is empty')
  const format = detectFormat(head, mapping)
  if (format !== undefined) return format
  throw new SourceError(
    `is not recognised as ${FORMATS.join(', ')}; name its format with --format, ` +
      'or map its columns with --map <field>=<column>',
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
