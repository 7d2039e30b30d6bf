/** Pieces of a source that are loaded again in part: their lines keep their numbers. */
import { expect, test } from '@jest/globals'
import { withoutLast } from '../../../../src/ingest/import/partial-chunk.js'
import { type FinishedLoad } from '../../../../src/ingest/loader/load-log.js'
import { EMPTY_REPORT, type LoadReport } from '../../../../src/ingest/loader/load-report.js'
import { fingerprint, nameOf, partsOf, printsOf } from '../../../../src/ingest/import/chunk-id.js'
import { nameAgain, onlyRows } from '../../../../src/ingest/import/chunks.js'

test.each([
  { bytes: 'a\nb\nc\n', firstRow: 1, rows: [1, 2, 3], want: 'a\nb\nc\n' },
  { bytes: 'a\nb\nc\n', firstRow: 1, rows: [2], want: '\nb\n\n' },
  { bytes: 'a\nb\nc\n', firstRow: 7, rows: [9, 7], want: 'a\n\nc\n' },
  { bytes: 'a\nb', firstRow: 1, rows: [2], want: '\nb' },
  { bytes: 'a\nb', firstRow: 1, rows: [1], want: 'a\n\n' },
  { bytes: '\n\na\r\n\n', firstRow: 4, rows: [6], want: '\n\na\r\n\n' },
  { bytes: 'ä\n\u{1f600}\n', firstRow: 1, rows: [2], want: '\n\u{1f600}\n' },
  { bytes: 'a\n', firstRow: 1, rows: [], want: '\n' },
  { bytes: 'a\n', firstRow: 2, rows: [1, 3], want: '\n' },
])(
  'of a piece from row $firstRow on, rows $rows keep their places (%#)',
  ({ bytes, firstRow, rows, want }) => {
    const count = bytes.replace(/\n$/, '').split('\n').length
    const lines = onlyRows({ bytes: Buffer.from(bytes), firstRow, rows: count }, rows)
    expect({ ...lines, bytes: lines.bytes.toString() }).toEqual({
      bytes: want,
      firstRow,
      rows: count,
    })
  },
)

test('each load of a piece has a name of its own, and names its piece', () => {
  const names = [0, 1, 2].map((times) => nameAgain('import-a-20-b', times))
  expect(names).toEqual(['import-a-20-b', 'import-a-20-b+', 'import-a-20-b++'])
})

test.each([
  { text: 'a', body: '' },
  { text: '\n', body: '' },
  { text: 'a\n', body: '' },
  { text: 'a\nb', body: 'a\n' },
  { text: 'a\nb\n', body: 'a\n' },
  { text: 'a\n\n', body: 'a\n' },
  { text: '\nb', body: '\n' },
  { text: 'ä\r\nb\r\n', body: 'ä\r\n' },
])(
  'the name of a piece tells of it, and of what is before its last line (%#)',
  ({ text, body }) => {
    const parts = [text, body].map((part) => {
      const bytes = Buffer.from(part)
      return { length: bytes.length, print: fingerprint('before', bytes) }
    })
    const name = nameOf('before', Buffer.from(text))
    expect(name.startsWith('import-before-')).toBe(true)
    for (const times of [0, 1, 2]) {
      expect(partsOf(nameAgain(name, times))).toEqual({
        batch: name,
        whole: parts[0],
        body: parts[1],
      })
    }
  },
)

test('fingerprints of many lengths are those of each, as far as there are bytes', () => {
  const bytes = Buffer.from('one\ntwo\nthree\n')
  const lengths = [8, 0, 4, 4, bytes.length, bytes.length + 1]
  expect([...printsOf('x', bytes, lengths)]).toEqual(
    [0, 4, 8, bytes.length].map((at) => [at, fingerprint('x', bytes.subarray(0, at))]),
  )
  expect(fingerprint('x', bytes)).not.toBe(fingerprint('y', bytes))
})

test('without its last row, a piece came to one thing less, whatever that was', () => {
  const load = (report: Partial<LoadReport>, rowsLeft: number[] = []): FinishedLoad => ({
    load: { number: 1, batch: 'b', step: 3 },
    report: { ...EMPTY_REPORT, ...report },
    rowsLeft,
  })
  const lines = { bytes: Buffer.from('a\n \nb\n'), firstRow: 5, rows: 3 }
  const cases: readonly (readonly [given: FinishedLoad[], want: FinishedLoad[]])[] = [
    [[load({ received: 3, events: 3 })], [load({ received: 2, events: 2 })]],
    [[load({ received: 3, bots: 3 })], [load({ received: 2, bots: 2 })]],
    [[load({ received: 2, events: 2 })], [load({ received: 2, events: 2 })]],
    [
      [load({ received: 3, events: 2, rejected: 1 }, [8])],
      [load({ received: 2, events: 2, rejected: 1 }, [])],
    ],
    [
      [
        load({ received: 3, events: 1, rejected: 2 }, [7, 8]),
        load({ received: 2, events: 1, rejected: 1 }, [7]),
      ],
      [load({ received: 2, events: 1, rejected: 2 }, [7]), load({ received: 1, rejected: 1 }, [7])],
    ],
  ]
  expect(cases.map(([given]) => withoutLast(given, lines))).toEqual(cases.map(([, want]) => want))
})
