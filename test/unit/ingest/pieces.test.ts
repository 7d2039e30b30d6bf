/** Pieces of a source that are loaded again in part: their lines keep their numbers. */
import { expect, test } from '@jest/globals'
import { nameAgain, onlyRows } from '../../../src/ingest/pieces.js'

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
])('of $bytes from row $firstRow on rows $rows are $want', ({ bytes, firstRow, rows, want }) => {
  const count = bytes.replace(/\n$/, '').split('\n').length
  const lines = onlyRows({ bytes: Buffer.from(bytes), firstRow, rows: count }, rows)
  expect({ ...lines, bytes: lines.bytes.toString() }).toEqual({
    bytes: want,
    firstRow,
    rows: count,
  })
})

test('each load of a piece has a name of its own, and names its piece', () => {
  const names = [0, 1, 2].map((times) => nameAgain('import-a-20-b', times))
  expect(names).toEqual(['import-a-20-b', 'import-a-20-b+', 'import-a-20-b++'])
})
