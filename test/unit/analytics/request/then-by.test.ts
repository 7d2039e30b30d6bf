/** The further groupings: their rules, and how many groups have a series. */
import { describe, expect, test } from '@jest/globals'
import { applyRules, RULES } from '../../../../src/analytics/request/cross-field-rules.js'
import { resolveQuery } from '../../../../src/analytics/request/query.js'
import { isRanked, toRankingQuery } from '../../../../src/analytics/request/derived-queries.js'
import { resolveRange } from '../../../../src/analytics/request/period.js'
import type { AnalyticsQueryRequest } from '../../../../src/contract/api.js'
import { fillDefaults } from '../../../support/world/world.js'

type Given = Partial<AnalyticsQueryRequest>
const YEAR = ['2025-01-01', '2025-12-31'] as const
const MONTH = ['2026-01-01', '2026-01-30'] as const

describe('rules', () => {
  const needsFirst = {
    field: 'then_by',
    message: 'needs a first grouping in group_by: an interval, a dimension or a property',
  }
  const needsSeries = {
    field: 'group_limit',
    message: 'is the number of time series: it needs an interval in group_by, and then_by',
  }
  test.each<[string, Given, readonly object[]]>([
    ['a series', { group_by: ['interval:day'], then_by: ['country'], group_limit: 5 }, []],
    ['a pair', { group_by: ['country'], then_by: ['event:prop:plan'] }, []],
    ['no first grouping', { then_by: ['country'] }, [needsFirst]],
    [
      'twice the same',
      { group_by: ['country'], then_by: ['country'] },
      [{ field: 'then_by.0', message: 'must not be country, which is in group_by' }],
    ],
    ['tuples', { group_by: ['os'], then_by: ['city', 'country', 'event:name'] }, []],
    [
      'a later grouping twice',
      { group_by: ['os'], then_by: ['city', 'os', 'city'] },
      [
        { field: 'then_by.1', message: 'must not be os, which is in group_by' },
        { field: 'then_by.2', message: 'must not be city, which is in then_by.0' },
      ],
    ],
    [
      'an order by the last grouping',
      { group_by: ['os'], then_by: ['city', 'country'], order_by: [['country', 'asc']] },
      [],
    ],
    ['a limit of pairs', { group_by: ['os'], then_by: ['city'], group_limit: 5 }, [needsSeries]],
    ['a limit alone', { group_by: ['interval:day'], group_limit: 5 }, [needsSeries]],
    [
      'an order by the second grouping',
      { group_by: ['interval:day'], then_by: ['country'], order_by: [['country', 'asc']] },
      [],
    ],
    [
      'an order by neither',
      { group_by: ['os'], then_by: ['country'], order_by: [['city', 'asc']] },
      [
        {
          field: 'order_by.0.0',
          message:
            'must be a metric or the grouping of this query, one of: users, pageviews, events, os, country',
        },
      ],
    ],
    [
      'as many rows as are allowed',
      { date_range: YEAR, group_by: ['interval:day'], then_by: ['city'], group_limit: 273 },
      [],
    ],
    [
      'too many rows',
      { date_range: YEAR, group_by: ['interval:day'], then_by: ['city'], group_limit: 274 },
      [
        {
          field: 'group_limit',
          message:
            'times 365 buckets is more than 100000 rows: choose at most 273, or a larger interval',
        },
      ],
    ],
    [
      'the hours of a zone',
      {
        date_range: ['2026-03-29', '2026-03-29'],
        time_zone: 'Europe/Berlin',
        group_by: ['interval:hour'],
        then_by: ['city'],
        group_limit: 1000,
      },
      [],
    ],
  ])('%s', (_what, given, errors) => {
    expect(applyRules(RULES, fillDefaults({ date_range: MONTH, ...given }), new Set())).toEqual(
      errors,
    )
  })
})

test.each<[Given, number | undefined]>([
  [{ group_by: ['interval:day'] }, undefined],
  [{ group_by: ['os'], then_by: ['country'] }, undefined],
  [{ group_by: ['interval:day'], then_by: ['country'] }, 3],
  [{ group_by: ['interval:day'], then_by: ['country'], limit: 1000 }, 33],
  [{ group_by: ['interval:day'], then_by: ['country'], limit: 5 }, 1],
  [{ group_by: ['interval:month'], then_by: ['country'] }, 100],
  [{ group_by: ['interval:day'], then_by: ['country'], group_limit: 7 }, 7],
  // As a stream has it.
  [{ group_by: ['interval:day'], then_by: ['country'], limit: 10_000_000 }, 1_000],
])('of %j, this many groups have a series: %j', (given, want) => {
  const request = fillDefaults({ date_range: MONTH, ...given })
  expect(resolveQuery(request, 'p', resolveRange(MONTH)).groupLimit).toBe(want)
})

test('the largest groups are those with the highest value of the first metric over the period', () => {
  const request = fillDefaults({
    date_range: MONTH,
    metrics: ['bounce_rate', 'users'],
    group_by: ['interval:day'],
    then_by: ['event:prop:plan', 'os'],
    group_limit: 4,
    limit: 10,
    offset: 20,
    order_by: [['date', 'desc']],
    include: { totals: true },
  })
  const query = resolveQuery(request, 'p', resolveRange(MONTH))
  expect(isRanked(query) && toRankingQuery(query)).toEqual({
    projectIds: ['p'],
    period: resolveRange(MONTH),
    metrics: ['bounce_rate'],
    goals: [],
    grouping: { kind: 'property', name: 'plan' },
    thenBy: [{ kind: 'dimension', dimension: 'os' }],
    predicate: query.predicate,
    order: { by: 'bounce_rate', direction: 'desc' },
    limit: 4,
    offset: 0,
    having: [],
    includesLost: false,
    includesTotals: false,
  })
})
