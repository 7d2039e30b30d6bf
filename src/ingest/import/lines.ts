/** Reads a stream of lines piece by piece; how it is cut does not depend on how its bytes arrive. */

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

/** Reads ahead in a stream of lines, and takes from its front. */
export interface LineReader {
  /** The number of the next line, counted from 1. */
  readonly row: number
  /** What comes next: so many bytes at least, or all there are. */
  peek(size: number): Promise<Buffer>
  /**
   * How long the next piece is: of the lines that come next as many as `size` bytes hold, 0 at the end.
   *
   * @throws LineTooLongError when `size` bytes hold not one
   */
  pieceLength(size: number): Promise<number>
  /** Takes so many bytes, which have been peeked at. */
  take(length: number): Lines
  /** Ends the source, when it is read no further. */
  close(): Promise<void>
}

const NEWLINE = 10
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** A reader of a stream of lines, whose last may lack its end. A byte order mark at the start is dropped. */
export function readLines(source: AsyncIterable<Buffer>): LineReader {
  const chunks = source[Symbol.asyncIterator]()
  let pending: Buffer[] = []
  let length = 0
  let hasEnded = false
  let row = 1
  let isMarkGone = false

  /** All that is pending; what is one buffer already is not copied. */
  const joined = (): Buffer => {
    const [only] = pending
    const all = only !== undefined && pending.length === 1 ? only : Buffer.concat(pending)
    pending = [all]
    return all
  }

  const fill = async (size: number): Promise<Buffer> => {
    while (length < size && !hasEnded) {
      const next = await chunks.next()
      if (next.done === true) hasEnded = true
      else {
        pending.push(next.value)
        length += next.value.length
      }
    }
    return joined()
  }

  const peek = async (size: number): Promise<Buffer> => {
    if (!isMarkGone) {
      isMarkGone = true
      const start = await fill(BYTE_ORDER_MARK.length)
      if (start.subarray(0, 3).equals(BYTE_ORDER_MARK)) {
        pending = [start.subarray(3)]
        length -= 3
      }
    }
    return fill(size)
  }

  return {
    get row() {
      return row
    },
    peek,
    async pieceLength(size) {
      const all = await peek(size + 1)
      if (all.length <= size) return all.length
      const end = all.lastIndexOf(NEWLINE, size - 1) + 1
      if (end === 0) throw new LineTooLongError(row, size)
      return end
    },
    take(taken) {
      const all = joined()
      const bytes = all.subarray(0, taken)
      const lines = { bytes, firstRow: row, rows: countLines(bytes) }
      pending = [all.subarray(taken)]
      length = all.length - taken
      row += lines.rows
      return lines
    },
    close: async () => {
      await chunks.return?.()
    },
  }
}

function countLines(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++
  return bytes.length === 0 || bytes.at(-1) === NEWLINE ? count : count + 1
}
