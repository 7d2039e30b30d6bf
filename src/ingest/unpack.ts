/** Unpacks a stream that is gzip'd, and passes on one that is not. */
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

/** The bytes of a source, unpacked if its first two say that it is gzip. */
export async function* unpack(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < 2) {
    const next = await chunks.next()
    if (next.done === true) break
    head = Buffer.concat([head, next.value])
  }
  const whole = Readable.from(prepend(head, chunks))
  const isGzip = head[0] === 0x1f && head[1] === 0x8b
  // The consumer sees the errors of both, as errors of the stream it reads.
  yield* (
    isGzip ? pipeline(whole, createGunzip(), () => undefined) : whole
  ) as AsyncIterable<Buffer>
}

/** Ends the rest as well when it is read no further. */
async function* prepend(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    if (head.length > 0) yield head
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      yield next.value
    }
  } finally {
    await rest.return?.()
  }
}
