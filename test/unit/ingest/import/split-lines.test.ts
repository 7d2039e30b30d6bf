/** A split stream has each line once, in the stream that it belongs to, with its number. */
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { LineTooLongError } from '../../../../src/ingest/import/formats/format.js'
import { fanOut, type FanOut } from '../../../../src/ingest/import/shards/fan-out.js'
import { splitLines } from '../../../../src/ingest/import/shards/split-lines.js'
import { splitIntoChunks } from '../../../support/sources/sources.js'

/** Sends a line to the stream that its first character names. */
const route = (bytes: Buffer, start: number, end: number): number =>
  end > start ? Number(String.fromCharCode(bytes[start]!)) || 0 : 0

const split = (source: AsyncIterable<Buffer>, count: number, maxLineBytes = 100) =>
  splitLines(source, { count, route, maxLineBytes })

async function readAll(stream: AsyncIterable<Buffer>): Promise<string> {
  const read: Buffer[] = []
  for await (const bytes of stream) read.push(bytes)
  return Buffer.concat(read).toString()
}

const readSplit = ({ streams }: FanOut): Promise<string[]> => Promise.all(streams.map(readAll))

describe('splitting', () => {
  test.each<[string, string, string[]]>([
    ['nothing', '', ['', '']],
    ['one line', '1a\n', ['\n', '1a\n']],
    ['a last line without a line end', '0a\n1b', ['0a\n', '\n1b']],
    ['line ends of two characters', '1a\r\n0b\r\n', ['\n0b\r\n', '1a\r\n\n']],
    ['blank lines', '\n1a\n\n', ['\n\n\n', '\n1a\n\n']],
    ['UTF-8', '1é😀\n0漢\n', ['\n0漢\n', '1é😀\n\n']],
  ])('%s', async (_what, text, want) => {
    for (const size of [1, 2, 1_000]) {
      const parts = split(splitIntoChunks(text, [size]), 2)
      expect(await readSplit(fanOut(parts, 2, 1_000_000))).toEqual(want)
    }
  })

  test('all lines are there once, with their numbers', async () => {
    const lines = fc.array(fc.stringMatching(/^[0-2]?[a-c]{0,3}$/), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(
        lines,
        fc.boolean(),
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }),
        fc.integer({ min: 1, max: 30 }),
        async (texts, hasEnd, sizes, maxWaiting) => {
          const text = texts.join('\n') + (hasEnd ? '\n' : '')
          const parts = split(splitIntoChunks(text, sizes), 3)
          const read = await readSplit(fanOut(parts, 3, maxWaiting))
          const rows = read.map((stream) => stream.split('\n'))
          const joined = text
            .split('\n')
            .map((_, row) => rows.map((own) => own[row] ?? '').join(''))
          expect(joined.join('\n')).toBe(text)
          rows.forEach((own, i) =>
            own
              .filter((line) => line !== '')
              .forEach((line) => expect(Number(line[0]) || 0).toBe(i)),
          )
        },
      ),
    )
  })

  test('a line that is too long is an error with its number', async () => {
    const { streams } = fanOut(
      split(splitIntoChunks(`0\n1\n${'x'.repeat(101)}`, [10]), 2),
      2,
      1_000,
    )
    const error = new LineTooLongError(3, 100)
    for (const outcome of await Promise.allSettled(streams.map(readAll))) {
      expect(outcome).toEqual({ status: 'rejected', reason: error })
    }
  })
})

/** Yields blocks for two consumers; records how many were read and whether it was closed. */
function countReads(blocks: number, failure?: Error) {
  const state = { read: 0, isClosed: false }
  async function* source(): AsyncGenerator<readonly Buffer[]> {
    try {
      for (; state.read < blocks;) {
        state.read += 1
        yield await Promise.resolve([Buffer.from('0123456789'), Buffer.from('abcdefghij')])
      }
      if (failure !== undefined) throw failure
    } finally {
      state.isClosed = true
    }
  }
  return { state, source: source() }
}

describe('streams', () => {
  test('one that is not read holds up the others at the limit, until it is read', async () => {
    const { state, source } = countReads(10)
    const { streams } = fanOut(source, 2, 30)
    const [fast, slow] = streams as [AsyncIterableIterator<Buffer>, AsyncIterableIterator<Buffer>]
    for (let i = 0; i < 3; i += 1) await fast.next()
    const waiting = fast.next()
    await new Promise((go) => setTimeout(go, 20))
    expect(state.read).toBe(3)
    expect((await slow.next()).value).toEqual(Buffer.from('abcdefghij'))
    expect((await waiting).value).toEqual(Buffer.from('0123456789'))
    expect(state.read).toBe(4)
  })

  test('one that ends early does not hold up the others', async () => {
    const { state, source } = countReads(10)
    const { streams } = fanOut(source, 2, 30)
    await streams[1]!.return!()
    expect(await readAll(streams[0]!)).toHaveLength(100)
    expect(state).toEqual({ read: 10, isClosed: true })
  })

  test('the source is closed once all have ended early', async () => {
    const { state, source } = countReads(10)
    const { streams } = fanOut(source, 2, 30)
    await streams[0]!.next()
    await streams[0]!.return!()
    expect(state).toEqual({ read: 1, isClosed: false })
    await streams[1]!.return!()
    expect(state).toEqual({ read: 1, isClosed: true })
    expect(await readAll(streams[1]!)).toBe('')
  })

  test('closing ends all, also one that waits', async () => {
    const { state, source } = countReads(10)
    const { streams, close } = fanOut(source, 2, 30)
    const fast = readAll(streams[0]!)
    await new Promise((go) => setTimeout(go, 20))
    await close()
    expect(await fast).toHaveLength(30)
    expect(await readAll(streams[1]!)).toBe('')
    expect(state.isClosed).toBe(true)
  })

  test('all get what was read before an error, and then the error', async () => {
    const failure = new Error('cannot be read')
    const { streams } = fanOut(countReads(2, failure).source, 2, 100)
    for (const stream of streams) {
      expect((await stream.next()).done).toBe(false)
      expect((await stream.next()).done).toBe(false)
      await expect(stream.next()).rejects.toBe(failure)
      await expect(stream.next()).rejects.toBe(failure)
    }
  })
})
