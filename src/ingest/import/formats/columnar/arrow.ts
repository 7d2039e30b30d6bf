/** Finds what an Arrow file or stream says of its columns: it stands first. */
import { sql } from '../../../../clickhouse/sql.js'
import { SourceError } from '../format.js'
import { peek, type Peeked } from '../peek.js'
import type { Description } from './columns.js'

const FILE_MARK = Buffer.from('ARROW1')
/** The mark of a file and the bytes that fill it up; what follows is a stream. */
const FILE_START = 8
/** The mark of a message and its length, four bytes each. */
const PREFIX = 8
const MESSAGE = Buffer.from([0xff, 0xff, 0xff, 0xff])
/** A longer description is none. */
const LONGEST = 64 * 1024 * 1024
const END_OF_STREAM = Buffer.concat([MESSAGE, Buffer.alloc(4)])

export async function describeArrow(peeked: Peeked): Promise<Description> {
  const isFile = peeked.head.subarray(0, FILE_MARK.length).equals(FILE_MARK)
  const start = isFile ? FILE_START : 0
  const messages = peeked.head.subarray(start)
  if (messages.length < PREFIX || !messages.subarray(0, 4).equals(MESSAGE)) {
    throw new SourceError('is not Arrow, or cut short')
  }
  const end = start + PREFIX + messages.readUInt32LE(4)
  if (end > LONGEST) throw new SourceError('is not Arrow, or has too many columns')
  const { head, stream, close } = await peek(peeked.stream, end)
  if (head.length < end) throw new SourceError('is not Arrow, or cut short')
  return {
    bytes: Buffer.concat([head.subarray(start, end), END_OF_STREAM]),
    format: isFile ? sql`Arrow` : sql`ArrowStream`,
    stream,
    close,
  }
}
