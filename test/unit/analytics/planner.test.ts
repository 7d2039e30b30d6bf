/** Plans: which relations are read for which measures, and where rows come from. */
import { describe, expect, test } from '@jest/globals'
import { planQuery } from '../../../src/analytics/planner.js'
import { resolveQuery } from '../../../src/analytics/query.js'
import type { AnalyticsQueryRequest, Filter } from '../../../src/api.js'
import { filled } from '../../support/world.js'

const period = { start: new Date('2026-01-01'), end: new Date('2026-02-01') }
function plan(request: Partial<AnalyticsQueryRequest>) {
  const { scans, rows } = planQuery(
    resolveQuery(filled({ date_range: '7days', ...request }), 'p1', period),
  )
  const read = scans.map(
    ({ relation, measures, filteredBy }) => `${relation}(${measures.join()}) by ${filteredBy}`,
  )
  return { read, rows }
}

const path: Filter = { type: 'page', path: { value: '/', operator: 'eq' } }
const browser: Filter = { type: 'browser', value: ['Chrome'], operator: 'oneOf' }

describe('planQuery', () => {
  test.each<[string, Partial<AnalyticsQueryRequest>, ReturnType<typeof plan>]>([
    ['counts', {}, { read: ['events(users,pageviews,events) by columns'], rows: 'one' }],
    [
      'visits alone',
      { metrics: ['bounce_rate', 'visit_duration'] },
      { read: ['sessions(visits,bounces,duration) by columns'], rows: 'one' },
    ],
    [
      'both',
      { metrics: ['users', 'bounce_rate'] },
      { read: ['events(users) by columns', 'sessions(visits,bounces) by columns'], rows: 'one' },
    ],
    [
      'visits of a session attribute: the groups are those of matching events',
      { metrics: ['bounce_rate'], group_by: ['country'] },
      { read: ['events() by columns', 'sessions(visits,bounces) by columns'], rows: 'events' },
    ],
    [
      'visits in buckets: every bucket is there, no event is read',
      { metrics: ['visit_duration'], group_by: ['interval:auto'] },
      { read: ['sessions(visits,duration) by columns'], rows: 'buckets' },
    ],
    [
      'visits by page count where they entered',
      { metrics: ['bounce_rate'], group_by: ['page:path'] },
      { read: ['events() by columns', 'sessions(visits,bounces) by columns'], rows: 'events' },
    ],
    [
      'visits have no event name',
      { metrics: ['users', 'bounce_rate'], group_by: ['event:name'] },
      { read: ['events(users) by columns'], rows: 'events' },
    ],
    [
      'visits have no property',
      { metrics: ['bounce_rate'], group_by: ['event:prop:plan'] },
      { read: ['events() by columns'], rows: 'events' },
    ],
    [
      'a session attribute is filtered on both',
      { metrics: ['users', 'bounce_rate'], filters: [browser] },
      { read: ['events(users) by columns', 'sessions(visits,bounces) by columns'], rows: 'one' },
    ],
    [
      'an event attribute is filtered through the events of each session',
      { metrics: ['bounce_rate'], filters: [browser, path], filtersOperator: 'or' },
      { read: ['sessions(visits,bounces) by events'], rows: 'one' },
    ],
    [
      'so is anonymity',
      { metrics: ['bounce_rate'], filters: [{ type: 'user', anonymous: true }] },
      { read: ['sessions(visits,bounces) by events'], rows: 'one' },
    ],
    [
      'a filter without a member is no filter',
      { metrics: ['bounce_rate'], filters: [{ type: 'page' }] },
      { read: ['sessions(visits,bounces) by columns'], rows: 'one' },
    ],
  ])('%s', (_why, request, want) => {
    expect(plan(request)).toEqual(want)
  })
})
