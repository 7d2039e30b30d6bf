/** Tells the format of a source by its first bytes. */
import type { Format } from './format.js'
import { parseLogLine } from './log-line.js'
import { targetOf, type Mapping } from './mapping.js'

/** Bytes that are enough to tell by. */
export const ENOUGH = 64 * 1024

const PARQUET = Buffer.from('PAR1')
const ARROW_FILE = Buffer.from('ARROW1')
const ARROW_STREAM = Buffer.from([0xff, 0xff, 0xff, 0xff])
const BYTE_ORDER_MARK = '\ufeff'

/** @returns undefined for what cannot be told. */
export function detectFormat(head: Buffer, mapping: Mapping): Format | undefined {
  const startsWith = (mark: Buffer): boolean => head.subarray(0, mark.length).equals(mark)
  if (startsWith(PARQUET)) return 'parquet'
  if (startsWith(ARROW_FILE) || startsWith(ARROW_STREAM)) return 'arrow'
  const text = head.toString()
  const lines = (text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
  const [first = '', ...rest] = lines
  return (
    formatOfLine(first) ??
    (isCsvHeader(first, mapping) ? 'csv' : rest.map(formatOfLine).find((found) => found))
  )
}

/** The first rows may be damaged, so any line may tell. */
function formatOfLine(line: string): Format | undefined {
  if (line.trimStart().startsWith('{')) return 'ndjson'
  return parseLogLine(line) === undefined ? undefined : 'log'
}

function isCsvHeader(line: string, mapping: Mapping): boolean {
  const mapped = new Set(mapping.values())
  return line
    .split(',')
    .map((name) => name.trim().replace(/^"(.*)"$/, '$1'))
    .some((name) => mapped.has(name) || targetOf(name) !== undefined)
}
