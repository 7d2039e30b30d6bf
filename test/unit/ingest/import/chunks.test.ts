/** Ids of chunks, and chunks with only some rows to load again. */
import { expect, test } from '@jest/globals'
import type { FinishedLoad } from '../../../../src/ingest/loader/load-log.js'
import { EMPTY_REPORT, type LoadReport } from '../../../../src/ingest/loader/load-report.js'
import { takeBatch } from '../../../../src/ingest/loader/load-source.js'
import {
  buildChunkId,
  computeFingerprint,
  fingerprintPrefixes,
  nameRetry,
  parseChunkId,
} from '../../../../src/ingest/import/chunk-id.js'
import { leaveOutLastRow } from '../../../../src/ingest/import/chunks.js'
import { blankOtherRows } from '../../../../src/ingest/import/lines.js'

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
  'a chunk that starts at row $firstRow keeps rows $rows in their places (%#)',
  ({ bytes, firstRow, rows, want }) => {
    const count = bytes.replace(/\n$/, '').split('\n').length
    const lines = blankOtherRows({ bytes: Buffer.from(bytes), firstRow, rows: count }, rows)
    expect({ ...lines, bytes: lines.bytes.toString() }).toEqual({
      bytes: want,
      firstRow,
      rows: count,
    })
  },
)

test('each load of a chunk has its own batch name', () => {
  const names = [0, 1, 2].map((times) => nameRetry('import-a-20-b', times))
  expect(names).toEqual(['import-a-20-b', 'import-a-20-b+', 'import-a-20-b++'])
})

test.each([
  { text: 'a', withoutLastLine: '' },
  { text: '\n', withoutLastLine: '' },
  { text: 'a\n', withoutLastLine: '' },
  { text: 'a\nb', withoutLastLine: 'a\n' },
  { text: 'a\nb\n', withoutLastLine: 'a\n' },
  { text: 'a\n\n', withoutLastLine: 'a\n' },
  { text: '\nb', withoutLastLine: '\n' },
  { text: 'ä\r\nb\r\n', withoutLastLine: 'ä\r\n' },
])(
  'an id identifies the whole chunk, and the lines before its last (%#)',
  ({ text, withoutLastLine }) => {
    const parts = [text, withoutLastLine].map((part) => {
      const bytes = Buffer.from(part)
      return { length: bytes.length, fingerprint: computeFingerprint('before', bytes) }
    })
    const name = buildChunkId('before', Buffer.from(text))
    expect(name.startsWith('import-before-')).toBe(true)
    for (const times of [0, 1, 2]) {
      expect(parseChunkId(nameRetry(name, times))).toEqual({
        batch: name,
        whole: parts[0],
        withoutLastLine: parts[1],
      })
    }
  },
)

test('fingerprintPrefixes leaves out prefixes that are longer than the bytes', () => {
  const bytes = Buffer.from('one\ntwo\nthree\n')
  const lengths = [8, 0, 4, 4, bytes.length, bytes.length + 1]
  expect([...fingerprintPrefixes('x', bytes, lengths)]).toEqual(
    [0, 4, 8, bytes.length].map((at) => [at, computeFingerprint('x', bytes.subarray(0, at))]),
  )
  expect(computeFingerprint('x', bytes)).not.toBe(computeFingerprint('y', bytes))
})

test('without its last row, a chunk reports one row less', () => {
  const load = (report: Partial<LoadReport>, rowsLeft: number[] = []): FinishedLoad => ({
    load: { number: 1, ...takeBatch('b'), step: 3, slices: 1 },
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
  expect(cases.map(([given]) => leaveOutLastRow(given, lines))).toEqual(
    cases.map(([, want]) => want),
  )
})
