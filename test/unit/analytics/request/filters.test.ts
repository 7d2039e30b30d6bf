/** parseFilters() turns filters into a condition on one event: one case for each filter type. */
import { describe, expect, test } from '@jest/globals'
import { parseFilters, type Predicate } from '../../../../src/analytics/request/filters.js'
import type { Filter, FilterOperator } from '../../../../src/contract/api.js'

const all = (...of: Predicate[]): Predicate => ({ kind: 'all', of })
const eq = (dimension: string, value: string) =>
  ({ kind: 'string', dimension, operator: 'eq', value }) as Predicate
const oneOf = (dimension: string, ...values: string[]) =>
  ({ kind: 'list', dimension, operator: 'oneOf', values }) as Predicate

const clause = (value: string) => ({ value, operator: 'eq' as const })
const list = (...value: string[]) => ({ value, operator: 'oneOf' as const })

const values = (operator: FilterOperator, ...value: string[]) => ({ operator, value })

/** The same predicate as that of a filter of the other form. */
test.each<[Filter, Filter]>([
  [
    { field: 'country', ...values('is', 'DE', 'FR') },
    { type: 'location', country: list('DE', 'FR') },
  ],
  [
    { field: 'device_type', ...values('is_not', '') },
    { type: 'device', operator: 'noneOf', value: [''] },
  ],
  [
    { field: 'page:path', ...values('starts_with', '/blog/') },
    { type: 'page', path: { operator: 'startsWith', value: '/blog/' } },
  ],
  [
    { field: 'utm_term', ...values('contains_not', 'x'), case_sensitive: false },
    {
      type: 'utm_tags',
      utm_term: { operator: 'notContains', value: 'x', caseSensitive: false },
    },
  ],
  [
    { field: 'page:hash', operator: 'is_set' },
    { type: 'page', hash: { operator: 'any', value: '' } },
  ],
  [
    { property: 'plan', ...values('ends_with', 'o', 'e') },
    {
      type: 'group',
      operator: 'or',
      filters: ['o', 'e'].map((value) => ({
        type: 'event',
        properties: [{ property: 'plan', operator: 'endsWith', value }],
      })),
    },
  ],
  [
    { property: 'plan', ...values('matches_not', 'o', 'e') },
    {
      type: 'group',
      operator: 'and',
      filters: ['o', 'e'].map((value) => ({
        type: 'event',
        properties: [{ property: 'plan', operator: 'notMatches', value }],
      })),
    },
  ],
])('%j is %j', (one, other) => {
  const parse = (filter: Filter) => parseFilters({ filters: [filter], filtersOperator: 'and' })
  expect(parse(one)).toEqual(parse(other))
})

test('a field is compared with several values at once where it can be', () => {
  const parse = (filter: Filter) => parseFilters({ filters: [filter], filtersOperator: 'and' })
  expect(parse({ field: 'page:path', ...values('is', '/a', '/b') })).toEqual(
    all(oneOf('page:path', '/a', '/b')),
  )
})

describe('parseFilters', () => {
  test.each<[Filter, Predicate]>([
    [{ type: 'page' }, all()],
    [
      { type: 'page', origin: clause('o'), path: clause('p'), hash: clause('h') },
      all(eq('page:origin', 'o'), eq('page:path', 'p'), eq('page:hash', 'h')),
    ],
    [{ type: 'event' }, all()],
    [
      {
        type: 'event',
        name: clause('signup'),
        properties: [{ property: 'plan', value: 'pro', operator: 'notEq' }],
      },
      all(eq('event:name', 'signup'), {
        kind: 'property',
        name: 'plan',
        operator: 'notEq',
        value: 'pro',
      }),
    ],
    [
      { type: 'user', anonymous: false },
      { kind: 'anonymous', value: false },
    ],
    [
      { type: 'location', country: list('DE'), city: list('Köln', '') },
      all(oneOf('country', 'DE'), oneOf('city', 'Köln', '')),
    ],
    [{ type: 'referrer', ...clause('') }, eq('referrer', '')],
    [{ type: 'referrer_url', ...clause('https://t.co/') }, eq('referrer_url', 'https://t.co/')],
    [{ type: 'referrer_type', ...list('search') }, oneOf('referrer_type', 'search')],
    [{ type: 'channel', ...list('Email') }, oneOf('channel', 'Email')],
    [
      {
        type: 'utm_tags',
        utm_term: clause('5'),
        utm_source: clause('4'),
        utm_medium: clause('3'),
        utm_content: clause('2'),
        utm_campaign: clause('1'),
      },
      all(
        eq('utm_campaign', '1'),
        eq('utm_content', '2'),
        eq('utm_medium', '3'),
        eq('utm_source', '4'),
        eq('utm_term', '5'),
      ),
    ],
    [{ type: 'browser', ...list('Chrome') }, oneOf('browser', 'Chrome')],
    [{ type: 'device', ...list('mobile') }, oneOf('device_type', 'mobile')],
    [{ type: 'os', ...list() }, oneOf('os')],
    [
      {
        type: 'group',
        operator: 'and',
        filters: [{ type: 'page' }, { type: 'os', ...list('a') }],
      },
      all(all(), oneOf('os', 'a')),
    ],
    [
      {
        type: 'group',
        operator: 'or',
        filters: [
          { type: 'browser', ...list() },
          { type: 'os', ...list('a') },
        ],
      },
      { kind: 'any', of: [oneOf('browser'), oneOf('os', 'a')] },
    ],
    [
      {
        type: 'group',
        operator: 'not',
        filters: [
          { type: 'browser', ...list() },
          { type: 'os', ...list('a') },
        ],
      },
      { kind: 'not', of: all(oneOf('browser'), oneOf('os', 'a')) },
    ],
    [
      {
        type: 'visit',
        filters: [
          { type: 'page', path: clause('p') },
          { type: 'os', ...list() },
        ],
      },
      { kind: 'visit', of: all(eq('page:path', 'p'), oneOf('os')) },
    ],
    [
      { type: 'referrer', ...clause('x'), caseSensitive: false },
      { ...eq('referrer', 'x'), ignoresCase: true } as Predicate,
    ],
    [{ type: 'referrer', ...clause('x'), caseSensitive: true }, eq('referrer', 'x')],
  ])('%j', (filter, want) => {
    expect(parseFilters({ filters: [filter], filtersOperator: 'and' })).toEqual(all(want))
  })

  const [a, b]: Filter[] = [
    { type: 'user', anonymous: true },
    { type: 'browser', ...list('Chrome') },
  ]
  test.each([
    ['and', [], all()],
    ['or', [], all()],
    [
      'and',
      [a!, b!],
      { kind: 'all', of: [{ kind: 'anonymous', value: true }, oneOf('browser', 'Chrome')] },
    ],
    [
      'or',
      [a!, b!],
      { kind: 'any', of: [{ kind: 'anonymous', value: true }, oneOf('browser', 'Chrome')] },
    ],
  ] as const)('%s of %j', (filtersOperator, filters, want) => {
    expect(parseFilters({ filters, filtersOperator })).toEqual(want)
  })
})
