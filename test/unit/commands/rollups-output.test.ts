/** The output of a check of the rollups. */
import { describe, expect, test } from '@jest/globals'
import { formatMonth, printReport } from '../../../src/commands/rollups-output.js'
import type { CheckReport, Difference } from '../../../src/rollups/check.js'

const pages: Difference = {
  rollup: 'events_daily',
  projectId: 'shop',
  dimension: 'event:prop:plan',
  value: 'a\nb',
  date: '2026-01-31',
  stored: { pageviews: 0, events: 2 },
  facts: { pageviews: 0, events: 1 },
}
const users: Difference = {
  rollup: 'users_monthly',
  projectId: 'shop',
  dimension: 'total',
  value: '',
  date: '2026-01-01',
  stored: { users: 3 },
  facts: { users: 3 },
}

describe('printReport', () => {
  test.each<[string, Pick<CheckReport, 'different' | 'differences'>, string]>([
    ['nothing differs', { different: 0, differences: [] }, 'differ  none'],
    [
      'all differences, one per line',
      { different: 2, differences: [pages, users] },
      `differ  2

ROLLUP         PROJECT  DIMENSION        VALUE   DATE        STORED                 EVENTS
events_daily   shop     event:prop:plan  "a\\nb"  2026-01-31  pageviews 0, events 2  pageviews 0, events 1
users_monthly  shop     total            ""      2026-01-01  users 3                users 3 (different ones)`,
    ],
    [
      'more differences than are listed',
      { different: 1_200, differences: [users] },
      `differ  1,200

ROLLUP         PROJECT  DIMENSION  VALUE  DATE        STORED   EVENTS
users_monthly  shop     total      ""     2026-01-01  users 3  users 3 (different ones)
… and more`,
    ],
  ])('%s', (_why, given, want) => {
    const lines: string[] = []
    const print = (text: string): number => lines.push(text)
    printReport({ print } as never, { months: 2, groups: 1_500, ...given }, {})
    expect(lines.join('\n')).toBe(`months  2\ngroups  1,500\n${want}`)
  })
})

test('formatMonth', () => {
  expect([202_601, 199_912].map(formatMonth)).toEqual(['2026-01', '1999-12'])
})
