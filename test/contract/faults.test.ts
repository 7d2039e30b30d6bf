/** Every validation error of a body is reported under its field, with a plain message. */
import { describe, expect, test } from '@jest/globals'
import { listEnumValues } from '../../src/contract/spec.js'
import { echoApp, send, spec } from './contract-app.js'
import { deref, document, unionOf, type Schema } from './document.js'

const app = echoApp()

const names = (schema: string) => listEnumValues(spec.document, schema)
const METRICS = names('Metric').join(', ')
const FILTER_SCHEMAS = unionOf('TypedFilter')
const FILTERS = Object.keys(FILTER_SCHEMAS).join(', ')
/** The types of filters with a value and an operator of their own. */
const withOperator = (name: string): readonly string[] =>
  Object.entries(FILTER_SCHEMAS).flatMap(([type, $ref]) => {
    const { properties } = deref<Schema>({ $ref })
    return properties?.['operator']?.$ref?.endsWith(`/${name}`) === true ? [type] : []
  })
const STRING_FILTERS = withOperator('StringOperator')
const LIST_FILTERS = withOperator('ListOperator')
const STRING_OPERATORS =
  'any, eq, notEq, contains, notContains, startsWith, endsWith, matches, notMatches'

const FIELDS = [...names('Dimension'), ...names('FilterOnlyField')].join(', ')
const OPERATORS = names('FilterOperator').join(', ')
const FIELD_FILTER = '{"field":"country","operator":"is","value":["DE"]}'
const TOO_MANY = 'is one member too many: a filter has exactly one of field, property and type'
const REQUIRED = 'is required'
const UNKNOWN = 'is not a known property'
const NO_LIMIT = 'must be an integer from 1 to 1000, or all'
const NO_TEXT = 'must not contain NUL characters or lone surrogates'
const NO_DATE =
  'must be a date or second that exists: YYYY-MM-DD, YYYY-MM-DDThh:mm:ssZ or with an offset, such as +02:00'
const NO_RANGE =
  `must be a preset (${names('Preset').join(', ')}), {"last": 45, "unit": "day"}` +
  ' or an array [start, end], each YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ'
const NO_GROUPING =
  `must be one of: ${[...names('Interval'), ...names('Dimension'), ...names('ClockField')].join(', ')},` +
  ' or event:prop: followed by a name of 1 to 128 characters'
const FILTER = '{"type":"browser","operator":"oneOf","value":["Firefox"]}'
const CLAUSE = '{"operator":"eq","value":"/pricing"}'
const LIST = 'must be an array, such as ["one value","another"]'
const ONE_OF = (names: string) => `must be one of: ${names}`
const NO_COLUMN = (names: string) =>
  `must be a metric or the grouping of this query, one of: ${names}`

const SUM = { metric: 'sum', of: 'event:prop:amount', as: 'revenue' }
const NO_PROPERTY = 'must be event:prop: followed by a name of 1 to 128 characters'
const NO_NAME = 'must be a letter followed by letters, digits or _, at most 64 characters'
const TAKEN = (name: string) =>
  `must be a name of its own: ${name} is that of another metric or of a grouping`

/** The expected errors of a body: messages by field. */
type Faults = Readonly<Record<string, string>> | readonly (readonly [string, string])[]
type Case = readonly [body: unknown, faults: Faults]

const listed = (faults: Faults) => {
  const pairs = isList(faults) ? faults : Object.entries(faults)
  return pairs.map(([field, message]) => ({ field, message }))
}

const isList = (faults: Faults): faults is readonly (readonly [string, string])[] =>
  Array.isArray(faults)

/** Sends a body and compares its errors; without any, the body must be accepted. */
async function check(body: unknown, faults: Faults) {
  const sent = await send(app, body)
  const expected = listed(faults)
  expect(sent.faults).toEqual(expected)
  expect(sent.status).toBe(expected.length === 0 ? 200 : 400)
}

const named = (cases: readonly Case[]) =>
  cases.map(([body, faults]) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return [text.length > 120 ? `${text.slice(0, 117)}...` : text, body, faults] as const
  })

const query = (fields: object) => ({ date_range: 'today', ...fields })
const filtered = (...filters: readonly unknown[]) => query({ filters })

describe('the body', () => {
  const noObject = { body: 'must be a JSON object' }
  const notJson = (column: number, more = '') => ({
    body: `is not valid JSON at line 1, column ${column}${more}`,
  })
  const cases: readonly Case[] = [
    [{}, { date_range: REQUIRED }],
    ['', { date_range: REQUIRED }],
    [[], noObject],
    ['null', noObject],
    ['"today"', noObject],
    ['5', noObject],
    ['{', notJson(2, ', where it ends')],
    ['{"date_range":"today",}', notJson(23)],
    ["{'date_range':'today'}", notJson(2)],
    ['{"date_range":"today"} x', notJson(24)],
    ['{"date_range":NaN}', notJson(15)],
    ['['.repeat(30_000), notJson(30_001, ', where it ends')],
    [query({ bogus: 1, Limit: 2 }), { bogus: UNKNOWN, Limit: UNKNOWN }],
    ['{"date_range":"today","__proto__":{"limit":5}}', [['__proto__', UNKNOWN]]],
    [query({ constructor: 1, toString: 2 }), { constructor: UNKNOWN, toString: UNKNOWN }],
    [
      query({ 'a/b': 1, 'c.d': 2, '': 3, '~1': 4 }),
      [
        ['a/b', UNKNOWN],
        ['c.d', UNKNOWN],
        ['', UNKNOWN],
        ['~1', UNKNOWN],
      ],
    ],
    [query({ x: { '': 1 } }), { x: UNKNOWN }],
    [query({ filters: [{ type: 'page', '': 1 }] }), { body: UNKNOWN }],
    [
      { date_range: 'x', 'date_range.0': 1 },
      { 'date_range.0': UNKNOWN, date_range: NO_RANGE },
    ],
  ]
  test.each(named(cases))('%s', (_, body, faults) => check(body, faults))
})

describe('wrong types, field by field', () => {
  const wrong = [null, true, {}, 1.5] as const
  const messages: Readonly<Record<string, string>> = {
    date_range: NO_RANGE,
    metrics: 'must be an array, such as ["users"]',
    group_by: 'must be an array, such as ["country"]',
    then_by: 'must be an array, such as ["country"]',
    group_limit: 'must be an integer',
    order_by: 'must be an array, such as [["users","desc"]]',
    filters: `must be an array, such as [${FILTER}]`,
    filtersOperator: ONE_OF('and, or'),
    limit: NO_LIMIT,
    offset: 'must be an integer',
  }
  const cases = Object.entries(messages).flatMap(([field, message]) =>
    // An object is a form of its own of the period.
    wrong
      .filter((value) => field !== 'date_range' || typeof value !== 'object' || value === null)
      .map((value): Case => [query({ [field]: value }), { [field]: message }]),
  )
  test.each(named(cases))('%s', (_, body, faults) => check(body, faults))
})

describe('then_by', () => {
  const second = (then_by: readonly unknown[], fields: object = {}) =>
    query({ group_by: ['interval:day'], then_by, ...fields })
  const none =
    `must be one of: ${[...names('Dimension'), ...names('ClockField')].join(', ')}, or event:prop: followed by a name of 1 to 128 characters;` +
    ' an interval goes in group_by'
  const noSeries = 'is the number of time series: it needs an interval in group_by, and then_by'
  const cases: readonly Case[] = [
    [second(['country']), {}],
    [second(['event:prop:plan'], { group_limit: 1000 }), {}],
    [second([]), { then_by: 'must have at least 1 item' }],
    [second(['country', 'os', 'event:prop:plan']), {}],
    [second(['country', 'os', 'city', 'browser']), { then_by: 'must have at most 3 items' }],
    [second(['os', 'os']), { 'then_by.1': 'must not be os, which is in then_by.0' }],
    [second(['interval:day']), { 'then_by.0': none }],
    [second(['page:hash']), { 'then_by.0': none }],
    [second([1]), { 'then_by.0': none }],
    [second(['os'], { group_by: ['os'] }), { 'then_by.0': 'must not be os, which is in group_by' }],
    [
      second(['os'], { group_by: [] }),
      {
        then_by: 'needs a first grouping in group_by: an interval, a dimension or a property',
      },
    ],
    [second(['os'], { group_limit: 0 }), { group_limit: 'must be at least 1' }],
    [second(['os'], { group_limit: 1001 }), { group_limit: 'must be at most 1000' }],
    [second(['os'], { group_by: ['country'], group_limit: 5 }), { group_limit: noSeries }],
    [query({ group_limit: 5 }), { group_limit: noSeries }],
  ]
  test.each(named(cases))('%s', (_, body, faults) => check(body, faults))
})

describe('date_range', () => {
  const range = (...date_range: readonly unknown[]) => ({ date_range })
  const cases: readonly Case[] = [
    ...document.components.schemas['Preset']!.enum!.map((date_range): Case => [{ date_range }, {}]),
    [{ date_range: 'Today' }, { date_range: NO_RANGE }],
    [{ date_range: '' }, { date_range: NO_RANGE }],
    [{ date_range: 'constructor' }, { date_range: NO_RANGE }],
    [{ date_range: '2026-01-01' }, { date_range: NO_RANGE }],
    [{ date_range: {} }, { 'date_range.from': REQUIRED, 'date_range.to': REQUIRED }],
    [range(), { date_range: 'must have at least 2 items' }],
    [range('2026-01-01'), { date_range: 'must have at least 2 items' }],
    [range('2026-01-01', '2026-01-02', '2026-01-03'), { date_range: 'must have at most 2 items' }],
    [range('2026-02-30', '2026-03-01'), { 'date_range.0': NO_DATE }],
    [range('2026-01-01', '2026-01-01T24:00:00Z'), { 'date_range.1': NO_DATE }],
    [
      range('2026-01-01T25:00:00Z', '0000-01-01'),
      { 'date_range.0': NO_DATE, 'date_range.1': NO_DATE },
    ],
    [range('2026-01-01T10:00:60Z', 'today'), { 'date_range.0': NO_DATE, 'date_range.1': NO_DATE }],
    [range('2026-01-01', '2026-01-01T10:00:00.000Z'), { 'date_range.1': NO_DATE }],
    [range('2026-01-01', '2026-01-01T10:00:00+00:00'), {}],
    [range('2026-01-01', '2026-01-01T10:00:00-02:30'), {}],
    [range('2026-01-01', '2026-01-01T10:00:00+24:00'), { 'date_range.1': NO_DATE }],
    [range('2026-01-01', '2026-01-01+02:00'), { 'date_range.1': NO_DATE }],
    [range('0001-01-01T00:00:00+02:00', '2026-01-01'), { 'date_range.0': NO_DATE }],
    [{ date_range: { last: 45, unit: 'day' } }, {}],
    [{ date_range: { last: 0, unit: 'day' } }, { 'date_range.last': 'must be at least 1' }],
    [{ date_range: { last: 1, unit: 'year' } }, { 'date_range.unit': ONE_OF('day, week, month') }],
    [
      { date_range: ['2026-01-01', '2026-12-31'], group_by: ['interval:minute'] },
      {
        'group_by.0':
          'divides at most 24 hours into minutes: choose interval:hour, interval:auto or a shorter date_range',
      },
    ],
    [{ date_range: ['2026-01-01', '2026-01-01'], group_by: ['interval:minute'] }, {}],
    [
      { date_range: ['2026-01-01', '2026-01-16'], group_by: ['interval:15minutes'] },
      {
        'group_by.0':
          'divides at most 15 days into buckets of 15 minutes: choose interval:hour, interval:auto or a shorter date_range',
      },
    ],
    [{ date_range: ['2026-01-01', '2026-01-15'], group_by: ['interval:15minutes'] }, {}],
    [range('2026-01-01', 5), { 'date_range.1': 'must be a string' }],
    [range('2026-01-02', '2026-01-01'), { date_range: 'must not start after its end' }],
    [range('2026-01-01', '2026-01-01'), {}],
    [range('2026-01-01T10:00:00Z', '2026-01-01'), {}],
    [range('2024-02-29', '2099-12-31T23:59:59Z'), {}],
  ]
  test.each(named(cases))('%s', (_, body, faults) => check(body, faults))
})

describe('metrics, group_by, order_by', () => {
  const prop = (length: number) => `event:prop:${'😀'.repeat(length)}`
  const cases: readonly Case[] = [
    [query({ metrics: ['users', 'sessions'] }), { 'metrics.1': ONE_OF(METRICS) }],
    [
      query({ metrics: [5, '__proto__'] }),
      { 'metrics.0': ONE_OF(METRICS), 'metrics.1': ONE_OF(METRICS) },
    ],
    [
      query({ metrics: ['users', 'events', 'users'] }),
      { metrics: 'must not contain duplicate items' },
    ],
    [
      query({ metrics: Array.from({ length: 21 }, () => 'users') }),
      { metrics: 'must have at most 20 items' },
    ],
    [query({ metrics: [SUM, 'users'], order_by: [['revenue', 'asc']] }), {}],
    [
      query({ metrics: ['users'], order_by: [['change:users', 'asc']] }),
      {
        'order_by.0.0':
          'needs compare: without another period, change:users has nothing to compare with',
      },
    ],
    [
      query({
        metrics: ['users'],
        compare: 'previous_period',
        order_by: [['difference:users', 'asc']],
      }),
      {},
    ],
    [query({ metrics: ['users'], having: [['users', 'gte', 10.5]] }), {}],
    [
      query({ metrics: ['users'], having: [['visits', 'gte', 10]] }),
      { 'having.0.0': 'must be a metric of this query, one of: users' },
    ],
    [
      query({ metrics: ['users'], having: [['users', '>=', 10]] }),
      { 'having.0.1': ONE_OF(names('HavingOperator').join(', ')) },
    ],
    [
      query({ include: { lost: true } }),
      { 'include.lost': 'needs compare: groups are lost since another period' },
    ],
    [
      query({ include: { lost: true }, compare: 'previous_period', group_by: ['interval:day'] }),
      {
        'include.lost':
          'needs a dimension or an event property in group_by, whose values can be lost',
      },
    ],
    [query({ group_by: ['weekday'], then_by: ['hour'], order_by: [['hour', 'asc']] }), {}],
    [
      query({ metrics: [{ ...SUM, metric: 'p101' }] }),
      { 'metrics.0.metric': ONE_OF(names('NumericFunction').join(', ')) },
    ],
    [query({ metrics: [{ metric: 'sum', of: SUM.of }] }), { 'metrics.0.as': REQUIRED }],
    [query({ metrics: [{ ...SUM, of: 'amount' }] }), { 'metrics.0.of': NO_PROPERTY }],
    [query({ metrics: [{ ...SUM, as: '1st' }] }), { 'metrics.0.as': NO_NAME }],
    [query({ metrics: [{ ...SUM, by: 1 }] }), { 'metrics.0.by': UNKNOWN }],
    [query({ metrics: [SUM, { ...SUM, metric: 'avg' }] }), { 'metrics.1.as': TAKEN('revenue') }],
    [query({ metrics: [{ ...SUM, as: 'users' }] }), { 'metrics.0.as': TAKEN('users') }],
    [
      query({ metrics: [{ ...SUM, as: 'country' }], group_by: ['country'] }),
      { 'metrics.0.as': TAKEN('country') },
    ],
    [
      query({ metrics: [SUM], order_by: [['amount', 'asc']] }),
      { 'order_by.0.0': NO_COLUMN('revenue') },
    ],
    [query({ metrics: METRICS.split(', ') }), {}],
    [query({ group_by: ['visits'] }), { 'group_by.0': NO_GROUPING }],
    [query({ group_by: ['date'] }), { 'group_by.0': NO_GROUPING }],
    [query({ group_by: [['country']] }), { 'group_by.0': NO_GROUPING }],
    [query({ group_by: ['hasOwnProperty'] }), { 'group_by.0': NO_GROUPING }],
    [
      query({ group_by: ['country', 'city'] }),
      { group_by: 'must have at most 1 item: a second grouping goes in then_by' },
    ],
    [query({ group_by: ['event:prop:'] }), { 'group_by.0': NO_GROUPING }],
    [query({ group_by: [prop(1)] }), {}],
    [query({ group_by: [prop(128)] }), {}],
    [query({ group_by: [prop(129)] }), { 'group_by.0': NO_GROUPING }],
    [query({ group_by: ['event:prop:a\nb'] }), {}],
    [query({ group_by: ['event:prop:__proto__'] }), {}],
    [query({ group_by: ['event:prop:a\0'] }), { 'group_by.0': NO_TEXT }],
    [query({ group_by: ['event:prop:\ud800'] }), { 'group_by.0': NO_TEXT }],
    [
      query({ order_by: ['users', 'asc'] }),
      { order_by: 'must be an array of pairs: write [["users","desc"]]' },
    ],
    [
      query({ order_by: ['users'] }),
      { 'order_by.0': 'must be an array, such as ["users","desc"]' },
    ],
    [query({ group_by: 'country' }), { group_by: 'must be an array, such as ["country"]' }],
    [query({ order_by: [[]] }), { 'order_by.0': 'must have at least 2 items' }],
    [query({ order_by: [['users']] }), { 'order_by.0': 'must have at least 2 items' }],
    [query({ order_by: [['users', 'asc', 1]] }), { 'order_by.0': 'must have at most 2 items' }],
    [query({ order_by: [['users', 'ASC']] }), { 'order_by.0.1': ONE_OF('asc, desc') }],
    [query({ order_by: [[5, 'asc']] }), { 'order_by.0.0': 'must be a string' }],
    [
      query({
        order_by: [
          ['users', 'asc'],
          ['events', 'asc'],
        ],
      }),
      { order_by: 'must have at most 1 item' },
    ],
    [
      query({ order_by: [['date', 'asc']] }),
      { 'order_by.0.0': NO_COLUMN('users, pageviews, events') },
    ],
    [
      query({ metrics: ['users'], order_by: [['events', 'asc']] }),
      { 'order_by.0.0': NO_COLUMN('users') },
    ],
    [query({ metrics: [], order_by: [['events', 'asc']] }), {}],
    [query({ group_by: ['interval:auto'], order_by: [['date', 'asc']] }), {}],
  ]
  test.each(named(cases))('%s', (_, body, faults) => check(body, faults))
})

describe('limit and offset', () => {
  const cases: readonly Case[] = [
    [query({ limit: 1, offset: 0 }), {}],
    [query({ limit: 1000, offset: 1_000_000_000 }), {}],
    ['{"date_range":"today","limit":1.0,"offset":-0}', {}],
    [
      query({ limit: 0, offset: -1 }),
      { limit: 'must be at least 1', offset: 'must be at least 0' },
    ],
    [
      query({ limit: 1001, offset: 1_000_000_001 }),
      { limit: 'must be at most 1000', offset: 'must be at most 1000000000' },
    ],
    [query({ limit: '5' }), { limit: NO_LIMIT }],
    ['{"date_range":"today","limit":1e400}', { limit: NO_LIMIT }],
    [query({ limit: [5] }), { limit: NO_LIMIT }],
  ]
  test.each(named(cases))('%s', (_, body, faults) => check(body, faults))
})

const times = <T>(count: number, item: T): readonly T[] => Array.from({ length: count }, () => item)

describe('filters', () => {
  const all = (fields: Readonly<Record<string, string>>, at = 'filters.0') =>
    Object.fromEntries(Object.entries(fields).map(([name, message]) => [`${at}.${name}`, message]))
  const stringFilter = { value: 'must be a string', operator: ONE_OF(STRING_OPERATORS) }
  const listFilter = { value: LIST, operator: ONE_OF('oneOf, noneOf') }
  const clause = { value: 'x', operator: 'eq' }
  const cases: readonly Case[] = [
    [filtered(null), { 'filters.0': 'must be an object' }],
    [filtered([], 'page'), { 'filters.0': 'must be an object', 'filters.1': 'must be an object' }],
    [filtered({}), { 'filters.0.type': `${REQUIRED}, or a field, such as ${FIELD_FILTER}` }],
    [
      filtered({ type: 'country' }),
      { 'filters.0.type': `${ONE_OF(FILTERS)}; instead, write "field":"country"` },
    ],
    [
      filtered({ type: 'page:path' }),
      { 'filters.0.type': `${ONE_OF(FILTERS)}; instead, write "field":"page:path"` },
    ],
    [
      filtered({ field: 'device', operator: 'is', value: ['mobile'] }),
      { 'filters.0.field': `${ONE_OF(FIELDS)}; instead, write "field":"device_type"` },
    ],
    [
      filtered({ field: 'location', operator: 'is', value: ['DE'] }),
      {
        'filters.0.field': `${ONE_OF(FIELDS)}; instead, write "field":"country" or "field":"city"`,
      },
    ],
    [
      filtered({ field: 'utm_tags.utm_source', operator: 'is', value: ['x'] }),
      { 'filters.0.field': `${ONE_OF(FIELDS)}; instead, write "field":"utm_source"` },
    ],
    [
      filtered({ field: 'event:prop:plan', operator: 'is', value: ['pro'] }),
      {
        'filters.0.field': `${ONE_OF(FIELDS)}; a property is named by {"property":"plan"}`,
      },
    ],
    [
      filtered({ field: 'contry', operator: 'is', value: ['DE'] }),
      { 'filters.0.field': ONE_OF(FIELDS) },
    ],
    [
      filtered({ field: 'country', type: 'location', operator: 'is', value: ['DE'] }),
      { 'filters.0.type': TOO_MANY },
    ],
    [
      filtered({ field: 'country', property: 'plan', operator: 'is', value: ['DE'] }),
      { 'filters.0.property': TOO_MANY },
    ],
    [filtered({ field: 'country', operator: 'is', value: 'DE' }), { 'filters.0.value': LIST }],
    [
      filtered({ field: 'country', operator: 'is' }),
      { 'filters.0.value': 'is required, an array such as ["one value","another"]' },
    ],
    [
      filtered({ property: 'plan', operator: 'is_set', value: [] }),
      { 'filters.0.value': 'must be left out: the operator is_set takes no value' },
    ],
    [filtered({ field: 'country', operator: 'is_set' }), {}],
    [
      filtered({ field: 'country', operator: 'eq', value: [] }),
      { 'filters.0.operator': ONE_OF(OPERATORS) },
    ],
    [
      filtered({ property: '', operator: 'is', value: [] }),
      { 'filters.0.property': 'must have at least 1 character' },
    ],
    [
      filtered({ property: 'a', operator: 'is', value: times(41, 'x') }),
      { filters: 'must hold at most 40 string clauses in all, and hold 41' },
    ],
    [filtered({ field: 'page:path', operator: 'is', value: times(41, 'x') }), {}],
    [
      filtered({ field: 'country', operator: 'matches', value: ['a', '['] }),
      { 'filters.0.value.1': 'must be a pattern of RE2: missing closing ] at character 1' },
    ],
    [filtered({ type: 'pages' }), { 'filters.0.type': ONE_OF(FILTERS) }],
    [filtered({ type: null }), { 'filters.0.type': ONE_OF(FILTERS) }],
    [filtered({ type: ['page'] }), { 'filters.0.type': ONE_OF(FILTERS) }],
    [filtered({ type: 'constructor' }), { 'filters.0.type': ONE_OF(FILTERS) }],
    [filtered({ type: '__proto__' }), { 'filters.0.type': ONE_OF(FILTERS) }],
    ...['page', 'event', 'location', 'utm_tags'].map((type): Case => [filtered({ type }), {}]),
    [filtered({ type: 'user' }), { 'filters.0.anonymous': REQUIRED }],
    [filtered({ type: 'user', anonymous: 'true' }), { 'filters.0.anonymous': 'must be a boolean' }],
    [filtered({ type: 'clock' }), { 'filters.0': 'must have at least 2 members' }],
    [filtered({ type: 'clock', weekdays: [6, 7], hours: [0, 23] }), {}],
    [filtered({ type: 'clock', hours: [] }), { 'filters.0.hours': 'must have at least 1 item' }],
    [
      filtered({ type: 'clock', weekdays: [0], hours: [24, 9.5] }),
      {
        'filters.0.weekdays.0': 'must be at least 1',
        'filters.0.hours.0': 'must be at most 23',
        'filters.0.hours.1': 'must be an integer',
      },
    ],
    ...[...STRING_FILTERS, ...LIST_FILTERS].map((type): Case => [
      filtered({ type }),
      all({ value: REQUIRED, operator: REQUIRED }),
    ]),
    ...STRING_FILTERS.map((type): Case => [
      filtered({ type, value: ['x'], operator: 'oneOf' }),
      all(stringFilter),
    ]),
    ...LIST_FILTERS.map((type): Case => [
      filtered({ type, value: 'x', operator: 'eq' }),
      all(listFilter),
    ]),
    ...FILTERS.split(', ').map((type): Case => {
      const inner = { filters: [{ type: 'page' }] }
      const whole =
        {
          user: { anonymous: true },
          group: { operator: 'not', ...inner },
          visit: inner,
          segment: { value: 'de' },
        }[type] ?? {}
      const value = STRING_FILTERS.includes(type)
        ? clause
        : LIST_FILTERS.includes(type)
          ? { value: [], operator: 'oneOf' }
          : whole
      return [filtered({ type, ...value, bogus: 1 }), { 'filters.0.bogus': UNKNOWN }]
    }),
    [filtered({ type: 'page', name: clause }), { 'filters.0.name': UNKNOWN }],
    [
      '{"date_range":"today","filters":[{"type":"page","__proto__":{}}]}',
      [['filters.0.__proto__', UNKNOWN]],
    ],
    [
      filtered({ type: 'page', path: '/x' }),
      { 'filters.0.path': `must be an object, such as ${CLAUSE}` },
    ],
    [
      filtered({ type: 'page', path: {} }),
      all({ value: REQUIRED, operator: REQUIRED }, 'filters.0.path'),
    ],
    [filtered({ type: 'page', path: { operator: 'any' } }), { 'filters.0.path.value': REQUIRED }],
    [
      filtered({ type: 'page', path: { ...clause, operator: 'regex', x: 1 } }),
      { 'filters.0.path.x': UNKNOWN, 'filters.0.path.operator': ONE_OF(STRING_OPERATORS) },
    ],
    [
      filtered({ type: 'utm_tags', utm_source: clause, utm_id: clause }),
      { 'filters.0.utm_id': UNKNOWN },
    ],
    [filtered({ type: 'location', country: clause }), all(listFilter, 'filters.0.country')],
    [
      filtered({ type: 'location', country: ['DE'] }),
      { 'filters.0.country': 'must be an object, such as {"operator":"oneOf","value":["DE"]}' },
    ],
    [filtered({ type: 'event', properties: {} }), { 'filters.0.properties': 'must be an array' }],
    [
      filtered({ type: 'event', properties: [{}] }),
      all({ property: REQUIRED, value: REQUIRED, operator: REQUIRED }, 'filters.0.properties.0'),
    ],
    [filtered({ type: 'device', operator: 'oneOf', value: ['', 'tv', 'mobile'] }), {}],
    [filtered({ type: 'referrer_type', operator: 'oneOf', value: ['', 'search', 'other'] }), {}],
    [
      filtered({ type: 'device', operator: 'oneOf', value: ['a', 5] }),
      { 'filters.0.value.1': 'must be a string' },
    ],
    [
      filtered({ type: 'os', operator: 'oneOf', value: ['a', 5] }),
      { 'filters.0.value.1': 'must be a string' },
    ],
  ]
  test.each(named(cases))('%s', (_, body, faults) => check(body, faults))
})

describe('text', () => {
  const texts = (value: string): readonly (readonly [object, string])[] => [
    [{ type: 'referrer', value, operator: 'eq' }, 'value'],
    [{ type: 'page', path: { value, operator: 'eq' } }, 'path.value'],
    [
      { type: 'event', properties: [{ property: value, value: '', operator: 'eq' }] },
      'properties.0.property',
    ],
    [
      { type: 'event', properties: [{ property: 'p', value, operator: 'eq' }] },
      'properties.0.value',
    ],
    [{ type: 'location', city: { value: [value], operator: 'oneOf' } }, 'city.value.0'],
    [{ type: 'device', value: [value], operator: 'oneOf' }, 'value.0'],
  ]
  const bad = ['\0', 'a\0b', '\ud800', '\udc00\ud800'].flatMap((value) =>
    texts(value).map(([filter, field]): Case => [
      filtered(filter),
      { [`filters.0.${field}`]: NO_TEXT },
    ]),
  )
  const good = [
    "'; DROP TABLE x --",
    '%_*\\',
    '\u2028',
    '{a:String}',
    '__proto__',
    '😀',
    '\u202e',
  ].flatMap((value) => texts(value).map(([filter]): Case => [filtered(filter), {}]))
  test.each(named([...bad, ...good]))('%s', (_, body, faults) => check(body, faults))
})

describe('caps', () => {
  const list = (value: readonly string[]) => filtered({ type: 'os', operator: 'oneOf', value })
  const value = (length: number) =>
    filtered({ type: 'referrer', operator: 'eq', value: '😀'.repeat(length) })
  const clauses = (count: number) =>
    times(count, { type: 'referrer', operator: 'eq', value: 'x' })
      .slice(0, 20)
      .map((filter, index) =>
        index === 0
          ? {
              type: 'event',
              properties: times(count - 19, { property: 'p', operator: 'eq', value: 'x' }),
            }
          : filter,
      )
  const property = (length: number) =>
    filtered({
      type: 'event',
      properties: [{ property: '😀'.repeat(length), operator: 'any', value: '' }],
    })
  const properties = (count: number) =>
    filtered({
      type: 'event',
      properties: times(count, { property: 'p', operator: 'any', value: '' }),
    })
  const page = { type: 'page' }
  const group = (...filters: readonly unknown[]) => ({ type: 'group', operator: 'and', filters })
  const nested = (depth: number): unknown =>
    depth === 0 ? page : { type: 'group', operator: 'not', filters: [nested(depth - 1)] }
  const TOO_DEEP = 'must not lie in more than 3 other filters'
  const cases: readonly Case[] = [
    [filtered(...times(20, { type: 'page' })), {}],
    [filtered(...times(21, { type: 'page' })), { filters: 'must have at most 20 items' }],
    [list(times(500, 'x')), {}],
    [list(times(501, 'x')), { 'filters.0.value': 'must have at most 500 items' }],
    [value(1024), {}],
    [value(1025), { 'filters.0.value': 'must have at most 1024 characters' }],
    [list(['x'.repeat(1025)]), { 'filters.0.value.0': 'must have at most 1024 characters' }],
    [
      filtered({ type: 'device', operator: 'oneOf', value: ['x'.repeat(1025)] }),
      { 'filters.0.value.0': 'must have at most 1024 characters' },
    ],
    [property(1), {}],
    [property(128), {}],
    [property(129), { 'filters.0.properties.0.property': 'must have at most 128 characters' }],
    [property(0), { 'filters.0.properties.0.property': 'must have at least 1 character' }],
    [properties(40), {}],
    [properties(41), { 'filters.0.properties': 'must have at most 40 items' }],
    [query({ filters: clauses(40) }), {}],
    [
      query({ filters: clauses(41) }),
      { filters: 'must hold at most 40 string clauses in all, and hold 41' },
    ],
    [filtered({ type: 'page', path: { operator: 'matches', value: 'x'.repeat(256) } }), {}],
    [
      filtered(
        { type: 'utm_tags', utm_term: { operator: 'notMatches', value: 'x'.repeat(257) } },
        group({
          type: 'event',
          properties: [{ property: 'p', operator: 'matches', value: 'a{2' }],
        }),
        { type: 'referrer', operator: 'matches', value: 'é[' },
      ),
      {
        'filters.0.utm_term.value': 'must have at most 256 characters to be a pattern',
        'filters.2.value': 'must be a pattern of RE2: missing closing ] at character 2',
      },
    ],
    [
      filtered({ type: 'referrer', operator: 'eq', value: '', caseSensitive: null }),
      { 'filters.0.caseSensitive': 'must be a boolean' },
    ],
    [
      filtered({ type: 'os', operator: 'oneOf', value: [], caseSensitive: true }),
      { 'filters.0.caseSensitive': UNKNOWN },
    ],
    [filtered(group(...times(19, page))), {}],
    [
      filtered(group(...times(20, page))),
      { filters: 'must hold at most 20 filters in all, and hold 21' },
    ],
    [filtered(group(group(...times(17, page))), page), {}],
    [filtered(group(...times(21, page))), { 'filters.0.filters': 'must have at most 20 items' }],
    [filtered(group()), { 'filters.0.filters': 'must have at least 1 item' }],
    [filtered(nested(4)), {}],
    [
      filtered({ type: 'visit', filters: [] }),
      { 'filters.0.filters': 'must have at least 1 item' },
    ],
    [
      filtered({ type: 'visit', filters: [nested(4)] }),
      { 'filters.0.filters.0.filters.0.filters.0.filters.0': TOO_DEEP },
    ],
    [filtered(page, nested(5)), { 'filters.1.filters.0.filters.0.filters.0.filters.0': TOO_DEEP }],
    [filtered(nested(1_000)), { 'filters.0.filters.0.filters.0.filters.0.filters.0': TOO_DEEP }],
    [
      filtered(
        group({ type: 'os', operator: 'eq', value: [] }, { ...group(page), operator: 'xor' }),
      ),
      {
        'filters.0.filters.0.operator': ONE_OF('oneOf, noneOf'),
        'filters.0.filters.1.operator': ONE_OF('and, or, not'),
      },
    ],
    [
      filtered(group(...clauses(41))),
      [
        ['filters', 'must hold at most 20 filters in all, and hold 21'],
        ['filters', 'must hold at most 40 string clauses in all, and hold 41'],
      ],
    ],
  ]
  test.each(named(cases))('%s', (_, body, faults) => check(body, faults))
})

describe('several errors at once', () => {
  const cases: readonly Case[] = [
    [
      query({ limit: 0, order_by: [['date', 'asc']], bogus: 1 }),
      {
        bogus: UNKNOWN,
        limit: 'must be at least 1',
        'order_by.0.0': NO_COLUMN('users, pageviews, events'),
      },
    ],
    [
      { date_range: ['2026-01-02', '2026-01-01'], metrics: ['x'], order_by: [['date', 'asc']] },
      { 'metrics.0': ONE_OF(METRICS), date_range: 'must not start after its end' },
    ],
    [
      { limit: 0, offset: '1' },
      { date_range: REQUIRED, limit: 'must be at least 1', offset: 'must be an integer' },
    ],
    [
      query({ 'order_by.x': 1, order_by: [['date', 'asc']] }),
      { 'order_by.x': UNKNOWN, 'order_by.0.0': NO_COLUMN('users, pageviews, events') },
    ],
  ]
  test.each(named(cases))('%s', (_, body, faults) => check(body, faults))

  test('at most 100 are listed', async () => {
    const names = Array.from({ length: 150 }, (_, index) => [`unknown${index}`, 1] as const)
    const { answer, faults } = await send(app, query(Object.fromEntries(names)))
    expect(faults).toHaveLength(100)
    expect(answer).toMatchObject({
      error: {
        message: 'The request is not valid: unknown0 is not a known property (and 149 more).',
      },
    })
  })
})

describe('what a message tells to write is valid', () => {
  const clauses = {
    page: ['origin', 'path', 'hash'],
    event: ['name'],
    location: ['country', 'city'],
  }
  const slips = [
    ...['metrics', 'group_by', 'order_by', 'filters'].map((field) => query({ [field]: 'x' })),
    ...['utm_campaign', 'utm_content', 'utm_medium', 'utm_source', 'utm_term'].map((name) =>
      filtered({ type: 'utm_tags', [name]: 'x' }),
    ),
    ...Object.entries(clauses).flatMap(([type, names]) =>
      names.map((name) => filtered({ type, [name]: 'x' })),
    ),
    filtered({ type: 'browser', operator: 'oneOf', value: 'Firefox' }),
    query({ order_by: ['users', 'desc'] }),
  ]
  test.each(slips.map((slip) => [JSON.stringify(slip), slip] as const))('%s', async (_, slip) => {
    const { faults } = await send(app, slip)
    const [{ field, message } = { field: '', message: '' }] = faults
    const written = JSON.parse(message.replace(/^.*?(?:such as|write) /, '')) as unknown
    const corrected = structuredClone(slip) as Record<string, unknown>
    const path = field.split('.')
    const owner = path
      .slice(0, -1)
      .reduce<Record<string, unknown>>(
        (node, name) => node[name] as Record<string, unknown>,
        corrected,
      )
    owner[path.at(-1)!] = written
    expect({ faults: faults.length, status: (await send(app, corrected)).status }).toEqual({
      faults: 1,
      status: 200,
    })
  })
})
