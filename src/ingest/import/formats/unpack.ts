/** Unpacks a stream that is gzip'd, and passes on one that is not. */
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { peek } from './peek.js'

/** The bytes of a source, unpacked if its first two say that it is gzip. */
export async function* unpack(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { head, stream } = await peek(source, 2)
  const whole = Readable.from(stream)
  const isGzip = head[0] === 0x1f && head[1] === 0x8b
  // The consumer sees the errors of both, as errors of the stream it reads.
  yield* (
    isGzip ? pipeline(whole, createGunzip(), () => undefined) : whole
  ) as AsyncIterable<Buffer>
}
