/**
 * Cuts a source into chunks, and recognises chunks that were loaded before.
 *
 * The id of a chunk depends on its bytes and on everything before them. So an import that is run again recognises
 * its chunks one by one, even if it was interrupted, or if the source has grown since. In a source that has grown,
 * the last line of a loaded chunk may have been incomplete, so an id also identifies the lines before the last.
 */
import type { Connection } from '../../clickhouse/connection.js'
import { findLoadsByPrefix, type FinishedLoad } from '../loader/load-log.js'
import type { LoadReport } from '../loader/load-report.js'
import type { LoadLimits } from '../loader/next-rows.js'
import {
  buildChunkId,
  buildIdPrefix,
  computeFingerprint,
  fingerprintPrefixes,
  parseChunkId,
} from './chunk-id.js'
import { NEWLINE } from './formats/byte-stream.js'
import type { LineReader, Lines } from './lines.js'

export interface Chunk {
  /** The name of its first batch, loaded or not. */
  readonly batch: string
  readonly lines: Lines
  /** Its finished loads, in order. The first took all rows; each later one took the rows that the one before left. */
  readonly loads: readonly FinishedLoad[]
}

interface ChunkSource {
  /**
   * Takes the next chunk from the reader; returns undefined at the end of the source.
   *
   * @param limits the size limits of a new chunk; a chunk that was loaded before keeps the size it had
   */
  next(reader: LineReader, limits: LoadLimits): Promise<Chunk | undefined>
  /** Puts the chunk that was taken last back into the reader, to be cut into smaller ones. */
  putBack(reader: LineReader, chunk: Chunk): void
}

/** A chunk that was loaded before and occurs in the source again. */
interface LoadedChunk {
  readonly batch: string
  /** The number of its bytes that occur again. */
  readonly length: number
  /** The length up to the end of its last line, which may have had no line end when it was loaded. */
  readonly lengthWithLineEnd: number
  /** Whether its last line has changed: only the lines before it are the same. */
  readonly isLastLineChanged: boolean
}

/** The line ends that may have been appended to a last line that had none. */
const LINE_ENDS = ['\n', '\r\n']

/**
 * Opens the chunks of one source.
 *
 * @param seed distinguishes sources that hold the same bytes but must be loaded separately
 */
export function openChunks(writer: Connection, seed: readonly string[]): ChunkSource {
  let before = computeFingerprint('', Buffer.from(JSON.stringify(seed)))
  let beforeLast = before

  const takeLoaded = (
    reader: LineReader,
    { batch, length, lengthWithLineEnd, isLastLineChanged }: LoadedChunk,
    loads: readonly FinishedLoad[],
  ): Chunk => {
    const lines = reader.take(lengthWithLineEnd)
    before = computeFingerprint(before, lines.bytes.subarray(0, length))
    const ownLoads = loads.filter(({ load }) => parseChunkId(load.batch).batch === batch)
    return { batch, lines, loads: isLastLineChanged ? leaveOutLastRow(ownLoads, lines) : ownLoads }
  }

  return {
    async next(reader, { bytes: maxBytes, rows: maxRows }) {
      beforeLast = before
      const loads = await findLoadsByPrefix(writer, buildIdPrefix(before))
      const loaded = await findLoadedChunk(reader, before, loads)
      if (loaded !== undefined) return takeLoaded(reader, loaded, loads)
      const length = await reader.measureChunk(maxBytes, maxRows)
      if (length === 0) return undefined
      const lines = reader.take(length)
      const batch = buildChunkId(before, lines.bytes)
      before = computeFingerprint(before, lines.bytes)
      return { batch, lines, loads: [] }
    },
    putBack(reader, { lines }) {
      reader.putBack(lines)
      before = beforeLast
    },
  }
}

/** Finds the loaded chunk that the next bytes of the source repeat; the longest if there are several. */
async function findLoadedChunk(
  reader: LineReader,
  before: string,
  loads: readonly FinishedLoad[],
): Promise<LoadedChunk | undefined> {
  const ids = loads.map(({ load }) => parseChunkId(load.batch))
  const lengths = ids.flatMap(({ whole, withoutLastLine }) => [
    whole.length,
    withoutLastLine.length,
  ])
  const ahead = await reader.peek(Math.max(0, ...lengths) + 2)
  const fingerprints = fingerprintPrefixes(before, ahead, lengths)
  const found = ids.flatMap(({ batch, whole, withoutLastLine }): LoadedChunk[] => {
    const end = findLineEnd(ahead, whole.length)
    if (end !== undefined && fingerprints.get(whole.length) === whole.fingerprint) {
      return [{ batch, length: whole.length, lengthWithLineEnd: end, isLastLineChanged: false }]
    }
    const { length, fingerprint } = withoutLastLine
    return length > 0 && fingerprints.get(length) === fingerprint
      ? [{ batch, length, lengthWithLineEnd: length, isLastLineChanged: true }]
      : []
  })
  return found.reduce<LoadedChunk | undefined>(
    (longest, one) => (longest === undefined || one.length > longest.length ? one : longest),
    undefined,
  )
}

/**
 * Returns the length up to the end of the line, line end included, if the text of a line ends at `length`; undefined if
 * the line goes on.
 */
function findLineEnd(ahead: Buffer, length: number): number | undefined {
  if (ahead.length === length || ahead[length - 1] === NEWLINE) return length
  const lineEnd = LINE_ENDS.find((text) => ahead.subarray(length).indexOf(text) === 0)
  return lineEnd === undefined ? undefined : length + lineEnd.length
}

/**
 * Leaves the last row of a chunk out of the reports of its loads. The log of loads does not record how that row was
 * counted, so it is assumed to be an event, or else a duplicate or an excluded event.
 *
 * @param lines all lines of the chunk but the last
 */
export function leaveOutLastRow(
  loads: readonly FinishedLoad[],
  lines: Lines,
): readonly FinishedLoad[] {
  let received = countNonBlankLines(lines.bytes)
  return loads.map(({ load, report, rowsLeft: left }) => {
    const rowsLeft = left.filter((row) => row < lines.firstRow + lines.rows)
    const isLastRowLoaded = report.received > received && left.length === rowsLeft.length
    const reduced = { ...(isLastRowLoaded ? subtractOneRow(report) : report), received }
    received = rowsLeft.length
    return { load, report: reduced, rowsLeft }
  })
}

function subtractOneRow(report: LoadReport): LoadReport {
  const outcomes = ['events', 'duplicates', 'bots', 'excluded'] as const
  const outcome = outcomes.find((one) => report[one] > 0)
  return outcome === undefined ? report : { ...report, [outcome]: report[outcome] - 1 }
}

const countNonBlankLines = (bytes: Buffer): number =>
  bytes
    .toString('latin1')
    .split('\n')
    .filter((line) => /[^ \t\r]/.test(line)).length
