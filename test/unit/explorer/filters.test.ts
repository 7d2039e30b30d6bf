/** Filters of the page, and those of the API that they stand for. */
import { expect, test } from '@jest/globals'
import { toApiFilter, type FieldFilter } from '../../../src/explorer/state/filters.js'
import { readSpecs } from '../../../src/contract/spec.js'
import { compileContract } from '../../../src/http/validation/contract.js'

const filter = (field: string, operator: FieldFilter['operator'], ...values: string[]) => ({
  field,
  operator,
  values,
})

const TABLE: readonly [FieldFilter, object][] = [
  [
    filter('country', 'is', 'DE', 'AT'),
    { type: 'location', country: { operator: 'oneOf', value: ['DE', 'AT'] } },
  ],
  [filter('browser', 'is_not', ''), { type: 'browser', operator: 'noneOf', value: [''] }],
  [filter('referrer', 'is', ''), { type: 'referrer', operator: 'eq', value: '' }],
  [filter('page:path', 'is', '/a'), { type: 'page', path: { operator: 'eq', value: '/a' } }],
  [
    filter('page:path', 'is', '/a', '/b'),
    {
      type: 'group',
      operator: 'or',
      filters: [
        { type: 'page', path: { operator: 'eq', value: '/a' } },
        { type: 'page', path: { operator: 'eq', value: '/b' } },
      ],
    },
  ],
  [
    filter('page:entry', 'is_not', '/a', '/b'),
    {
      type: 'group',
      operator: 'and',
      filters: [
        { type: 'entry_page', operator: 'notEq', value: '/a' },
        { type: 'entry_page', operator: 'notEq', value: '/b' },
      ],
    },
  ],
  [
    filter('utm_campaign', 'contains', 'Sale'),
    {
      type: 'utm_tags',
      utm_campaign: { operator: 'contains', value: 'Sale', caseSensitive: false },
    },
  ],
  [
    filter('event:prop:plan', 'is', 'pro'),
    { type: 'event', properties: [{ property: 'plan', operator: 'eq', value: 'pro' }] },
  ],
]

test.each(TABLE)('%j is %j', (given, want) => {
  expect(toApiFilter(given)).toEqual(want)
})

test('the API takes each of them', async () => {
  const contract = await compileContract({ validateResponses: false }, ['openapi'], readSpecs())
  const filters = TABLE.map(([given]) => toApiFilter(given))
  const body = await contract.validateQuery({ date_range: 'today', filters })
  expect(body.filters).toEqual(filters)
})
