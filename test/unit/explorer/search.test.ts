/** The search of the bar: what it asks, and what it suggests. */
import { describe, expect, test } from '@jest/globals'
import {
  buildNarrowedQueries,
  buildSearchQueries,
  findStem,
  listSuggestions,
  moveActive,
  suggestPages,
} from '../../../src/explorer/queries/search.js'
import { DEFAULT_STATE, type AskedState } from '../../../src/explorer/state/state.js'

type Responses = Parameters<typeof listSuggestions>[1]

/** A response with these values of a field. */
const response = (field: string, values: readonly string[]): Responses[number] => [
  field,
  {
    period: { from: '', to: '' },
    query: {
      date_range: '30days',
      metrics: ['pageviews'],
      group_by: [],
      order_by: [],
      limit: 1000,
      offset: 0,
      filters: [],
      filtersOperator: 'and',
    },
    pagination: { limit: 1000, offset: 0, returned: values.length, total: values.length },
    data: values.map((value) => ({ group: { [field]: value }, metrics: {} })),
  },
]

test('every field is asked, without the filters of the page', () => {
  const state: AskedState = {
    ...DEFAULT_STATE,
    period: { from: '2026-01-01', to: '2026-01-31' },
    zone: 'Europe/Berlin',
    filters: [{ field: 'os', operator: 'is', values: ['Linux'] }],
  }
  const queries = buildSearchQueries(state, [], 'Blog')
  const scope = { date_range: ['2026-01-01', '2026-01-31'], time_zone: 'Europe/Berlin' }
  expect(queries).toHaveLength(10)
  expect(new Set(queries.map(({ id }) => id)).size).toBe(10)
  expect(queries.filter(({ id }) => ['page:path', 'country', 'event:name'].includes(id))).toEqual([
    {
      id: 'page:path',
      operation: 'query',
      body: {
        ...scope,
        filters: [
          { field: 'page:path', operator: 'contains', value: ['Blog'], case_sensitive: false },
        ],
        metrics: ['pageviews'],
        group_by: ['page:path'],
        limit: 1000,
      },
    },
    {
      id: 'country',
      operation: 'query',
      body: { ...scope, metrics: ['pageviews'], group_by: ['country'], limit: 1000 },
    },
    {
      id: 'event:name',
      operation: 'query',
      body: {
        ...scope,
        filters: [
          { field: 'event:name', operator: 'contains', value: ['Blog'], case_sensitive: false },
        ],
        metrics: ['events'],
        group_by: ['event:name'],
        limit: 1000,
      },
    },
  ])
})

test('every property is asked for its values', () => {
  const queries = buildSearchQueries(DEFAULT_STATE, ['plan', 'a:b'], 'Pro')
  expect(queries.filter(({ id }) => id.startsWith('event:prop:'))).toEqual(
    ['plan', 'a:b'].map((property) => ({
      id: `event:prop:${property}`,
      operation: 'query',
      body: {
        date_range: '30days',
        filters: [{ property, operator: 'contains', value: ['Pro'], case_sensitive: false }],
        metrics: ['events'],
        group_by: [`event:prop:${property}`],
        limit: 1000,
      },
    })),
  )
})

describe('suggestions', () => {
  test.each<[string, string, Responses, readonly string[]]>([
    ['nothing', 'x', [], []],
    [
      'values by their names, in any case',
      'GERM',
      [response('country', ['US', 'DE']), response('language', ['de', 'fr'])],
      ['country=DE Germany', 'language=de German'],
    ],
    [
      'the closest first, else in the order of the fields',
      'news',
      [response('utm_source', ['old-news', 'newsletter']), response('event:name', ['news'])],
      ['event:name=news news', 'utm_source=newsletter newsletter', 'utm_source=old-news old-news'],
    ],
    [
      'values of properties',
      'pro',
      [response('event:prop:plan', ['pro', 'free', 'Professional'])],
      ['event:prop:plan=pro pro', 'event:prop:plan=Professional Professional'],
    ],
    ['a missing value by its name', 'direct', [response('referrer', [''])], ['referrer= Direct']],
    [
      'at most five of a field',
      'City',
      [response('city', ['City 1', 'City 2', 'City 3', 'City 4', 'City 5', 'City 6'])],
      [1, 2, 3, 4, 5].map((n) => `city=City ${n} City ${n}`),
    ],
    ['markup as it is', '<b>', [response('page:path', ['/<b>'])], ['page:path=/<b> /<b>']],
  ])('are %s', (_, text, responses, want) => {
    const found = listSuggestions(text, responses)
    expect(
      found.map(({ filter: { field, values }, name }) => `${field}=${values.join()} ${name}`),
    ).toEqual(want)
  })

  test('are at most twelve', () => {
    const fields = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term']
    const responses = fields.map((field) => response(field, ['a1', 'a2', 'a3', 'a4', 'a5']))
    expect(listSuggestions('a', responses)).toHaveLength(12)
  })

  test('have the pages that contain the text', () => {
    expect(suggestPages('blog')).toEqual({
      filter: { field: 'page:path', operator: 'contains', values: ['blog'] },
      name: 'Page contains “blog”',
      of: 'Pages: Path',
    })
  })
})

test.each([
  [undefined, 'next', 3, 0],
  [0, 'next', 3, 1],
  [2, 'next', 3, 0],
  [undefined, 'previous', 3, 2],
  [0, 'previous', 3, 2],
  [2, 'previous', 3, 1],
  [undefined, 'next', 0, undefined],
] as const)('from option %s the %s of %i is %s', (active, move, count, want) => {
  expect(moveActive(active, move, count)).toBe(want)
})

test.each([
  ['', undefined],
  ['a', undefined],
  ['ab', 'ab'],
  ['abcdef', 'ab'],
  ['😀a😀', '😀a'],
])('the stem of %j is %j', (text, stem) => {
  expect(findStem(text)).toBe(stem)
})

test('only fields with more values than a response are asked again', () => {
  const many = (field: string, total: number): Responses[number] => {
    const [, one] = response(field, ['x'])
    return [field, { ...one, pagination: { ...one.pagination, total } }]
  }
  const responses = [many('page:path', 1001), many('referrer', 1000), many('city', 5000)]
  const queries = buildNarrowedQueries(DEFAULT_STATE, responses, 'blog')
  expect(queries.map(({ id }) => id)).toEqual(['page:path'])
  expect(queries[0]!.body).toMatchObject({ filters: [{ operator: 'contains', value: ['blog'] }] })
})

test('a search has at most 12 queries', () => {
  const properties = Array.from({ length: 12 }, (_, n) => `p${n}`)
  expect(buildSearchQueries(DEFAULT_STATE, properties, 'ab')).toHaveLength(12)
})
