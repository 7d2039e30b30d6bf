/** Peeks at the start of byte streams, and unpacks them. */
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

export interface Peeked {
  /** At least the requested number of bytes; fewer if the stream is shorter. */
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
  return { head, isWhole, stream: prependHead(head, chunks, close), close }
}

/** Yields the head, then the rest; closes the source at the end or when the consumer stops early. */
async function* prependHead(
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

/** The byte of a line end, LF. */
export const NEWLINE = 10

/** U+FEFF in UTF-8; some programs write it before the text. */
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** Returns the length of the byte order mark at the start of `head`; 0 if there is none. */
export const measureByteOrderMark = (head: Buffer): number =>
  head.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0

/** Removes the byte order mark; the first chunk must hold it whole. */
export async function* dropByteOrderMark(stream: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let isFirst = true
  for await (const chunk of stream) {
    yield isFirst ? chunk.subarray(measureByteOrderMark(chunk)) : chunk
    isFirst = false
  }
}
