/** Detects the format of a source from its first bytes. */
import { measureByteOrderMark } from './byte-stream.js'
import type { Format } from './format.js'
import { parseLogLine } from './log-line.js'
import { parseTarget, type Mapping } from './mapping.js'

/** The number of bytes that are enough to detect a format. */
export const DETECTION_BYTES = 64 * 1024

const PARQUET_MAGIC = Buffer.from('PAR1')
const ARROW_FILE_MAGIC = Buffer.from('ARROW1')
/** The continuation marker of an encapsulated message, which starts an Arrow stream. */
const ARROW_STREAM_MAGIC = Buffer.from([0xff, 0xff, 0xff, 0xff])

/** How sources start that no format reader can read, as Latin-1, and what to do about them. */
const UNREADABLE: readonly (readonly [start: RegExp, message: string])[] = [
  [/^(?:\xff\xfe|\xfe\xff)/, 'is UTF-16; convert it to UTF-8'],
  // After PK come two control characters, and no line end.
  [/^PK(?!\s)\p{Cc}{2}/u, 'is a zip archive; unpack it, or compress its files with gzip'],
  [/^\x28\xb5\x2f\xfd/, 'is compressed with zstd; unpack it, or use gzip'],
  [/^\xfd7zXZ/, 'is compressed with xz; unpack it, or use gzip'],
  [/^BZh\d1AY&SY/, 'is compressed with bzip2; unpack it, or use gzip'],
  // A header of CSV may begin alike, but has no NUL.
  [/^PARE[^]*\0/, 'is Parquet with an encrypted footer; write it without encryption'],
]

/** Says why a source cannot be read in any format; undefined for all others. */
export function findUnreadable(head: Buffer): string | undefined {
  const text = head.toString('latin1')
  return UNREADABLE.find(([start]) => start.test(text))?.[1]
}

/** Detects a format; returns undefined if none is recognised. */
export function detectFormat(head: Buffer, mapping: Mapping): Format | undefined {
  const startsWith = (magic: Buffer): boolean => head.subarray(0, magic.length).equals(magic)
  if (startsWith(PARQUET_MAGIC)) return 'parquet'
  if (startsWith(ARROW_FILE_MAGIC) || startsWith(ARROW_STREAM_MAGIC)) return 'arrow'
  const lines = head
    .subarray(measureByteOrderMark(head))
    .toString()
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
  // The first rows may be damaged, so any later line may decide as well.
  const [first = '', ...rest] = lines
  return (
    detectLineFormat(first) ??
    (isCsvHeader(first, mapping) ? 'csv' : rest.map(detectLineFormat).find((found) => found))
  )
}

function detectLineFormat(line: string): Format | undefined {
  if (line.trimStart().startsWith('{')) return 'ndjson'
  return parseLogLine(line) === undefined ? undefined : 'log'
}

function isCsvHeader(line: string, mapping: Mapping): boolean {
  const mapped = new Set(mapping.values())
  return line
    .split(',')
    .map((name) => name.trim().replace(/^"(.*)"$/, '$1'))
    .some((name) => mapped.has(name) || parseTarget(name) !== undefined)
}
