/** A time zone means the same in all operations that know one: the period of a request is that of a query. */
import { expect, test } from '@jest/globals'
import { FUNNEL } from '../../../../src/analytics/operations/funnel.js'
import { JOURNEYS } from '../../../../src/analytics/operations/journeys.js'
import { QUERY } from '../../../../src/analytics/operations/query.js'
import { VALUES } from '../../../../src/analytics/operations/values.js'
import { resolveAllowedPeriod } from '../../../../src/analytics/request/allowed-period.js'
import type { DateRange } from '../../../../src/contract/api.js'

const NOW = new Date('2026-03-29T20:00:00Z')
const PROJECT = {
  ...{ id: 'shop', createdAt: new Date('2026-01-15T23:30:00Z'), shards: [] },
  ...{ retentionDays: null, keepDays: null, hasCutSessions: false, isWidening: false },
}
const FILTERS = { filters: [], filtersOperator: 'and' } as const
const PAGE = { ...FILTERS, order_by: [], limit: 100, offset: 0 }

test.each(
  ['Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns'].flatMap((zone) =>
    (['today', '7days', 'mtd', 'all', '1hr', ['2026-03-28', '2026-03-29']] as const).map(
      (range: DateRange) => ({ zone, range }),
    ),
  ),
)('$range in $zone', ({ zone: time_zone, range: date_range }) => {
  const asked = { date_range, time_zone }
  const at = [PROJECT, null, NOW] as const
  const query = QUERY.resolve({ ...asked, ...PAGE, metrics: ['users'], group_by: [] }, ...at)
  const values = VALUES.resolve({ ...asked, field: 'country', search: '', limit: 1 }, ...at)
  const funnel = FUNNEL.resolve({ ...asked, ...FILTERS, steps: [], within: 'visit' }, ...at)
  const journeys = JOURNEYS.resolve(
    { ...asked, ...FILTERS, kinds: ['page'], depth: 1, limit: 1 },
    ...at,
  )
  const exported = resolveAllowedPeriod(asked, ...at)
  expect([values.period, funnel.period, journeys.period, exported]).toEqual(
    Array(4).fill(query.period),
  )
})
