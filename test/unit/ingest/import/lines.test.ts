/** A line reader cuts a stream of bytes into chunks of whole lines. */
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { LineTooLongError } from '../../../../src/ingest/import/formats/format.js'
import { createLineReader, type Lines } from '../../../../src/ingest/import/lines.js'

async function* stream(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield await Promise.resolve(chunk)
}

async function cut(
  source: AsyncIterable<Buffer>,
  size: number,
  maxRows = Infinity,
): Promise<Lines[]> {
  const taken: Lines[] = []
  const reader = createLineReader(source)
  for (;;) {
    const length = await reader.measureChunk(size, maxRows)
    if (length === 0) return taken
    taken.push(reader.take(length))
  }
}

const short = ({ bytes, firstRow, rows }: Lines): readonly [string, number, number] => [
  bytes.toString(),
  firstRow,
  rows,
]

interface Case {
  readonly what: string
  readonly given: readonly string[]
  readonly want: readonly (readonly [bytes: string, firstRow: number, rows: number])[]
}

const CASES: readonly Case[] = [
  { what: 'nothing', given: [], want: [] },
  { what: 'an empty chunk', given: [''], want: [] },
  { what: 'no newline at the end', given: ['a\nb'], want: [['a\nb', 1, 2]] },
  { what: 'a newline at the end', given: ['a\nb\n'], want: [['a\nb\n', 1, 2]] },
  { what: 'carriage returns are kept', given: ['a\r\nb\r\n'], want: [['a\r\nb\r\n', 1, 2]] },
  { what: 'blank lines are lines', given: ['\n\n', 'a\n\n'], want: [['\n\na\n\n', 1, 4]] },
  { what: 'a byte order mark is dropped', given: ['\uFEFFa\nb'], want: [['a\nb', 1, 2]] },
  { what: 'nothing but a byte order mark', given: ['\uFEFF'], want: [] },
  { what: 'a second byte order mark is kept', given: ['a\n\uFEFFb'], want: [['a\n\uFEFFb', 1, 2]] },
  {
    what: 'chunks end where a line ends',
    given: ['aaaa\nbb', 'bb\ncccc\nd', 'ddd\ne'],
    want: [
      ['aaaa\nbbbb\n', 1, 2],
      ['cccc\ndddd\n', 3, 2],
      ['e', 5, 1],
    ],
  },
  {
    what: 'a line that fills a chunk',
    given: ['123456789\n', 'a\n'],
    want: [
      ['123456789\n', 1, 1],
      ['a\n', 2, 1],
    ],
  },
]

describe('createLineReader', () => {
  test.each(CASES)('$what', async ({ given, want }) => {
    const chunks = await cut(stream(given.map((text) => Buffer.from(text))), 10)
    expect(chunks.map(short)).toEqual(want)
  })

  test('a byte order mark is dropped however the bytes arrive', async () => {
    const bytes = Buffer.from('\uFEFFé1\né2')
    for (let at = 0; at <= bytes.length; at += 1) {
      const chunks = await cut(stream([bytes.subarray(0, at), bytes.subarray(at)]), 100)
      expect(chunks.map(short)).toEqual([['é1\né2', 1, 2]])
    }
  })

  test('all bytes are kept, in chunks of whole lines with consecutive numbers, however they arrive', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('', 'a', 'é', '\r', 'long line'), { maxLength: 30 }),
        fc.array(fc.nat(80), { maxLength: 8 }),
        fc.integer({ min: 20, max: 60 }),
        async (lines, cuts, size) => {
          const bytes = Buffer.from(lines.join('\n'))
          const ends = [...cuts.map((at) => Math.min(at, bytes.length)), bytes.length].sort(
            (a, b) => a - b,
          )
          const chunks = ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end))
          const taken = await cut(stream(chunks), size)
          expect(Buffer.concat(taken.map((one) => one.bytes))).toEqual(bytes)
          // The chunks are the same if all bytes arrive at once.
          expect(await cut(stream([bytes]), size)).toEqual(taken)
          for (const [i, one] of taken.entries()) {
            const before = Buffer.concat(taken.slice(0, i).map((one) => one.bytes)).toString()
            const own = one.bytes.toString()
            expect(one.firstRow).toBe(before.split('\n').length)
            expect(one.rows).toBe(own.replace(/\n$/, '').split('\n').length)
            expect(own.endsWith('\n') || i === taken.length - 1).toBe(true)
          }
        },
      ),
    ))

  test.each([
    { what: 'in one chunk', given: ['x'.repeat(11)], row: 1 },
    { what: 'after other lines', given: ['a\nb\n12345\n', 'x'.repeat(11)], row: 4 },
    { what: 'in many chunks', given: Array.from({ length: 11 }, () => 'x'), row: 1 },
  ])('a line longer than a chunk is an error: $what', async ({ given, row }) => {
    const chunks = given.map((text) => Buffer.from(text))
    const size = 10
    const error = await cut(stream(chunks), size).catch((reason: unknown) => reason)
    expect(error).toEqual(new LineTooLongError(row, size))
    expect((error as Error).message).toBe(`row ${row}: is longer than 10 bytes`)
  })

  test('peek() takes nothing, and close() closes the source early', async () => {
    let hasEnded = false
    async function* source(): AsyncGenerator<Buffer> {
      try {
        yield await Promise.resolve(Buffer.from('a\nb\n'))
        yield Buffer.from('c\n')
      } finally {
        hasEnded = true
      }
    }
    const reader = createLineReader(source())
    expect([(await reader.peek(2)).toString(), reader.row]).toEqual(['a\nb\n', 1])
    expect(short(reader.take(2))).toEqual(['a\n', 1, 1])
    expect([(await reader.peek(9)).toString(), reader.row]).toEqual(['b\nc\n', 2])
    await reader.close()
    expect(hasEnded).toBe(true)
  })

  test('errors of the source are passed on', async () => {
    async function* broken(): AsyncGenerator<Buffer> {
      yield await Promise.resolve(Buffer.from('a\n'))
      throw new Error('unreadable')
    }
    await expect(cut(broken(), 100)).rejects.toThrow('unreadable')
  })
})
