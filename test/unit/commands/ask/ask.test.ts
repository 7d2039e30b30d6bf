/** The options of `tallyhouse ask` become a query, and rows become a table or CSV. */
import { describe, expect, test } from '@jest/globals'
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
      order_by: [['page:path', 'desc']],
      limit: 5,
      offset: 10,
      filters: [{ type: 'os', operator: 'oneOf', value: ['Linux'] }],
      filtersOperator: 'or',
      time_zone: 'Asia/Kolkata',
    },
  ],
  [
    { period: 'today', orderBy: 'users:asc' },
    { date_range: 'today', order_by: [['users', 'asc']] },
  ],
])('options become a body', (options, body) => {
  expect(buildBody(options)).toEqual(body)
})

const ROWS = [
  {
    group: { country: 'DE' },
    metrics: { users: 12, bounce_rate: null },
    comparison: { metrics: { users: 6 }, change: { users: 100 } },
  },
  { group: { country: 'a"b,\u001b[2J\n\u202e' }, metrics: { users: 3, bounce_rate: 0.5 } },
]

test('rows as a table: nothing of a value controls the terminal', () => {
  expect(formatRowsAsTable(ROWS)).toBe(
    [
      'COUNTRY                     USERS  BOUNCE_RATE  COMPARISON_USERS  COMPARISON_CHANGE_USERS',
      'DE                          12     -            6                 100',
      'a"b,\\u{1b}[2J\\u{a}\\u{202e}  3      0.5          -                 -',
    ].join('\n'),
  )
})

test('rows as CSV', () => {
  expect(formatRowsAsCsv(ROWS)).toBe(
    'country,users,bounce_rate,comparison_users,comparison_change_users\r\n' +
      'DE,12,,6,100\r\n"a""b,\u001b[2J\n\u202e",3,0.5,,',
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
