/** Converts a stream of lines into another stream with one line for each line. */
import { isUtf8 } from 'node:buffer'
import { markNotUtf8, SKIPPED_LINE } from '../../inbox/line-marks.js'
import { NEWLINE } from './byte-stream.js'
import { LineTooLongError } from './format.js'

/** A source with a longer line is not text. */
const MAX_LINE_BYTES = 32 * 1024 * 1024

/**
 * Converts each line; `convert` gets it without its line end. Blank lines stay blank, and a line that is not UTF-8
 * becomes an invalid row.
 *
 * @param convert returns one line without a line end
 * @throws LineTooLongError if a line exceeds 32 MiB
 */
export async function* convertLines(
  source: AsyncIterable<Buffer>,
  convert: (line: string) => string,
): AsyncGenerator<Buffer> {
  let rows = 0
  for await (const bytes of readWholeLines(source, () => rows + 1)) {
    const lines = convertBlock(bytes, convert)
    rows += lines.length
    yield Buffer.from(lines.map((line) => `${line}\n`).join(''))
  }
}

/**
 * Yields blocks of whole lines, each without its last line end.
 *
 * @param nextRow returns the number of the first line that has not been yielded, for errors
 */
async function* readWholeLines(
  source: AsyncIterable<Buffer>,
  nextRow: () => number,
): AsyncGenerator<Buffer> {
  let pending: Buffer[] = []
  let length = 0
  for await (const chunk of source) {
    const end = chunk.lastIndexOf(NEWLINE)
    if (end === -1) {
      pending.push(chunk)
      length += chunk.length
      if (length > MAX_LINE_BYTES) throw new LineTooLongError(nextRow(), MAX_LINE_BYTES)
      continue
    }
    yield Buffer.concat([...pending, chunk.subarray(0, end)])
    const rest = chunk.subarray(end + 1)
    pending = [rest]
    length = rest.length
  }
  if (length > 0) yield Buffer.concat(pending)
}

function convertBlock(bytes: Buffer, convert: (line: string) => string): readonly string[] {
  const convertLine = (line: string): string => {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line
    return text.trim() === '' ? SKIPPED_LINE : convert(text)
  }
  if (isUtf8(bytes)) return bytes.toString().split('\n').map(convertLine)
  // Latin-1 keeps every byte, so that lines can be separated before their encoding is checked.
  return bytes
    .toString('latin1')
    .split('\n')
    .map((line) => {
      const lineBytes = Buffer.from(line, 'latin1')
      const text = lineBytes.toString()
      return isUtf8(lineBytes) ? convertLine(text) : markNotUtf8(text)
    })
}
