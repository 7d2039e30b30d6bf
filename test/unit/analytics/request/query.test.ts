/** resolveQuery() turns a request into a query: grouping, default order, page. */
import { describe, expect, test } from '@jest/globals'
import { toTotalsQuery } from '../../../../src/analytics/request/derived-queries.js'
import { resolveQuery } from '../../../../src/analytics/request/query.js'
import type { AnalyticsQueryRequest } from '../../../../src/contract/api.js'
import { fillDefaults } from '../../../support/world/world.js'

const period = { start: new Date('2026-01-01'), end: new Date('2026-02-01') }
const resolve = (request: Partial<AnalyticsQueryRequest>) =>
  resolveQuery(fillDefaults({ date_range: '7days', ...request }), 'p1', period)

describe('resolveQuery', () => {
  test('a request with every default', () => {
    expect(resolve({})).toEqual({
      projectIds: ['p1'],
      period,
      metrics: ['users', 'pageviews', 'events'],
      goals: [],
      grouping: { kind: 'none' },
      thenBy: [],
      predicate: { kind: 'all', of: [] },
      order: { by: 'users', direction: 'desc' },
      limit: 100,
      offset: 0,
      having: [],
      includesLost: false,
      includesTotals: false,
    })
  })

  test.each<[AnalyticsQueryRequest['include'], boolean]>([
    [undefined, false],
    [{}, false],
    [{ totals: false }, false],
    [{ totals: true }, true],
  ])('include %j', (include, includesTotals) => {
    expect(resolve(include === undefined ? {} : { include }).includesTotals).toBe(includesTotals)
  })

  test('the query of the totals has neither groups nor pages', () => {
    const query = resolve({ group_by: ['os'], limit: 5, offset: 5, include: { totals: true } })
    expect(toTotalsQuery(query)).toEqual({
      ...query,
      grouping: { kind: 'none' },
      order: { by: 'group', direction: 'asc' },
      limit: 1,
      offset: 0,
      having: [],
      includesLost: false,
      includesTotals: false,
    })
  })

  test.each<[Partial<AnalyticsQueryRequest>, object]>([
    [{ group_by: ['interval:auto'] }, { kind: 'interval', granularity: 'day' }],
    [{ group_by: ['interval:year'] }, { kind: 'interval', granularity: 'year' }],
    [{ group_by: ['page:path'] }, { kind: 'dimension', dimension: 'page:path' }],
    [{ group_by: ['event:prop:plan'] }, { kind: 'property', name: 'plan' }],
    [{ group_by: ['event:prop:event:prop:'] }, { kind: 'property', name: 'event:prop:' }],
  ])('the grouping of %j', (request, grouping) => {
    expect(resolve(request).grouping).toEqual(grouping)
  })

  test.each<[Partial<AnalyticsQueryRequest>, object]>([
    [
      { metrics: ['events', 'users'], group_by: ['os'] },
      { by: 'events', direction: 'desc' },
    ],
    [{ group_by: ['interval:auto'] }, { by: 'group', direction: 'asc' }],
    [
      { group_by: ['interval:auto'], order_by: [['date', 'desc']] },
      { by: 'group', direction: 'desc' },
    ],
    [
      { group_by: ['os'], order_by: [['os', 'asc']] },
      { by: 'group', direction: 'asc' },
    ],
    [{ order_by: [['pageviews', 'asc']] }, { by: 'pageviews', direction: 'asc' }],
  ])('the order of %j', (request, order) => {
    expect(resolve(request).order).toEqual(order)
  })
})
