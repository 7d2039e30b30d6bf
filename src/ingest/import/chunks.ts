/**
 * Cuts a source into pieces, and finds those that were loaded before.
 *
 * A piece is named by what it holds and what came before it in its source. So a source that is imported
 * again is known piece by piece, also one that was broken off, and one that has grown since: the last line
 * of a piece may have been half a line then, so its name tells the lines before that one as well.
 */
import type { Connection } from '../../clickhouse/connection.js'
import { fingerprint, nameOf, partsOf, printsOf } from './chunk-id.js'
import type { LineReader, Lines } from './lines.js'
import { withoutLast } from './partial-chunk.js'
import { findLoadsByPrefix, type FinishedLoad } from '../loader/load-log.js'

export interface Chunk {
  /** The name that its batch has, or had. */
  readonly batch: string
  readonly lines: Lines
  /** Its loads, in order: the first of all its rows, each further one of those the one before left. */
  readonly loads: readonly FinishedLoad[]
}

export interface Chunks {
  /** The next piece, of at most `size` bytes where it was not loaded before; undefined at the end. */
  next(reader: LineReader, size: number): Promise<Chunk | undefined>
}

/** A piece that was loaded before, and how many bytes of it come again. */
interface Known {
  readonly batch: string
  readonly length: number
  /** Where the line that ends it ends now, which had no end then. */
  readonly end: number
  readonly isPart: boolean
}

const NEWLINE = 10
/** What a last line gets when it is ended later. */
const LINE_ENDS = ['\n', '\r\n']

/** @param seed tells apart sources that hold the same and yet are not the same */
export function openChunks(writer: Connection, seed: readonly string[]): Chunks {
  let before = fingerprint('', Buffer.from(JSON.stringify(seed)))

  /** Of the known pieces that come next the longest. */
  const find = async (
    reader: LineReader,
    loads: readonly FinishedLoad[],
  ): Promise<Known | undefined> => {
    const parts = loads.map(({ load }) => partsOf(load.batch))
    const lengths = parts.flatMap(({ whole, body }) => [whole.length, body.length])
    const ahead = await reader.peek(Math.max(0, ...lengths) + 2)
    const prints = printsOf(before, ahead, lengths)
    const found = parts.flatMap(({ batch, whole, body }): Known[] => {
      const end = endOf(ahead, whole.length)
      if (end !== undefined && prints.get(whole.length) === whole.print) {
        return [{ batch, length: whole.length, end, isPart: false }]
      }
      const { length, print } = body
      const isThere = length > 0 && prints.get(length) === print
      return isThere ? [{ batch, length, end: length, isPart: true }] : []
    })
    return found.reduce<Known | undefined>(
      (best, one) => (best === undefined || one.length > best.length ? one : best),
      undefined,
    )
  }

  const takeKnown = (
    reader: LineReader,
    { batch, length, end, isPart }: Known,
    loads: readonly FinishedLoad[],
  ): Chunk => {
    const lines = reader.take(end)
    before = fingerprint(before, lines.bytes.subarray(0, length))
    const own = loads.filter(({ load }) => partsOf(load.batch).batch === batch)
    return { batch, lines, loads: isPart ? withoutLast(own, lines) : own }
  }

  return {
    async next(reader, size) {
      const loads = await findLoadsByPrefix(writer, `import-${before}-`)
      const known = await find(reader, loads)
      if (known !== undefined) return takeKnown(reader, known, loads)
      const length = await reader.pieceLength(size)
      if (length === 0) return undefined
      const lines = reader.take(length)
      const batch = nameOf(before, lines.bytes)
      before = fingerprint(before, lines.bytes)
      return { batch, lines, loads: [] }
    },
  }
}

/** Where the lines of so many bytes end, if that is the end of a line. */
function endOf(ahead: Buffer, length: number): number | undefined {
  if (ahead.length === length || ahead[length - 1] === NEWLINE) return length
  const end = LINE_ENDS.find((text) => ahead.subarray(length).indexOf(text) === 0)
  return end === undefined ? undefined : length + end.length
}

/** The name of the batch of those rows that are still left after so many loads. */
export const nameAgain = (batch: string, times: number): string => batch + '+'.repeat(times)

/** The same lines, with all blank but some; `rows` are their numbers. */
export function onlyRows({ bytes, firstRow, rows: count }: Lines, rows: readonly number[]): Lines {
  const wanted = new Set(rows)
  const lines: Buffer[] = []
  let start = 0
  for (let row = firstRow; row < firstRow + count; row += 1) {
    const end = bytes.indexOf(NEWLINE, start)
    const next = end === -1 ? bytes.length : end + 1
    lines.push(wanted.has(row) ? bytes.subarray(start, next) : Buffer.from('\n'))
    start = next
  }
  return { bytes: Buffer.concat(lines), firstRow, rows: count }
}
