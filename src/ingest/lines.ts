/** Cuts a stream of bytes into pieces that end where a line ends. */

/** Whole lines, as they came. */
export interface Lines {
  readonly bytes: Buffer
  /** The number of the first line, counted from 1. */
  readonly firstRow: number
  readonly rows: number
}

/** A line is longer than a piece may be: what comes is hardly lines. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError'

  constructor(row: number, longest: number) {
    super(`row ${row}: is longer than ${longest} bytes`)
  }
}

const NEWLINE = 10
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/**
 * Pieces of about `size` bytes, at most twice that. A byte order mark at the start is dropped.
 *
 * @throws LineTooLongError when `size` bytes have come without the end of a line
 */
export async function* cutLines(
  source: AsyncIterable<Buffer>,
  size: number,
): AsyncGenerator<Lines> {
  let firstRow = 1
  let pending: Buffer[] = []
  let length = 0

  const take = (bytes: Buffer): Lines => {
    const isFirst = firstRow === 1 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)
    const lines = { bytes: isFirst ? bytes.subarray(3) : bytes, firstRow, rows: countLines(bytes) }
    firstRow += lines.rows
    return lines
  }

  for await (const chunk of source) {
    pending.push(chunk)
    length += chunk.length
    if (length < size) continue
    const all = Buffer.concat(pending)
    const end = all.lastIndexOf(NEWLINE) + 1
    if (end === 0) throw new LineTooLongError(firstRow, size)
    yield take(all.subarray(0, end))
    pending = [all.subarray(end)]
    length = all.length - end
  }
  if (length > 0) yield take(Buffer.concat(pending))
}

function countLines(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++
  return bytes.at(-1) === NEWLINE ? count : count + 1
}
