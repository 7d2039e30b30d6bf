/** The longest queries that the contract allows, over months, days and parts of days. */
import { beforeAll, expect, test } from '@jest/globals'
import type { AnalyticsQueryRequest, Filter, Metric } from '../../../src/contract/api.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { withDatabase } from '../../support/store/database.js'
import { runQuery, createWorld } from '../../support/world/world.js'

const database = withDatabase()
let project: StoredProject
beforeAll(async () => {
  const properties = { plan: 'pro' }
  project = await createWorld(database.store, [
    { timestamp: '2025-01-05T10:00:00Z', user_id: 'u1', path: '/a', properties },
    { timestamp: '2025-02-01T10:00:00Z', user_id: 'u2', path: '/a', properties },
    { timestamp: '2025-02-03T01:00:00Z', user_id: 'u1', path: '/a', properties },
  ])
})

const clause = (n: number) => ({ value: `nothing ${n}`, operator: 'notContains' as const })
const ofPages = Array.from({ length: 20 }, (_, n): Filter => ({ type: 'page', path: clause(n) }))
const ofProperty: Filter = {
  type: 'event',
  properties: Array.from({ length: 40 }, (_, n) => ({ property: 'plan', ...clause(n) })),
}

test.each<[AnalyticsQueryRequest['group_by'], readonly Filter[], string, Metric]>([
  [['page:path'], ofPages, '/a', 'users'],
  [['page:path'], ofPages, '/a', 'pageviews'],
  [['event:prop:plan'], [ofProperty], 'pro', 'users'],
  [['event:prop:plan'], [ofProperty], 'pro', 'pageviews'],
])('the maximum number of clauses, grouped by %j', async (group_by, filters, value, first) => {
  const { data } = await runQuery(database.store, project, {
    date_range: ['2025-01-01', '2025-02-03T12:00:00Z'],
    metrics: ['users', 'pageviews', 'events', 'bounce_rate', 'visit_duration', 'visits'],
    group_by,
    order_by: [[first, 'desc']],
    filters: [...filters],
  })
  const isOfPages = group_by[0] === 'page:path'
  expect(data).toEqual([
    {
      group: { [group_by[0]!]: value },
      metrics: {
        users: 2,
        pageviews: 3,
        events: 0,
        bounce_rate: isOfPages ? 100 : null,
        visit_duration: isOfPages ? 0 : null,
        visits: isOfPages ? 3 : null,
      },
    },
  ])
})
