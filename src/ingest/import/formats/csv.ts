/** Reads CSV: a header of names, then records of cells. */
import { isUtf8 } from 'node:buffer'
import { once } from 'node:events'
import { CsvError, parse, type Parser } from 'csv-parse'
import { markInvalid, markNotUtf8, SKIPPED_LINE } from '../../inbox/line-marks.js'
import { LineTooLongError } from './format.js'
import { bindColumns, type Mapping } from './mapping.js'
import { buildEventLine, cellToJson } from './event-line.js'

/** A record that exceeds this limit has a quote that is never closed. */
const MAX_RECORD_BYTES = 1024 * 1024

/** Quotes as in RFC 4180 §2: around a cell, and doubled within one. */
const CELL = '(?:"[^"]*(?:""[^"]*)*"|[^",]*)'
const WELL_QUOTED = new RegExp(`^${CELL}(?:,${CELL})*$`)
const BEYOND_ASCII = /[\x80-\xff]/

/** A record as the parser returns it; its texts hold one byte per character. */
interface CsvRecord {
  readonly record: readonly string[]
  /** Its text in the source. */
  readonly raw: string
}

/** Takes the names of the header, and returns the function that converts the cells of a record to a line. */
type BindHeader = (names: readonly string[]) => (cells: readonly string[]) => string

/** Binds a header of fields, or of the columns that a mapping names. */
export const bindFields =
  (mapping: Mapping): BindHeader =>
  (names) => {
    const bindings = bindColumns(names, mapping)
    const options = { hasForeignNames: mapping.size > 0 }
    return (cells) =>
      buildEventLine(
        bindings.map(({ index, target }) => [
          target,
          cellToJson(target, cells[index] ?? '', options),
        ]),
      )
  }

/**
 * Converts each record after the header to one line; a blank line is a skipped row.
 *
 * @throws SourceError if the header names no columns that can be used
 * @throws LineTooLongError if a quote is not closed within the size limit of a record
 */
export async function* readCsv(
  source: AsyncIterable<Buffer>,
  bind: BindHeader,
): AsyncGenerator<Buffer> {
  let lines: string[] = []
  let convert: ((record: CsvRecord) => string) | undefined
  let rows = 0
  const onRecord = (record: CsvRecord): void => {
    if (convert !== undefined) {
      lines.push(convert(record))
      rows++
    } else if (!isBlank(record)) convert = createConverter(record, bind)
  }
  const parser = createParser(onRecord)
  const takeLines = (): Buffer => {
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
    lines = []
    return bytes
  }
  try {
    for await (const chunk of source) {
      await write(parser, chunk)
      if (lines.length > 0) yield takeLines()
    }
    await end(parser)
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    if (error.code !== 'CSV_QUOTE_NOT_CLOSED') {
      throw new LineTooLongError(rows + 1, MAX_RECORD_BYTES)
    }
    lines.push(markInvalid('has a quote that is not closed', decodeUtf8(String(error['raw']))))
  }
  if (lines.length > 0) yield takeLines()
}

/** The parser reads Latin-1, which keeps every byte until the encoding of a record is checked. */
function createParser(onRecord: (record: CsvRecord) => void): Parser {
  const parser = parse({
    encoding: 'latin1',
    raw: true,
    relax_column_count: true,
    relax_quotes: true,
    record_delimiter: ['\r\n', '\n'],
    max_record_size: MAX_RECORD_BYTES,
    on_record: (record) => {
      onRecord(record as unknown as CsvRecord)
      return null
    },
  })
  // Errors reach the caller through `write` and `end`.
  return parser.on('error', () => undefined).resume()
}

/** Resolves when the parser can take the next chunk; rejects when it cannot parse this one. */
const write = (parser: Parser, chunk: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    parser.write(chunk, (error) => (error ? reject(error) : resolve()))
  })

async function end(parser: Parser): Promise<void> {
  parser.end()
  await once(parser, 'end')
}

const isBlank = ({ raw }: CsvRecord): boolean => raw.trim() === ''

/** Creates the function that converts records, from the header. */
function createConverter(header: CsvRecord, bind: BindHeader): (record: CsvRecord) => string {
  const names = header.record.map((name) => decodeUtf8(name).trim())
  const convertCells = bind(names)
  return (record) =>
    isBlank(record) ? SKIPPED_LINE : convertRecord(record, names.length, convertCells)
}

function convertRecord(
  { record, raw }: CsvRecord,
  width: number,
  convertCells: (cells: readonly string[]) => string,
): string {
  const isAscii = !BEYOND_ASCII.test(raw)
  const row = (isAscii ? raw : decodeUtf8(raw)).trimEnd()
  if (!isAscii && !isUtf8(Buffer.from(raw, 'latin1'))) return markNotUtf8(row)
  if (raw.includes('"') && !WELL_QUOTED.test(raw.trimEnd())) {
    return markInvalid('has a quote in the wrong place', row)
  }
  if (record.length !== width) {
    return markInvalid(`has ${record.length} cells where the header has ${width}`, row)
  }
  return convertCells(isAscii ? record : record.map(decodeUtf8))
}

const decodeUtf8 = (latin1: string): string => Buffer.from(latin1, 'latin1').toString()
