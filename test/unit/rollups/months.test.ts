/** The estimate of the time that a rebuild still takes. */
import { expect, test } from '@jest/globals'
import { estimateLeft } from '../../../src/rollups/months.js'

const MONTHS = [
  { month: 202511, rows: 90_000 },
  { month: 202512, rows: 0 },
  { month: 202601, rows: 990_000 },
]

test.each([
  ['as long per row as the months before', 1, 1_000, { months: 2, ms: 10_100 }],
  ['a month without facts takes a moment', 2, 1_100, { months: 1, ms: 10_000 }],
  ['nothing is left', 3, 9_000, { months: 0, ms: 0 }],
])('%s', (_what, done, ms, left) => {
  expect(estimateLeft(MONTHS, done, ms)).toEqual(left)
})
