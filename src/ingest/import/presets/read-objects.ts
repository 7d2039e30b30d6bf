/** Reads a stream of JSON objects. */
import { LineTooLongError, SourceError } from '../formats/format.js'

const MAX_OBJECT_BYTES = 32 * 1024 * 1024

const QUOTE = 34
const BACKSLASH = 92
const OPEN = 123
const CLOSE = 125
/** What may stand between objects: white space, and the brackets and commas of an array. */
const BETWEEN: ReadonlySet<number> = new Set(Buffer.from(' \t\r\n[],'))

/**
 * Yields the text of each object of an array, or of objects that follow one another. The text of a damaged object may be no valid
 * JSON.
 *
 * @throws SourceError for other text between objects, and for an object that does not end
 * @throws LineTooLongError if an object exceeds 32 MiB
 */
export async function* readObjects(source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let parts: Buffer[] = []
  let [length, depth, row] = [0, 0, 0]
  let [isText, isEscaped] = [false, false]
  for await (const chunk of source) {
    let start = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0
      if (isEscaped) isEscaped = false
      else if (byte === BACKSLASH && isText) isEscaped = true
      else if (byte === QUOTE && depth > 0) isText = !isText
      else if (isText) continue
      else if (byte === OPEN) {
        if (depth === 0) start = at
        depth += 1
      } else if (byte === CLOSE && depth > 0) {
        depth -= 1
        if (depth > 0) continue
        yield Buffer.concat([...parts, chunk.subarray(start, at + 1)]).toString()
        parts = []
        length = 0
        row += 1
      } else if (depth === 0 && !BETWEEN.has(byte)) {
        throw new SourceError(`has text that is not a JSON object after object ${row}`)
      }
    }
    if (depth === 0) continue
    parts.push(chunk.subarray(start))
    length += chunk.length - start
    if (length > MAX_OBJECT_BYTES) throw new LineTooLongError(row + 1, MAX_OBJECT_BYTES)
  }
  if (depth > 0) throw new SourceError(`ends within object ${row + 1}`)
}
