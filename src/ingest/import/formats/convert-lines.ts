/** Turns a stream of lines into another, one for one. */
import { isUtf8 } from 'node:buffer'
import { LineTooLongError } from '../lines.js'
import { PASSED_OVER, unfit } from './rows.js'

const NEWLINE = 10

/** Longer lines are no text. */
const LONGEST = 32 * 1024 * 1024

/**
 * Converts each line, which comes without its end; blank ones stay blank. A line that is not UTF-8 is
 * unfit.
 *
 * @throws LineTooLongError
 */
export async function* convertLines(
  source: AsyncIterable<Buffer>,
  convert: (line: string) => string,
): AsyncGenerator<Buffer> {
  let rows = 0
  for await (const bytes of wholeLines(source, () => rows + 1)) {
    const lines = split(bytes, convert)
    rows += lines.length
    yield Buffer.from(lines.map((line) => `${line}\n`).join(''))
  }
}

async function* wholeLines(
  source: AsyncIterable<Buffer>,
  row: () => number,
): AsyncGenerator<Buffer> {
  let pending: Buffer[] = []
  let length = 0
  for await (const chunk of source) {
    const end = chunk.lastIndexOf(NEWLINE)
    if (end === -1) {
      pending.push(chunk)
      length += chunk.length
      if (length > LONGEST) throw new LineTooLongError(row(), LONGEST)
      continue
    }
    yield Buffer.concat([...pending, chunk.subarray(0, end)])
    const rest = chunk.subarray(end + 1)
    pending = [rest]
    length = rest.length
  }
  if (length > 0) yield Buffer.concat(pending)
}

function split(bytes: Buffer, convert: (line: string) => string): readonly string[] {
  const whole = (line: string): string => {
    const text = line.endsWith('\r') ? line.slice(0, -1) : line
    return text.trim() === '' ? PASSED_OVER : convert(text)
  }
  if (isUtf8(bytes)) return bytes.toString().split('\n').map(whole)
  return bytes
    .toString('latin1')
    .split('\n')
    .map((line) => {
      const own = Buffer.from(line, 'latin1')
      return isUtf8(own) ? whole(own.toString()) : unfit('is not valid UTF-8', own.toString())
    })
}
