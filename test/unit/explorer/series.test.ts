/** readSeries() finds which bucket each one is compared with. */
import { expect, test } from '@jest/globals'
import { readSeries } from '../../../src/explorer/chart/series.js'
import type { QueryAnswer } from '../../../src/explorer/client/contract.js'

const AFTER = new Date('2027-01-01T00:00:00Z')

/** An answer of three buckets that are compared with others. @param from the start of the other period */
const answer = (interval: 'hour' | 'day' | 'week' | 'month', from: string): QueryAnswer => ({
  period: { from: '2026-04-01T00:00:00+02:00', to: '2026-06-30T23:59:59+02:00' },
  query: {
    date_range: '30days',
    metrics: ['users'],
    group_by: [`interval:${interval}`],
    order_by: [],
    limit: 1000,
    offset: 0,
    filters: [],
    filtersOperator: 'and',
    interval,
  },
  comparison: { period: { from, to: '2026-03-31T23:59:59+02:00' } },
  pagination: { limit: 1000, offset: 0, returned: 3, total: 3 },
  data: [1, 2, 3].map((users) => ({
    group: { date: `2026-04-0${users}T00:00:00+02:00` },
    metrics: { users },
    comparison: { metrics: { users: 1 }, change: { users: 100 } },
  })),
})

test.each([
  ['day', '2026-03-29T00:00:00+01:00', ['2026-03-29', '2026-03-30', '2026-03-31']],
  ['day', '2026-02-27T00:00:00+01:00', ['2026-02-27', '2026-02-28', '2026-03-01']],
  ['month', '2025-11-30T00:00:00+01:00', ['2025-11-01', '2025-12-01', '2026-01-01']],
  ['hour', '2026-03-29T00:00:00+01:00', [undefined, undefined, undefined]],
  ['week', '2026-03-29T00:00:00+01:00', [undefined, undefined, undefined]],
] as const)('buckets of one %s are compared with those from %s', (interval, from, want) => {
  const { points } = readSeries(answer(interval, from), false, AFTER)
  expect(points.map(({ comparedLabel }) => comparedLabel?.slice(0, 10))).toEqual(want)
})
