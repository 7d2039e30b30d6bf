import { describe, expect, test } from '@jest/globals'
import { buildDetailsQueries } from '../../../src/explorer/queries/details.js'
import { describeLimits, type KnownValues } from '../../../src/explorer/queries/filters.js'
import { DEFAULT_STATE, type AskedState } from '../../../src/explorer/state/state.js'

const open = (
  details: Partial<NonNullable<AskedState['details']>>,
  state: Partial<AskedState> = {},
): AskedState => ({
  ...DEFAULT_STATE,
  comparison: 'off',
  ...state,
  details: {
    tab: 'os',
    view: 'value',
    search: '',
    orderBy: 'users',
    direction: 'desc',
    page: 0,
    ...details,
  },
})

const contains = (value: string): object => ({
  operator: 'contains',
  value: [value],
  case_sensitive: false,
})

const SESSION_METRICS = [
  'users',
  'new_users',
  'visits',
  'pageviews',
  'events',
  'bounce_rate',
  'visit_duration',
  'views_per_visit',
]

test.each<[string, AskedState, object]>([
  [
    'all metrics of the first rows',
    open({ tab: 'page:entry' }),
    {
      date_range: '30days',
      metrics: SESSION_METRICS,
      group_by: ['page:entry'],
      order_by: [['users', 'desc']],
      limit: 50,
      offset: 0,
    },
  ],
  [
    'a later page in another order, with the scope of the page',
    open(
      { tab: 'page:path', orderBy: 'page:path', direction: 'asc', page: 3 },
      {
        zone: 'Europe/Berlin',
        comparison: 'weekdays',
        filters: [{ field: 'country', operator: 'is', values: ['DE'] }],
      },
    ),
    {
      date_range: '30days',
      filters: [{ field: 'country', operator: 'is', value: ['DE'] }],
      time_zone: 'Europe/Berlin',
      metrics: SESSION_METRICS.slice(0, -1),
      group_by: ['page:path'],
      order_by: [['page:path', 'asc']],
      limit: 50,
      offset: 150,
      compare: 'previous_period',
      compare_align: 'weekday',
    },
  ],
  [
    'as many weekdays of the period before as of the period, with a filter by weekdays',
    open(
      { tab: 'event:name' },
      {
        comparison: 'previous_period',
        filters: [{ field: 'weekday', operator: 'is', values: ['6', '7'] }],
      },
    ),
    {
      date_range: '30days',
      filters: [{ type: 'clock', weekdays: [6, 7] }],
      metrics: ['users', 'new_users', 'events'],
      group_by: ['event:name'],
      order_by: [['users', 'desc']],
      limit: 50,
      offset: 0,
      compare: 'previous_period',
      compare_align: 'weekday',
    },
  ],
  [
    'no metrics that the rows never have, nor an order by them',
    open({ tab: 'event:name', orderBy: 'bounce_rate', direction: 'asc' }),
    {
      date_range: '30days',
      metrics: ['users', 'new_users', 'events'],
      group_by: ['event:name'],
      order_by: [['events', 'desc']],
      limit: 50,
      offset: 0,
    },
  ],
  [
    'a property',
    open({ tab: 'event:prop:plan', orderBy: 'pageviews' }),
    {
      date_range: '30days',
      metrics: ['users', 'new_users', 'pageviews', 'events'],
      group_by: ['event:prop:plan'],
      order_by: [['pageviews', 'desc']],
      limit: 50,
      offset: 0,
    },
  ],
])('the dialog asks for %s', (_, state, body) => {
  expect(buildDetailsQueries(state, undefined)).toEqual([
    { id: 'details', operation: 'query', body },
  ])
})

test.each([
  ['closed', DEFAULT_STATE],
  ['without such a tab', open({ tab: 'nothing' })],
  ['of a view that has no rows', open({ tab: 'retention' })],
])('nothing is asked while the dialog is %s', (_, state) => {
  expect(buildDetailsQueries(state, undefined)).toEqual([])
})

const known = (asked: object, values: readonly string[]): KnownValues => ({
  asked: JSON.stringify(asked),
  values,
  total: values.length,
})

const COUNTRIES = {
  date_range: '30days',
  metrics: ['pageviews'],
  group_by: ['country'],
  limit: 1000,
} as const

/** The ids of the queries, and the filters of the one about the rows. */
const ask = (state: AskedState, values?: KnownValues): unknown => {
  const queries = buildDetailsQueries(state, values)
  const rows = queries.find(({ id }) => id === 'details')
  return [
    queries.map(({ id }) => id),
    rows?.operation === 'query' ? (rows.body.filters ?? []) : undefined,
  ]
}

describe('a search', () => {
  test.each<[string, string, object]>([
    ['page:path', 'Blog', { field: 'page:path', ...contains('Blog') }],
    ['page:path', '  <b>  ', { field: 'page:path', ...contains('<b>') }],
    ['event:prop:plan', 'pro', { property: 'plan', ...contains('pro') }],
    [
      'referrer',
      'DIRE',
      {
        type: 'group',
        operator: 'or',
        filters: [
          { field: 'referrer', ...contains('DIRE') },
          { field: 'referrer', operator: 'is', value: [''] },
        ],
      },
    ],
  ])('of %s for %j is a filter', (tab, search, filter) => {
    expect(ask(open({ tab, search }))).toEqual([['details'], [filter]])
  })

  test.each<[string, readonly string[]]>([
    ['GERM', ['DE']],
    ['united', ['US', 'GB']],
    ['fr', ['FR', 'ZA']],
    ['de', ['DE', 'SE']],
    ['unknown', ['']],
    ['nowhere', []],
  ])('of countries for %j finds them by name or code: %j', (search, value) => {
    const values = known(COUNTRIES, ['US', 'DE', 'GB', 'FR', 'ZA', 'SE', ''])
    expect(ask(open({ tab: 'country', search }), values)).toEqual([
      ['details', 'details-values'],
      [{ field: 'country', operator: 'is', value }],
    ])
  })

  test('of countries waits for their values, and takes no others', () => {
    const state = open({ tab: 'country', search: 'germ' })
    const others = known({ ...COUNTRIES, date_range: '7days' }, ['DE'])
    expect([ask(state), ask(state, others)]).toEqual([
      [['details-values'], undefined],
      [['details-values'], undefined],
    ])
  })

  test('of countries asks for their values when the dialog opens', () => {
    expect(ask(open({ tab: 'country' }))).toEqual([['details', 'details-values'], []])
  })

  test('is one more condition than any of the filters', () => {
    const filters: AskedState['filters'] = [
      { field: 'os', operator: 'is', values: ['Linux'] },
      { field: 'country', operator: 'is_not', values: ['US'] },
    ]
    const linux = { field: 'os', operator: 'is', value: ['Linux'] }
    const abroad = { field: 'country', operator: 'is_not', value: ['US'] }
    const found = { field: 'page:path', ...contains('blog') }
    const details = { tab: 'page:path', search: 'blog' }
    expect([ask(open(details, { filters })), ask(open(details, { filters, join: 'or' }))]).toEqual([
      [['details'], [linux, abroad, found]],
      [['details'], [{ type: 'group', operator: 'or', filters: [linux, abroad] }, found]],
    ])
  })
})

test.each([
  [3, 3, undefined],
  [600, 600, 'Only the 500 most frequent matches are listed.'],
  [400, 5230, 'Only the 400 most frequent of 5,230 values are searched.'],
])('a search among %i of %i cities has limits: %s', (count, total, limits) => {
  const values = Array.from({ length: count }, (_, i) => `City ${i}`)
  expect(describeLimits('city', 'city', { asked: '', values, total })).toBe(limits)
})
