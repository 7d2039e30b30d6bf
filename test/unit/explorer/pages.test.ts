import { expect, test } from '@jest/globals'
import { describeRows, findLastPage } from '../../../src/explorer/format/numbers.js'

test.each([
  [{ limit: 50, offset: 0, returned: 50, total: 1234 }, '1–50 of 1,234', 24],
  [{ limit: 50, offset: 1200, returned: 34, total: 1234 }, '1,201–1,234 of 1,234', 24],
  [{ limit: 50, offset: 50, returned: 50, total: 100 }, '51–100 of 100', 1],
  [{ limit: 50, offset: 0, returned: 1, total: 1 }, '1–1 of 1', 0],
  [{ limit: 50, offset: 0, returned: 0, total: 0 }, 'Nothing found.', 0],
  [{ limit: 50, offset: 500, returned: 0, total: 60 }, 'Nothing beyond 60.', 1],
])('%j is described as %s, and the last page is %i', (rows, described, last) => {
  expect([describeRows(rows), findLastPage(rows)]).toEqual([described, last])
})
