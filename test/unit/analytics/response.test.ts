/** shapeRows() turns rows of the store into the part of a response that depends on the data. */
import { describe, expect, test } from '@jest/globals'
import { resolveQuery, type Query } from '../../../src/analytics/request/query.js'
import {
  shapeEcho,
  shapeRows,
  type ResponseRows,
  type StoredRow,
} from '../../../src/analytics/response.js'
import type { AnalyticsQueryRequest, AnalyticsQueryResponse } from '../../../src/contract/api.js'
import { fillDefaults } from '../../support/world/world.js'

const period = { start: new Date('2026-01-01'), end: new Date('2026-01-03') }
function shape(
  asked: Partial<AnalyticsQueryRequest>,
  rows: readonly StoredRow[],
  total = rows.length,
): AnalyticsQueryResponse {
  const request = fillDefaults({ date_range: ['2026-01-01', '2026-01-02'], ...asked })
  return shapeBody(request, resolveQuery(request, 'p1', period), { rows, total })
}

const shapeBody = (
  request: AnalyticsQueryRequest,
  query: Query,
  answer: ResponseRows,
): AnalyticsQueryResponse => ({ ...shapeEcho(request, query), ...shapeRows(query, answer) })

describe('the body', () => {
  test('a whole body, with its members in order', () => {
    const filters = [{ type: 'user' as const, anonymous: true }]
    const body = shape(
      {
        metrics: ['pageviews', 'bounce_rate'],
        group_by: ['country'],
        limit: 1,
        offset: 2,
        filters,
      },
      [{ group_key: 'DE', metric_pageviews: 7, metric_bounce_rate: null }],
      9,
    )
    expect(JSON.stringify(body)).toBe(
      JSON.stringify({
        period: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T23:59:59Z' },
        query: {
          date_range: ['2026-01-01', '2026-01-02'],
          metrics: ['pageviews', 'bounce_rate'],
          group_by: ['country'],
          order_by: [],
          limit: 1,
          offset: 2,
          filters,
          filtersOperator: 'and',
        },
        pagination: { limit: 1, offset: 2, returned: 1, total: 9 },
        data: [{ group: { country: 'DE' }, metrics: { pageviews: 7, bounce_rate: null } }],
      }),
    )
  })

  test.each<[Partial<AnalyticsQueryRequest>, object]>([
    [{ group_by: ['interval:auto'] }, {}],
    [{ group_by: ['interval:hour'] }, { interval: 'hour' }],
    [{ group_by: ['interval:year'] }, { interval: 'year' }],
    [{ group_by: ['country'] }, {}],
    [
      { group_by: ['interval:auto'], include: {} },
      { include: {}, interval: 'hour' },
    ],
    [{ group_by: ['country'], time_zone: 'UTC' }, { time_zone: 'UTC' }],
    [
      { group_by: ['interval:auto'], time_zone: 'UTC', include: { totals: true } },
      { include: { totals: true }, time_zone: 'UTC', interval: 'hour' },
    ],
    [
      { group_by: ['interval:week'], time_zone: 'Asia/Tokyo' },
      { time_zone: 'Asia/Tokyo', interval: 'week' },
    ],
  ])('the echo of %j says how large buckets are where they were asked for', (asked, shown) => {
    const { query } = shape(asked, [])
    const members = ['date_range', 'metrics', 'group_by', 'order_by', 'limit', 'offset']
    expect(Object.keys(query)).toEqual([
      ...members,
      'filters',
      'filtersOperator',
      ...Object.keys(shown),
    ])
    expect(query).toMatchObject(shown)
  })

  test('totals, and what was asked for, come after the other members', () => {
    const request = fillDefaults({
      date_range: ['2026-01-01', '2026-01-02'],
      metrics: ['users', 'bounce_rate'],
      group_by: ['os'],
      include: { totals: true },
    })
    const totals = { group_key: '', metric_users: 3, metric_bounce_rate: null }
    const body = shapeBody(request, resolveQuery(request, 'p1', period), {
      rows: [],
      total: 0,
      totals,
    })
    expect(Object.keys(body)).toEqual(['period', 'query', 'pagination', 'data', 'totals'])
    expect(Object.entries(body.query).at(-1)).toEqual(['include', { totals: true }])
    expect(body.totals).toEqual({ metrics: { users: 3, bounce_rate: null } })
  })

  test('a comparison: of every row, of the totals, and of what the other period does not have', () => {
    const request = fillDefaults({
      date_range: ['2026-01-01', '2026-01-02'],
      metrics: ['users', 'bounce_rate'],
      group_by: ['interval:day'],
      compare: ['2025-01-01', '2025-01-01'],
      include: { totals: true },
    })
    const compared = { start: new Date('2025-01-01'), end: new Date('2025-01-02') }
    const query = resolveQuery(request, 'p1', period, compared)
    const shape = (group_key: string | number, users: number) => ({
      group_key,
      metric_users: 3,
      metric_bounce_rate: 50.5,
      compared_users: users,
      compared_bounce_rate: 50,
    })
    const first = period.start.getTime() / 86_400_000
    const body = shapeBody(request, query, {
      rows: [shape(first, 4), shape(first + 1, 0)],
      total: 2,
      totals: shape('', 2),
    })
    const metrics = { users: 3, bounce_rate: 50.5 }
    expect(body).toMatchObject({
      comparison: { period: { from: '2025-01-01T00:00:00Z', to: '2025-01-01T23:59:59Z' } },
      data: [
        {
          metrics,
          comparison: {
            metrics: { users: 4, bounce_rate: 50 },
            change: { users: -25, bounce_rate: 0.5 },
          },
        },
        {
          metrics,
          comparison: {
            metrics: { users: null, bounce_rate: null },
            change: { users: null, bounce_rate: null },
          },
        },
      ],
      totals: {
        metrics,
        comparison: {
          metrics: { users: 2, bounce_rate: 50 },
          change: { users: 50, bounce_rate: 0.5 },
        },
      },
    })
    expect(Object.keys(body)).toEqual([
      ...['period', 'query', 'comparison', 'pagination', 'data', 'totals'],
    ])
    expect(Object.entries(body.query).slice(-3)).toEqual([
      ['include', { totals: true }],
      ['compare', ['2025-01-01', '2025-01-01']],
      ['interval', 'day'],
    ])
  })

  test.each<[Partial<AnalyticsQueryRequest>, string | number, object]>([
    [{}, '', {}],
    [{ group_by: ['os'] }, '', { os: '' }],
    [{ group_by: ['interval:auto'] }, 490_896, { date: '2026-01-01T00:00:00Z' }],
    [{ group_by: ['interval:quarter'] }, 8_104, { date: '2026-01-01T00:00:00Z' }],
    [
      { group_by: ['interval:auto'], time_zone: 'Etc/UTC' },
      490_896,
      { date: '2026-01-01T00:00:00Z' },
    ],
    [
      { group_by: ['interval:day'], time_zone: 'Asia/Kathmandu' },
      1_767_204_900,
      { date: '2026-01-01T00:00:00+05:45' },
    ],
    [{ group_by: ['event:prop:__proto__'] }, 'pro', { 'event:prop:__proto__': 'pro' }],
  ])('the group of %j', (asked, group_key, group) => {
    expect(shape({ ...asked, metrics: ['users'] }, [{ group_key, metric_users: 1 }]).data).toEqual([
      { group, metrics: { users: 1 } },
    ])
  })
})
