/** unpack() unpacks gzip, and passes on everything else. */
import { describe, expect, test } from '@jest/globals'
import { gzipSync } from 'node:zlib'
import { unpack } from '../../../../../src/ingest/import/formats/byte-stream.js'
import { until } from '../../../../support/until.js'

const TEXT = Buffer.from('{"a":1}\n'.repeat(5_000))
const PACKED = gzipSync(TEXT)

/** Creates a source of chunks of `size` bytes that records whether it was closed. */
function source(bytes: Buffer, size = 1_000) {
  const state = { isEnded: false }
  async function* chunks(): AsyncGenerator<Buffer> {
    try {
      for (let at = 0; at < bytes.length; at += size) {
        yield await Promise.resolve(bytes.subarray(at, at + size))
      }
    } finally {
      state.isEnded = true
    }
  }
  return { chunks: chunks(), state }
}

async function read(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

describe('unpack', () => {
  test.each([
    { what: 'plain text', given: TEXT, want: TEXT },
    { what: 'gzip', given: PACKED, want: TEXT },
    {
      what: 'gzip of several members',
      given: Buffer.concat([PACKED, gzipSync('b\n'), gzipSync('c\n')]),
      want: Buffer.concat([TEXT, Buffer.from('b\nc\n')]),
    },
    { what: 'gzip of nothing', given: gzipSync(''), want: Buffer.alloc(0) },
    { what: 'nothing', given: Buffer.alloc(0), want: Buffer.alloc(0) },
    { what: 'one byte', given: Buffer.from('a'), want: Buffer.from('a') },
    { what: 'the first byte of gzip', given: Buffer.from([0x1f]), want: Buffer.from([0x1f]) },
    { what: 'two bytes', given: Buffer.from('ab'), want: Buffer.from('ab') },
    {
      what: 'almost the first bytes of gzip',
      given: Buffer.from([0x1f, 0x8c, 1]),
      want: Buffer.from([0x1f, 0x8c, 1]),
    },
  ])('$what', async ({ given, want }) => {
    for (const size of [1, 2, 3, 1_000_000]) {
      const bytes = given.length > 1_000 && size < 3 ? 997 : size
      expect((await read(unpack(source(given, bytes).chunks))).equals(want)).toBe(true)
    }
  })

  test('gzip is detected behind empty chunks', async () => {
    async function* chunks(): AsyncGenerator<Buffer> {
      yield Buffer.alloc(0)
      yield await Promise.resolve(PACKED.subarray(0, 1))
      yield Buffer.alloc(0)
      yield PACKED.subarray(1)
    }
    expect((await read(unpack(chunks()))).equals(TEXT)).toBe(true)
  })

  test.each([
    { what: 'cut short', given: PACKED.subarray(0, PACKED.length - 9) },
    { what: 'ends after the first bytes', given: PACKED.subarray(0, 2) },
    { what: 'damaged', given: Buffer.concat([PACKED.subarray(0, 60), Buffer.alloc(60, 0xff)]) },
    {
      what: 'with a wrong checksum',
      given: Buffer.concat([PACKED.subarray(0, -8), Buffer.alloc(8)]),
    },
  ])('gzip that is $what is an error', async ({ given }) => {
    await expect(read(unpack(source(given).chunks))).rejects.toThrow(
      /unexpected end of file|invalid|incorrect/,
    )
  })

  test.each([
    { what: 'plain', given: TEXT },
    { what: 'gzip', given: PACKED },
  ])('errors of the source are passed on: $what', async ({ given }) => {
    async function* broken(): AsyncGenerator<Buffer> {
      yield await Promise.resolve(given.subarray(0, 30))
      throw new Error('unreadable')
    }
    await expect(read(unpack(broken()))).rejects.toThrow('unreadable')
  })

  test.each([
    { what: 'plain', given: TEXT },
    { what: 'gzip', given: gzipSync(TEXT, { level: 0 }) },
  ])('a source that is not read to its end is closed: $what', async ({ given }) => {
    const { chunks, state } = source(given, 100)
    const reading = unpack(chunks)
    await reading.next()
    await reading.return(undefined)
    await until(() => state.isEnded)
  })
})
