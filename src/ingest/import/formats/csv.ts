/** Reads CSV: records of cells under a header of names. */
import { isUtf8 } from 'node:buffer'
import { once } from 'node:events'
import { CsvError, parse, type Parser } from 'csv-parse'
import { LineTooLongError } from '../lines.js'
import { takeColumns, type Mapping, type Taken } from './mapping.js'
import { PASSED_OVER, unfit } from './rows.js'
import { cellJson, eventLine } from './values.js'

/** A longer record is one of which a quote is not closed. */
const LONGEST = 1024 * 1024

/** Quotes as RFC 4180 has them: around a cell, and doubled in such a one. */
const CELL = '(?:"[^"]*(?:""[^"]*)*"|[^",]*)'
const SOUND = new RegExp(`^${CELL}(?:,${CELL})*$`)
const BEYOND_ASCII = /[\x80-\xff]/

interface CsvRecord {
  readonly record: readonly string[]
  /** As it stands in the source. */
  readonly raw: string
}

/**
 * One line a record, the header not counted; blank lines are records that are passed over.
 *
 * @throws SourceError for a header that does not fit, LineTooLongError for a quote that is not closed.
 */
export async function* readCsv(
  source: AsyncIterable<Buffer>,
  mapping: Mapping,
): AsyncGenerator<Buffer> {
  let lines: string[] = []
  let convert: ((record: CsvRecord) => string) | undefined
  let rows = 0
  const onRecord = (record: CsvRecord): void => {
    if (convert !== undefined) {
      lines.push(convert(record))
      rows++
    } else if (!isBlank(record)) convert = converter(record, mapping)
  }
  const parser = newParser(onRecord)
  const taken = (): Buffer => {
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
    lines = []
    return bytes
  }
  try {
    for await (const chunk of source) {
      await write(parser, chunk)
      if (lines.length > 0) yield taken()
    }
    await end(parser)
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    if (error.code !== 'CSV_QUOTE_NOT_CLOSED') throw new LineTooLongError(rows + 1, LONGEST)
    lines.push(unfit('has a quote that is not closed', textOf(String(error['raw']))))
  }
  if (lines.length > 0) yield taken()
}

/** Bytes pass through it in the letters of Latin 1, so that none is lost before it is looked at. */
function newParser(onRecord: (record: CsvRecord) => void): Parser {
  const parser = parse({
    encoding: 'latin1',
    raw: true,
    relax_column_count: true,
    relax_quotes: true,
    record_delimiter: ['\r\n', '\n'],
    max_record_size: LONGEST,
    on_record: (record) => {
      onRecord(record as unknown as CsvRecord)
      return null
    },
  })
  // Errors come to who writes.
  return parser.on('error', () => undefined).resume()
}

const write = (parser: Parser, chunk: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    parser.write(chunk, (error) => (error ? reject(error) : resolve()))
  })

async function end(parser: Parser): Promise<void> {
  parser.end()
  await once(parser, 'end')
}

const isBlank = ({ raw }: CsvRecord): boolean => raw.trim() === ''

function converter(header: CsvRecord, mapping: Mapping): (record: CsvRecord) => string {
  const names = header.record.map((name) => textOf(name).trim())
  const taken = takeColumns(names, mapping)
  return (record) =>
    isBlank(record) ? PASSED_OVER : convertRecord(record, names.length, taken, mapping.size > 0)
}

function convertRecord(
  { record, raw }: CsvRecord,
  width: number,
  taken: readonly Taken[],
  isForeign: boolean,
): string {
  const isAscii = !BEYOND_ASCII.test(raw)
  const row = (isAscii ? raw : textOf(raw)).trimEnd()
  if (!isAscii && !isUtf8(Buffer.from(raw, 'latin1'))) return unfit('is not valid UTF-8', row)
  if (raw.includes('"') && !SOUND.test(raw.trimEnd())) {
    return unfit('has a quote in the wrong place', row)
  }
  if (record.length !== width) {
    return unfit(`has ${record.length} cells where the header has ${width}`, row)
  }
  return eventLine(
    taken.map(({ place, target }) => {
      const cell = record[place] ?? ''
      return [target, cellJson(target, isAscii ? cell : textOf(cell), { isForeign })]
    }),
  )
}

const textOf = (latin1: string): string => Buffer.from(latin1, 'latin1').toString()
