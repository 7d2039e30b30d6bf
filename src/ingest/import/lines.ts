/** Reads a stream of lines chunk by chunk. Chunks end at the same lines however the stream splits its bytes. */
import { measureByteOrderMark, NEWLINE } from './formats/byte-stream.js'
import { LineTooLongError } from './formats/format.js'
import { unmarkInvalid } from '../inbox/line-marks.js'
import type { Rejection } from '../inbox/rejections.js'

/** Whole lines, with their line ends. */
export interface Lines {
  readonly bytes: Buffer
  /** The number of the first line, counted from 1. */
  readonly firstRow: number
  readonly rows: number
}

/** Reads ahead in a stream of lines, and takes lines from its front. */
export interface LineReader {
  /** The number of the next line, counted from 1. */
  readonly row: number
  /** Returns the next bytes without taking them: at least `size`, or all that are left. */
  peek(size: number): Promise<Buffer>
  /**
   * Returns the length of the next chunk: as many whole lines as fit into `maxBytes`, and at most `maxRows`; 0 at the end.
   *
   * @throws LineTooLongError if not even one line fits
   */
  measureChunk(maxBytes: number, maxRows: number): Promise<number>
  /** Takes this many bytes; they must have been peeked at. */
  take(length: number): Lines
  /** Puts back the lines that were taken last. */
  putBack(lines: Lines): void
  /** Closes the source, for a reader that is not read to the end. */
  close(): Promise<void>
}

/** The length of a byte order mark in UTF-8. */
const BYTE_ORDER_MARK_BYTES = 3

/**
 * Creates a reader. The last line may have no line end. A byte order mark at the start is dropped.
 *
 * @param countsBlank whether empty lines count as rows of a chunk; they always count in the numbers of rows
 */
export function createLineReader(source: AsyncIterable<Buffer>, countsBlank = true): LineReader {
  const queue = createByteQueue(source)
  let row = 1
  let isStart = true

  const peek = async (size: number): Promise<Buffer> => {
    if (isStart) {
      isStart = false
      queue.take(measureByteOrderMark(await queue.fill(BYTE_ORDER_MARK_BYTES)))
    }
    return queue.fill(size)
  }

  return {
    get row() {
      return row
    },
    peek,
    async measureChunk(maxBytes, maxRows) {
      const ahead = await peek(maxBytes + 1)
      const fitting =
        ahead.length <= maxBytes ? ahead.length : ahead.lastIndexOf(NEWLINE, maxBytes - 1) + 1
      if (fitting === 0 && ahead.length > 0) throw new LineTooLongError(row, maxBytes)
      return measureRows(ahead.subarray(0, fitting), maxRows, countsBlank)
    },
    take(length) {
      const bytes = queue.take(length)
      const lines = { bytes, firstRow: row, rows: countLines(bytes) }
      row += lines.rows
      return lines
    },
    putBack({ bytes, firstRow }) {
      queue.putBack(bytes)
      row = firstRow
    },
    close: () => queue.close(),
  }
}

/** Bytes that were read from a source and not taken yet. */
interface ByteQueue {
  /** Reads until the queue holds `size` bytes or the source ends; returns all bytes of the queue. */
  fill(size: number): Promise<Buffer>
  /** Takes bytes from the front. */
  take(length: number): Buffer
  /** Puts bytes back to the front. */
  putBack(bytes: Buffer): void
  close(): Promise<void>
}

/** Creates a queue that reads from the source only as far as `fill` requires. */
function createByteQueue(source: AsyncIterable<Buffer>): ByteQueue {
  const arriving = source[Symbol.asyncIterator]()
  let pending: Buffer[] = []
  let length = 0
  let hasEnded = false

  /** Joins all pending bytes; a single buffer is not copied. */
  const joinPending = (): Buffer => {
    const [only] = pending
    const all = only !== undefined && pending.length === 1 ? only : Buffer.concat(pending)
    pending = [all]
    return all
  }

  return {
    async fill(size) {
      while (length < size && !hasEnded) {
        const next = await arriving.next()
        if (next.done === true) hasEnded = true
        else {
          pending.push(next.value)
          length += next.value.length
        }
      }
      return joinPending()
    },
    take(taken) {
      const all = joinPending()
      pending = [all.subarray(taken)]
      length = all.length - taken
      return all.subarray(0, taken)
    },
    putBack(bytes) {
      pending = [bytes, ...pending]
      length += bytes.length
    },
    close: async () => {
      await arriving.return?.()
    },
  }
}

/** Returns the length of the first `maxRows` lines; of all if there are fewer. */
function measureRows(bytes: Buffer, maxRows: number, countsBlank: boolean): number {
  let end = 0
  for (let row = 0; row < maxRows;) {
    const lineEnd = bytes.indexOf(NEWLINE, end)
    if (lineEnd === -1) return bytes.length
    if (countsBlank || lineEnd > end) row += 1
    end = lineEnd + 1
  }
  return end
}

/** Returns whether all lines are empty. */
export const areBlank = ({ bytes, rows }: Lines): boolean =>
  bytes.length === rows && bytes.every((byte) => byte === NEWLINE)

function countLines(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++
  return bytes.length === 0 || bytes.at(-1) === NEWLINE ? count : count + 1
}

/** Blanks all lines except those whose numbers are in `rows`: these keep their numbers. */
export function blankOtherRows(lines: Lines, rows: readonly number[]): Lines {
  const wanted = new Set(rows)
  const kept = [...splitLines(lines)].map(([row, line]) =>
    wanted.has(row) ? line : Buffer.from('\n'),
  )
  return { ...lines, bytes: Buffer.concat(kept) }
}

/** Yields each line, with its line end, after its number. */
function* splitLines({
  bytes,
  firstRow,
  rows,
}: Lines): Generator<readonly [row: number, line: Buffer]> {
  let start = 0
  for (let row = firstRow; row < firstRow + rows; row += 1) {
    const lineEnd = bytes.indexOf(NEWLINE, start)
    const next = lineEnd === -1 ? bytes.length : lineEnd + 1
    yield [row, bytes.subarray(start, next)]
    start = next
  }
}

/** Adds to rejected rows their text, as it is in the source. */
export function addTexts(
  lines: Lines,
  rejections: readonly Omit<Rejection, 'line'>[],
): readonly Rejection[] {
  const wanted = new Set(rejections.map(({ row }) => row))
  const texts = new Map<number, string>()
  for (const [row, line] of splitLines(lines)) {
    if (wanted.has(row)) texts.set(row, unmarkInvalid(line.toString().replace(/\n$/, '')))
  }
  return rejections.map((rejection) => ({ ...rejection, line: texts.get(rejection.row) ?? '' }))
}
