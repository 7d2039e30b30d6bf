/** Streams of bytes: looking at their start, and unpacking them. */
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

export interface Peeked {
  /** At least as many bytes as were asked for; fewer if the stream is shorter. */
  readonly head: Buffer
  /** Whether the head is the whole stream. */
  readonly isWhole: boolean
  /** The stream from its start; to be read once. Closes its source if it is not read to the end. */
  readonly stream: AsyncGenerator<Buffer>
  /** Closes the source; for a stream that is never read. */
  readonly close: () => Promise<void>
}

/** Reads the first bytes of a stream, and returns them with a stream that still has them. */
export async function peek(source: AsyncIterable<Buffer>, size: number): Promise<Peeked> {
  const chunks = source[Symbol.asyncIterator]()
  const close = async (): Promise<void> => {
    await chunks.return?.()
  }
  let head = Buffer.alloc(0)
  let isWhole = false
  while (head.length < size && !isWhole) {
    const next = await chunks.next()
    if (next.done === true) isWhole = true
    else head = Buffer.concat([head, next.value])
  }
  return { head, isWhole, stream: joinStream(head, chunks, close), close }
}

async function* joinStream(
  head: Buffer,
  rest: AsyncIterator<Buffer>,
  close: () => Promise<void>,
): AsyncGenerator<Buffer> {
  try {
    if (head.length > 0) yield head
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      yield next.value
    }
  } finally {
    await close()
  }
}

/** The first two bytes of gzip (RFC 1952 §2.3.1). */
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b])

/** Unpacks a stream if its first bytes are those of gzip; passes on any other stream as it is. */
export async function* unpack(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { head, stream } = await peek(source, GZIP_MAGIC.length)
  const whole = Readable.from(stream)
  const isGzip = head.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)
  // The consumer gets the errors of both streams, as errors of the stream that it reads.
  yield* (
    isGzip ? pipeline(whole, createGunzip(), () => undefined) : whole
  ) as AsyncIterable<Buffer>
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** Removes the byte order mark that some programs write before UTF-8 text. */
export async function* dropByteOrderMark(stream: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let isFirst = true
  for await (const chunk of stream) {
    const hasMark = isFirst && chunk.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    isFirst = false
    yield hasMark ? chunk.subarray(BYTE_ORDER_MARK.length) : chunk
  }
}
