/** The options of `tallyhouse ask` become a query, and rows become a table or CSV. */
import { describe, expect, test } from '@jest/globals'
import { buildFunnelBody, parseWindow } from '../../../../src/commands/ask/funnel.js'
import {
  buildRetentionBody,
  formatCohortsAsCsv,
  formatCohortsAsTable,
} from '../../../../src/commands/ask/retention.js'
import { buildBody, type QueryOptions } from '../../../../src/commands/ask/build-body.js'
import { formatRowsAsCsv, formatRowsAsTable } from '../../../../src/commands/ask/format-rows.js'
import { parseFilter } from '../../../../src/commands/ask/parse-filter.js'
import { readServiceAddress } from '../../../../src/config/service-address.js'

const page = (operator: string, value: string) => ({ type: 'page', path: { operator, value } })

test.each<[string, object]>([
  ['country is DE, FR', { type: 'location', country: { operator: 'oneOf', value: ['DE', 'FR'] } }],
  ['country is not DE', { type: 'location', country: { operator: 'noneOf', value: ['DE'] } }],
  ['country is', { type: 'location', country: { operator: 'oneOf', value: [''] } }],
  ['device_type is mobile', { type: 'device', operator: 'oneOf', value: ['mobile'] }],
  ['page:path is /', page('eq', '/')],
  ['page:path starts with /blog/', page('startsWith', '/blog/')],
  ['page:path does not contain admin', page('notContains', 'admin')],
  ['page:path matches ^/a b$', page('matches', '^/a b$')],
  ['referrer ends with .com', { type: 'referrer', operator: 'endsWith', value: '.com' }],
  ['event:name is signup', { type: 'event', name: { operator: 'eq', value: 'signup' } }],
  ['region is DE-BE', { type: 'region', operator: 'oneOf', value: ['DE-BE'] }],
  ['language is not de', { type: 'language', operator: 'noneOf', value: ['de'] }],
  ['page:entry starts with /a', { type: 'entry_page', operator: 'startsWith', value: '/a' }],
  ['page:exit is /b', { type: 'exit_page', operator: 'eq', value: '/b' }],
  ['channel is Paid Search', { type: 'channel', operator: 'oneOf', value: ['Paid Search'] }],
  [
    'event:prop:plan is pro',
    { type: 'event', properties: [{ property: 'plan', operator: 'eq', value: 'pro' }] },
  ],
  ['visit with page:path is /', { type: 'visit', filters: [page('eq', '/')] }],
  [
    'visit without page:path is /',
    { type: 'group', operator: 'not', filters: [{ type: 'visit', filters: [page('eq', '/')] }] },
  ],
  [
    'visit with {"type":"user","anonymous":true}',
    {
      type: 'visit',
      filters: [{ type: 'user', anonymous: true }],
    },
  ],
  ['utm_source is x', { type: 'utm_tags', utm_source: { operator: 'eq', value: 'x' } }],
  [
    'page:path is /a,/b',
    { type: 'group', operator: 'or', filters: [page('eq', '/a'), page('eq', '/b')] },
  ],
  [
    'page:path is not /a,/b',
    { type: 'group', operator: 'and', filters: [page('notEq', '/a'), page('notEq', '/b')] },
  ],
  [' {"type":"user","anonymous":true}', { type: 'user', anonymous: true }],
])('the filter %s', (text, filter) => {
  expect(parseFilter(text)).toEqual(filter)
})

test.each([
  ['country', 'a filter is JSON, or a field, an operator and values'],
  ['country equals DE', 'a filter is JSON, or a field, an operator and values'],
  ['planet is DE', 'the field of a filter must be one of: country, '],
  ['event:prop: is x', 'the field of a filter must be one of: country, '],
  ['visit page:path is /', 'a filter is JSON, or a field, an operator and values'],
  ['visit with planet is /', 'the field of a filter must be one of: country, '],
  ['constructor is x', 'the field of a filter must be one of: country, '],
  ['country contains D', 'country can be compared by "is" and "is not" only'],
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
      thenBy: 'country',
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
      then_by: ['country'],
      group_limit: 3,
      compare: ['2025-01-01', '2025-01-31'],
      order_by: [['page:path', 'desc']],
      limit: 5,
      offset: 10,
      filters: [{ type: 'os', operator: 'oneOf', value: ['Linux'] }],
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
    filters: [{ type: 'os', operator: 'oneOf', value: ['Linux'] }],
  })
})

test('options become a question for a funnel', () => {
  const options = { period: '30days', step: ['page:path is /', 'visit with page:path is /'] }
  expect(buildFunnelBody({ ...options, within: 604_800 })).toEqual({
    date_range: '30days',
    steps: [
      { filters: [page('eq', '/')] },
      { filters: [{ type: 'visit', filters: [page('eq', '/')] }] },
    ],
    within: 604_800,
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
    metrics: { users: 12, bounce_rate: 40.5, visit_duration: null },
    comparison: {
      metrics: { users: 6, bounce_rate: 42, visit_duration: 3 },
      change: { users: 100, bounce_rate: -1.5, visit_duration: null },
    },
  },
  { group: { country: '' }, metrics: { users: 3, bounce_rate: 0.5, visit_duration: 0 } },
]

test('rows as a table: each metric, its value before, and its change', () => {
  expect(formatRowsAsTable(ROWS)).toBe(
    [
      'COUNTRY  USERS  BEFORE  CHANGE  BOUNCE_RATE  BEFORE  CHANGE   VISIT_DURATION  BEFORE  CHANGE',
      'DE       12     6       +100%   40.5         42      -1.5 pp  -               3       -',
      '""       3      -       -       0.5          -       -        0               -       -',
    ].join('\n'),
  )
})

test('rows as CSV, with the columns of the service', () => {
  expect(formatRowsAsCsv(ROWS)).toBe(
    'country,users,bounce_rate,visit_duration,' +
      'comparison_users,comparison_bounce_rate,comparison_visit_duration,' +
      'comparison_change_users,comparison_change_bounce_rate,comparison_change_visit_duration\r\n' +
      'DE,12,40.5,,6,42,3,100,-1.5,\r\n"",3,0.5,0,,,,,,',
  )
})

const HOSTILE = [{ group: { country: 'a"b,\u001b[2J\n\u202e' }, metrics: { users: 3 } }]

test('nothing of a value controls the terminal, or breaks CSV', () => {
  expect(formatRowsAsTable(HOSTILE)).toBe(
    'COUNTRY                     USERS\na"b,\\u{1b}[2J\\u{a}\\u{202e}  3',
  )
  expect(formatRowsAsCsv(HOSTILE)).toBe('country,users\r\n"a""b,\u001b[2J\n\u202e",3')
})

const COHORTS = [
  { start: '2026-03-02T00:00:00Z', size: 40, counts: [22, 0] },
  { start: '2026-03-09T00:00:00Z', size: 0, counts: [0, null] },
  { start: '2026-03-16T00:00:00Z', size: null, counts: [null, null] },
]

test('cohorts as a table and as CSV', () => {
  expect(formatCohortsAsTable(COHORTS)).toBe(
    [
      'START       USERS  +1          +2',
      '2026-03-02  40     22 (55.0%)  0 (0.0%)',
      '2026-03-09  0      0           -',
      '2026-03-16  -      -           -',
    ].join('\n'),
  )
  expect(formatCohortsAsCsv(COHORTS)).toBe(
    [
      'cohort,size,interval,users',
      '2026-03-02T00:00:00Z,40,0,40',
      '2026-03-02T00:00:00Z,40,1,22',
      '2026-03-02T00:00:00Z,40,2,0',
      '2026-03-09T00:00:00Z,0,0,0',
      '2026-03-09T00:00:00Z,0,1,0',
      '2026-03-09T00:00:00Z,0,2,',
      '2026-03-16T00:00:00Z,,0,',
      '2026-03-16T00:00:00Z,,1,',
      '2026-03-16T00:00:00Z,,2,',
    ].join('\r\n'),
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
