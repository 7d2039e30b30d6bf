/** Describes the columns of an Arrow file or stream by its schema message, which comes first. */
import { sql } from '../../../../clickhouse/sql.js'
import { peek, type Peeked } from '../byte-stream.js'
import { SourceError } from '../format.js'
import type { FileDescription } from './columns.js'

const FILE_MAGIC = Buffer.from('ARROW1')
/** The magic of a file and its padding; a stream follows. */
const FILE_HEADER_BYTES = 8
/** Before each message: a continuation marker and the length of the message, four bytes each. */
const MESSAGE_PREFIX_BYTES = 8
const CONTINUATION = Buffer.from([0xff, 0xff, 0xff, 0xff])
const MAX_SCHEMA_BYTES = 64 * 1024 * 1024
const END_OF_STREAM = Buffer.concat([CONTINUATION, Buffer.alloc(4)])

/**
 * Reads the schema message of an Arrow source.
 *
 * @throws SourceError if the source is not Arrow
 */
export async function describeArrow(peeked: Peeked): Promise<FileDescription> {
  const isFile = peeked.head.subarray(0, FILE_MAGIC.length).equals(FILE_MAGIC)
  const start = isFile ? FILE_HEADER_BYTES : 0
  const messages = peeked.head.subarray(start)
  if (
    messages.length < MESSAGE_PREFIX_BYTES ||
    !messages.subarray(0, CONTINUATION.length).equals(CONTINUATION)
  ) {
    throw new SourceError('is not Arrow, or is cut short')
  }
  const end = start + MESSAGE_PREFIX_BYTES + messages.readUInt32LE(CONTINUATION.length)
  if (end > MAX_SCHEMA_BYTES) throw new SourceError('is not Arrow, or has too many columns')
  const { head, stream, close } = await peek(peeked.stream, end)
  if (head.length < end) throw new SourceError('is not Arrow, or is cut short')
  return {
    bytes: Buffer.concat([head.subarray(start, end), END_OF_STREAM]),
    format: isFile ? sql`Arrow` : sql`ArrowStream`,
    stream,
    close,
  }
}
