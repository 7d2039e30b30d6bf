/** Splits a stream of lines into one stream per shard, in which the lines of others are blank: so rows keep their numbers. */
import { NEWLINE } from '../formats/byte-stream.js'
import { LineTooLongError } from '../formats/format.js'

/** Returns the position of the stream that the line from `start` to `end` belongs to. */
export type Route = (bytes: Buffer, start: number, end: number) => number

interface SplitOptions {
  /** The number of streams. */
  readonly count: number
  readonly route: Route
  readonly maxLineBytes: number
}

/**
 * Splits blocks of lines; yields for each the blocks of all streams. Bytes of lines pass unchanged. A last line without a
 * line end is in its own stream only.
 *
 * @throws LineTooLongError for a line that exceeds `maxLineBytes`
 */
export async function* splitLines(
  source: AsyncIterable<Buffer>,
  { count, route, maxLineBytes }: SplitOptions,
): AsyncGenerator<readonly Buffer[]> {
  let pending: Buffer[] = []
  let length = 0
  let rows = 0
  for await (const chunk of source) {
    const end = chunk.lastIndexOf(NEWLINE) + 1
    if (end > 0) {
      const block = Buffer.concat([...pending, chunk.subarray(0, end)])
      const split = splitBlock(block, count, route)
      rows += split.rows
      yield split.blocks
      pending = []
      length = 0
    }
    pending.push(chunk.subarray(end))
    length += chunk.length - end
    if (length > maxLineBytes) throw new LineTooLongError(rows + 1, maxLineBytes)
  }
  if (length > 0) yield splitBlock(Buffer.concat(pending), count, route).blocks
}

/** Splits a block whose lines are whole; its last line may have no line end. */
function splitBlock(
  block: Buffer,
  count: number,
  route: Route,
): { readonly blocks: readonly Buffer[]; readonly rows: number } {
  const outputs = Array.from({ length: count }, () => ({
    bytes: Buffer.allocUnsafe(block.length),
    length: 0,
  }))
  let rows = 0
  for (let start = 0; start < block.length; rows += 1) {
    const lineEnd = block.indexOf(NEWLINE, start)
    const end = lineEnd === -1 ? block.length : lineEnd
    const next = lineEnd === -1 ? end : end + 1
    const own = outputs[route(block, start, end)]
    for (const output of outputs) {
      if (output === own) output.length += block.copy(output.bytes, output.length, start, next)
      else if (next > end) output.bytes[output.length++] = NEWLINE
    }
    start = next
  }
  // Copied, because a block of blank lines would keep all the bytes that were set aside for it.
  return {
    blocks: outputs.map(({ bytes, length }) => Buffer.from(bytes.subarray(0, length))),
    rows,
  }
}
