/** The options of `tallyhouse ask` become a query, and rows become a table. */
import { describe, expect, test } from '@jest/globals'
import { buildFunnelBody, parseWindow } from '../../../../src/commands/ask/funnel.js'
import { buildJourneysBody } from '../../../../src/commands/ask/journeys.js'
import { buildRetentionBody, formatCohortsAsTable } from '../../../../src/commands/ask/retention.js'
import { buildBody, type QueryOptions } from '../../../../src/commands/ask/build-body.js'
import { formatRowsAsTable } from '../../../../src/commands/ask/format-rows.js'
import { parseFilter } from '../../../../src/commands/ask/parse-filter.js'
import { readServiceAddress } from '../../../../src/config/service-address.js'

const path = (operator: string, ...value: string[]) => ({ field: 'page:path', operator, value })

test.each<[string, object]>([
  ['country is DE, FR', { field: 'country', operator: 'is', value: ['DE', 'FR'] }],
  ['country is not DE', { field: 'country', operator: 'is_not', value: ['DE'] }],
  ['country is', { field: 'country', operator: 'is', value: [''] }],
  ['country is set', { field: 'country', operator: 'is_set' }],
  ['city is settled', { field: 'city', operator: 'is', value: ['settled'] }],
  ['page:path contains /a', path('contains', '/a')],
  ['page:path starts with /blog/', path('starts_with', '/blog/')],
  ['page:path does not contain admin', path('contains_not', 'admin')],
  ['page:path matches ^/a b$', path('matches', '^/a b$')],
  ['page:path does not match ^/a', path('matches_not', '^/a')],
  ['page:path ends with /b', path('ends_with', '/b')],
  ['page:path is /a,/b', path('is', '/a', '/b')],
  ['event:prop:plan is pro', { property: 'plan', operator: 'is', value: ['pro'] }],
  ['event:prop:plan is set', { property: 'plan', operator: 'is_set' }],
  ['segment is mobile-de', { type: 'segment', value: 'mobile-de' }],
  [
    'segment is not mobile-de',
    { type: 'group', operator: 'not', filters: [{ type: 'segment', value: 'mobile-de' }] },
  ],
  ['visit with page:path is /', { type: 'visit', filters: [path('is', '/')] }],
  [
    'visit without page:path is /',
    { type: 'group', operator: 'not', filters: [{ type: 'visit', filters: [path('is', '/')] }] },
  ],
  [
    'visit with {"type":"user","anonymous":true}',
    { type: 'visit', filters: [{ type: 'user', anonymous: true }] },
  ],
  [' {"type":"user","anonymous":true}', { type: 'user', anonymous: true }],
  // The service says which fields there are.
  ['planet is DE', { field: 'planet', operator: 'is', value: ['DE'] }],
])('the filter %s', (text, filter) => {
  expect(parseFilter(text)).toEqual(filter)
})

test.each([
  ['country', 'a filter is JSON, or a field, an operator and values'],
  ['country equals DE', 'a filter is JSON, or a field, an operator and values'],
  ['visit page:path is /', 'a filter is JSON, or a field, an operator and values'],
  ['{"type"', 'a filter that begins with { must be JSON'],
])('the filter %s is refused', (text, message) => {
  expect(() => parseFilter(text)).toThrow(message)
})

test.each<[QueryOptions, object]>([
  [{ period: '30days' }, { date_range: '30days' }],
  [
    {
      period: '2026-01-01..2026-01-31',
      metrics: ['users'],
      groupBy: 'page:path',
      thenBy: ['country', 'event:prop:a,b'],
      top: 3,
      compare: '2025-01-01..2025-01-31',
      orderBy: 'page:path',
      limit: 5,
      offset: 10,
      filter: ['os is Linux'],
      any: true,
      timeZone: 'Asia/Kolkata',
    },
    {
      date_range: ['2026-01-01', '2026-01-31'],
      metrics: ['users'],
      group_by: ['page:path'],
      then_by: ['country', 'event:prop:a,b'],
      group_limit: 3,
      compare: ['2025-01-01', '2025-01-31'],
      order_by: [['page:path', 'desc']],
      limit: 5,
      offset: 10,
      filters: [{ field: 'os', operator: 'is', value: ['Linux'] }],
      filtersOperator: 'or',
      time_zone: 'Asia/Kolkata',
    },
  ],
  [
    { period: 'mtd', compare: 'previous_year', align: 'weekday' },
    { date_range: 'mtd', compare: 'previous_year', compare_align: 'weekday' },
  ],
  [
    { period: 'today', orderBy: 'users:asc' },
    { date_range: 'today', order_by: [['users', 'asc']] },
  ],
])('options become a body', (options, body) => {
  expect(buildBody(options)).toEqual(body)
})

test('options become a question for retention', () => {
  const options = { period: '3months', interval: 'week', intervals: 4, filter: ['os is Linux'] }
  expect(buildRetentionBody(options)).toEqual({
    interval: 'week',
    intervals: 4,
    date_range: '3months',
    filters: [{ field: 'os', operator: 'is', value: ['Linux'] }],
  })
})

test('options become a question for a funnel', () => {
  const options = { period: '30days', step: ['page:path is /', 'visit with page:path is /'] }
  expect(buildFunnelBody({ ...options, within: 604_800, timeZone: 'Asia/Tokyo' })).toEqual({
    date_range: '30days',
    time_zone: 'Asia/Tokyo',
    steps: [
      { filters: [path('is', '/')] },
      { filters: [{ type: 'visit', filters: [path('is', '/')] }] },
    ],
    within: 604_800,
  })
})

test('options become a request for journeys', () => {
  const from = ['page:path is /', 'country is DE']
  expect(buildJourneysBody({ period: '30days', from, events: true, depth: 2 })).toEqual({
    date_range: '30days',
    from: { filters: [path('is', '/'), { field: 'country', operator: 'is', value: ['DE'] }] },
    kinds: ['page', 'event'],
    depth: 2,
  })
})

test.each([
  ['visit', 'visit'],
  ['90s', 90],
  ['30m', 1_800],
  ['12h', 43_200],
  ['7d', 604_800],
])('the time %s of a funnel', (text, window) => {
  expect(parseWindow(text)).toBe(window)
})

test.each(['', '7', '0d', '1w', 'session', '-1d'])('the time %j is refused', (text) => {
  expect(() => parseWindow(text)).toThrow('Expected visit, or a time such as 90s, 30m, 12h or 7d.')
})

const ROWS = [
  {
    group: { country: 'DE' },
    metrics: { users: 12_500, bounce_rate: 40.5, visit_duration: null },
    comparison: {
      metrics: { users: 6_250, bounce_rate: 42, visit_duration: 3 },
      change: { users: 100, bounce_rate: -1.5, visit_duration: null },
    },
  },
  { group: { country: '' }, metrics: { users: 3, bounce_rate: 0.5, visit_duration: 0 } },
]

test('rows as a table: each metric, its value before, and its change', () => {
  expect(formatRowsAsTable(ROWS)).toBe(
    [
      'COUNTRY   USERS  BEFORE  CHANGE  BOUNCE_RATE  BEFORE   CHANGE  VISIT_DURATION  BEFORE  CHANGE',
      'DE       12,500   6,250   +100%         40.5      42  -1.5 pp               -       3       -',
      '""            3       -       -          0.5       -        -               0       -       -',
    ].join('\n'),
  )
})

test('nothing of a value controls the terminal', () => {
  const hostile = [{ group: { country: 'a"b,\u001b[2J\n\u202e' }, metrics: { users: 3 } }]
  expect(formatRowsAsTable(hostile)).toBe(
    'COUNTRY                     USERS\na"b,\\u{1b}[2J\\u{a}\\u{202e}      3',
  )
})

const COHORTS = [
  { start: '2026-03-02T00:00:00Z', size: 40, counts: [22, 0] },
  { start: '2026-03-09T00:00:00Z', size: 0, counts: [0, null] },
  { start: '2026-03-16T00:00:00Z', size: null, counts: [null, null] },
]

test('cohorts as a table', () => {
  expect(formatCohortsAsTable(COHORTS)).toBe(
    [
      'START       USERS          +1         +2',
      '2026-03-02     40  22 (55.0%)  0 ( 0.0%)',
      '2026-03-09      0           0          -',
      '2026-03-16      -           -          -',
    ].join('\n'),
  )
})

describe('where the service is', () => {
  test('has a default', () => {
    const { url, apiKey } = readServiceAddress({ TALLYHOUSE_API_KEY: 'th_1', TALLYHOUSE_URL: '' })
    expect([url.href, apiKey]).toEqual(['http://127.0.0.1:8080/', 'th_1'])
  })

  test.each([
    [{}, 'TALLYHOUSE_API_KEY must be set to an API key'],
    [{ TALLYHOUSE_API_KEY: 'secret\n' }, 'TALLYHOUSE_API_KEY must be an API key'],
    [{ TALLYHOUSE_API_KEY: 'x', TALLYHOUSE_URL: 'stats' }, 'TALLYHOUSE_URL must be a URL'],
    [{ TALLYHOUSE_API_KEY: 'x', TALLYHOUSE_URL: 'file:///etc' }, 'TALLYHOUSE_URL must be a URL'],
  ])('%j is refused', (env, message) => {
    expect(() => readServiceAddress(env)).toThrow(message)
  })
})
