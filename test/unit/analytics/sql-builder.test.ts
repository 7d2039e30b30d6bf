/** Statements: exact text and parameters of each shape, and text that no value of a request changes. */
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { planQuery } from '../../../src/analytics/planner.js'
import { resolveQuery } from '../../../src/analytics/query.js'
import { buildStatement } from '../../../src/analytics/sql-builder.js'
import type { AnalyticsQueryRequest } from '../../../src/api.js'
import type { Statement } from '../../../src/clickhouse/sql.js'
import { question } from '../../support/arbitrary.js'
import { filled } from '../../support/world.js'

const JANUARY = { start: new Date('2026-01-01'), end: new Date('2026-02-01') }
const START = '2026-01-01 00:00:00.000'
const END = '2026-02-01 00:00:00.000'

const build = (
  request: Partial<AnalyticsQueryRequest>,
  project = 'p1',
  period = JANUARY,
): Statement =>
  buildStatement(
    planQuery(resolveQuery(filled({ date_range: '7days', ...request }), project, period)),
  )

const params = (...values: unknown[]) =>
  Object.fromEntries(values.map((value, i) => [`p${i}`, value]))
const T = "DateTime64(3, 'UTC')"

describe('buildStatement', () => {
  test('an aggregate of events', () => {
    expect(build({})).toEqual({
      query:
        "SELECT group_key, measure_users AS metric_users, measure_pageviews AS metric_pageviews, measure_events AS metric_events FROM (SELECT '' AS group_key, uniqExact(user) AS measure_users, countIf(name = 'pageview') AS measure_pageviews, countIf(name != 'pageview') AS measure_events FROM events " +
        `WHERE project_id = {p0:String} AND timestamp >= {p1:${T}} AND timestamp < {p2:${T}}) ` +
        'ORDER BY metric_users DESC NULLS LAST, group_key ASC LIMIT {p3:UInt32} OFFSET {p4:UInt32}',
      query_params: params('p1', START, END, 100, 0),
    })
  })

  test('a breakdown by a session attribute, of events and visits', () => {
    expect(
      build({
        metrics: ['users', 'bounce_rate', 'visit_duration'],
        group_by: ['country'],
        order_by: [['visit_duration', 'asc']],
        limit: 5,
        offset: 10,
      }),
    ).toEqual({
      query:
        'SELECT group_key, measure_users AS metric_users, ' +
        'if(measure_visits > 0, intDivOrZero(2 * 10000 * measure_bounces + measure_visits, 2 * measure_visits) / 100, NULL) AS metric_bounce_rate, ' +
        'if(measure_visits > 0, intDivOrZero(measure_duration + 5 * measure_visits, 10 * measure_visits) / 100, NULL) AS metric_visit_duration ' +
        'FROM (SELECT group_key, sum(parts.measure_users) AS measure_users, sum(parts.measure_visits) AS measure_visits, sum(parts.measure_bounces) AS measure_bounces, sum(parts.measure_duration) AS measure_duration ' +
        'FROM (SELECT country AS group_key, uniqExact(user) AS measure_users, 0 AS measure_visits, 0 AS measure_bounces, 0 AS measure_duration, true AS is_row FROM events ' +
        `WHERE project_id = {p0:String} AND timestamp >= {p1:${T}} AND timestamp < {p2:${T}} GROUP BY group_key ` +
        'UNION ALL SELECT country AS group_key, 0 AS measure_users, sum(toInt64(sign)) AS measure_visits, sumIf(toInt64(sign), pageviews = 1 AND events = 0) AS measure_bounces, sum(sign * (toUnixTimestamp64Milli(end_at) - toUnixTimestamp64Milli(start_at))) AS measure_duration, false AS is_row FROM sessions ' +
        `WHERE project_id = {p3:String} AND pageviews > 0 AND start_at >= {p4:${T}} AND start_at < {p5:${T}} GROUP BY group_key` +
        ') AS parts GROUP BY group_key HAVING max(is_row)) ' +
        'ORDER BY metric_visit_duration ASC NULLS LAST, group_key ASC LIMIT {p6:UInt32} OFFSET {p7:UInt32}',
      query_params: params('p1', START, END, 'p1', START, END, 5, 10),
    })
  })

  test('a time series: every bucket of the period is a row', () => {
    expect(build({ metrics: ['pageviews'], group_by: ['interval:auto'] })).toEqual({
      query:
        'SELECT group_key, measure_pageviews AS metric_pageviews FROM (SELECT group_key, sum(parts.measure_pageviews) AS measure_pageviews FROM (' +
        "SELECT intDiv(toUnixTimestamp64Milli(timestamp), 86400000) AS group_key, countIf(name = 'pageview') AS measure_pageviews, true AS is_row FROM events " +
        `WHERE project_id = {p0:String} AND timestamp >= {p1:${T}} AND timestamp < {p2:${T}} GROUP BY group_key ` +
        'UNION ALL SELECT arrayJoin(range({p3:Int64}, {p4:Int64})) AS group_key, 0 AS measure_pageviews, true AS is_row' +
        ') AS parts GROUP BY group_key HAVING max(is_row)) ORDER BY group_key ASC LIMIT {p5:UInt32} OFFSET {p6:UInt32}',
      query_params: params('p1', START, END, 20454, 20485, 100, 0),
    })
  })

  test('visits of which single events are filtered for', () => {
    const { query, query_params } = build({
      metrics: ['bounce_rate'],
      filters: [
        { type: 'page', path: { value: '/a', operator: 'eq' } },
        { type: 'browser', value: ['Chrome'], operator: 'oneOf' },
      ],
      filtersOperator: 'or',
    })
    expect(query).toContain(
      `FROM sessions WHERE project_id = {p0:String} AND pageviews > 0 AND start_at >= {p1:${T}} AND start_at < {p2:${T}} AND session IN (` +
        `SELECT session FROM events WHERE project_id = {p3:String} AND timestamp >= {p4:${T}} AND timestamp <= (` +
        `SELECT max(end_at) FROM sessions WHERE project_id = {p5:String} AND pageviews > 0 AND start_at >= {p6:${T}} AND start_at < {p7:${T}}) ` +
        'AND (path = {p8:String} OR browser IN {p9:Array(String)}))',
    )
    expect(query_params).toEqual(
      params('p1', START, END, 'p1', START, 'p1', START, END, '/a', ['Chrome'], 100, 0),
    )
  })

  test('a breakdown by a property, which has no visits', () => {
    expect(build({ metrics: ['users', 'bounce_rate'], group_by: ['event:prop:plan'] })).toEqual({
      query:
        'SELECT group_key, measure_users AS metric_users, NULL AS metric_bounce_rate FROM (' +
        'SELECT properties[{p0:String}] AS group_key, uniqExact(user) AS measure_users FROM events ' +
        `WHERE project_id = {p1:String} AND timestamp >= {p2:${T}} AND timestamp < {p3:${T}} AND mapContains(properties, {p4:String}) GROUP BY group_key) ` +
        'ORDER BY metric_users DESC NULLS LAST, group_key ASC LIMIT {p5:UInt32} OFFSET {p6:UInt32}',
      query_params: params('plan', 'p1', START, END, 'plan', 100, 0),
    })
  })

  test.each([
    ['interval:auto', 'intDiv(toUnixTimestamp64Milli(timestamp), 86400000)', ''],
    ['city', 'city', ''],
    ['page:origin', 'origin', ' AND notEmpty(origin)'],
    ['page:path', 'path', ' AND notEmpty(path)'],
    ['event:name', 'name', " AND name != 'pageview'"],
    ['utm_term', 'utm_term', ''],
  ] as const)('rows of %s', (token, key, groups) => {
    const { query } = build({ metrics: ['users'], group_by: [token] })
    expect(query).toContain(`SELECT ${key} AS group_key, uniqExact(user)`)
    expect(query).toContain(`timestamp < {p2:${T}}${groups} GROUP BY group_key`)
  })

  test('bounds far outside of what is stored are drawn in, buckets are not', () => {
    const period = { start: new Date('0001-01-01'), end: new Date('9999-12-31T23:59:59Z') }
    expect(
      build({ metrics: ['users'], group_by: ['interval:auto'] }, 'p1', period).query_params,
    ).toEqual(
      params('p1', '1970-01-01 00:00:00.000', '2100-01-01 00:00:00.000', 12, 120_000, 100, 0),
    )
  })
})

test('no injection: the text depends on no value of the request', () => {
  const swap = (value: unknown, key = ''): unknown => {
    if (typeof value === 'string')
      return ['type', 'operator'].includes(key) ? value : `'; --${value}`
    if (Array.isArray(value)) return value.map((one) => swap(one, key))
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([k, one]) => [k, swap(one, k)]))
    }
    return typeof value === 'boolean' ? !value : value
  }
  fc.assert(
    fc.property(question, (asked) => {
      const other = {
        ...asked,
        filters: swap(asked.filters) as AnalyticsQueryRequest['filters'],
        limit: 77,
        offset: 5,
        ...(asked.group_by?.[0]?.startsWith('event:prop:') === true
          ? { group_by: ["event:prop:') OR 1=1 --"] as const, order_by: [] }
          : {}),
      }
      const same = {
        ...asked,
        ...(other.order_by === undefined ? {} : { order_by: other.order_by }),
      }
      expect(build(other, "p2' OR ''='").query).toBe(build(same).query)
    }),
    { seed: 1, numRuns: 2_000 },
  )
})
