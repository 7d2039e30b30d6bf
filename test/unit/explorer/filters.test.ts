/** Filters of the page, and those of the API that they stand for. */
import { expect, test } from '@jest/globals'
import { describeFilter, describeVisits } from '../../../src/explorer/queries/filters.js'
import { replaceFilter } from '../../../src/explorer/state/changes.js'
import { negate, toApiFilter, type FieldFilter } from '../../../src/explorer/state/filters.js'
import { DEFAULT_STATE } from '../../../src/explorer/state/state.js'
import { readSpecs } from '../../../src/contract/spec.js'
import type { AnalyticsQueryRequest } from '../../../src/contract/api.js'
import { QUERY } from '../../../src/analytics/operations/query.js'
import { compileContract } from '../../../src/http/validation/contract.js'

const filter = (field: string, operator: FieldFilter['operator'], ...values: string[]) => ({
  field,
  operator,
  values,
})

const TABLE: readonly [FieldFilter, object][] = [
  [filter('country', 'is', 'DE', 'AT'), { field: 'country', operator: 'is', value: ['DE', 'AT'] }],
  [filter('browser', 'is_not', ''), { field: 'browser', operator: 'is_not', value: [''] }],
  [filter('referrer', 'is', ''), { field: 'referrer', operator: 'is', value: [''] }],
  [filter('page:path', 'is', '/a'), { field: 'page:path', operator: 'is', value: ['/a'] }],
  [
    filter('page:path', 'is', '/a', '/b'),
    { field: 'page:path', operator: 'is', value: ['/a', '/b'] },
  ],
  [
    filter('page:entry', 'is_not', '/a', '/b'),
    { field: 'page:entry', operator: 'is_not', value: ['/a', '/b'] },
  ],
  [
    filter('utm_campaign', 'contains', 'Sale'),
    { field: 'utm_campaign', operator: 'contains', value: ['Sale'], case_sensitive: false },
  ],
  [filter('weekday', 'is', '6', '7', '6'), { type: 'clock', weekdays: [6, 7] }],
  [filter('hour', 'is', '09', '23'), { type: 'clock', hours: [9, 23] }],
  [
    filter('hour', 'is_not', '00'),
    { type: 'group', operator: 'not', filters: [{ type: 'clock', hours: [0] }] },
  ],
  [filter('segment', 'is', 'firefox'), { type: 'segment', value: 'firefox' }],
  [
    filter('segment', 'is_not', 'firefox', 'a.b'),
    {
      type: 'group',
      operator: 'not',
      filters: [
        {
          type: 'group',
          operator: 'or',
          filters: [
            { type: 'segment', value: 'firefox' },
            { type: 'segment', value: 'a.b' },
          ],
        },
      ],
    },
  ],
  [filter('event:prop:plan', 'is', 'pro'), { property: 'plan', operator: 'is', value: ['pro'] }],
]

test.each(TABLE)('%j is %j', (given, want) => {
  expect(toApiFilter(given)).toEqual(want)
})

test('the API takes each of them', async () => {
  const contract = await compileContract({ validateResponses: false }, ['openapi'], readSpecs())
  const filters = TABLE.map(([given]) => toApiFilter(given))
  const body: AnalyticsQueryRequest = contract.validate(QUERY, {
    date_range: 'today',
    filters,
  })
  expect(body.filters).toEqual(filters)
})

test.each([
  [filter('weekday', 'is', '7', '6'), 'Weekday is Sat or Sun'],
  [filter('weekday', 'is_not', '1'), 'Weekday is not Mon'],
  [filter('hour', 'is', '11', '09', '10', '20'), 'Hour is 09:00–12:00 or 20:00–21:00'],
  [filter('hour', 'is_not', '23'), 'Hour is not 23:00–24:00'],
  [filter('segment', 'is', 'a', 'b'), 'Segment is a or b'],
])('%j is called %s', (given, want) => {
  expect(describeFilter(given)).toBe(want)
})

const GERMANY = filter('country', 'is', 'DE')
const NOT_FRANCE = filter('country', 'is_not', 'FR')
const LINUX = filter('os', 'is', 'Linux')

test.each<[string, index: number, readonly FieldFilter[], readonly FieldFilter[]]>([
  ['becomes its opposite', 0, [GERMANY, LINUX], [filter('country', 'is_not', 'DE'), LINUX]],
  [
    'gives its values to the filter that it would contradict',
    2,
    [GERMANY, LINUX, NOT_FRANCE],
    [filter('country', 'is', 'DE', 'FR'), LINUX],
  ],
  [
    'gives them to a later one',
    0,
    [GERMANY, NOT_FRANCE],
    [filter('country', 'is_not', 'FR', 'DE')],
  ],
  [
    'gives each value once',
    1,
    [GERMANY, filter('country', 'is_not', 'DE', 'FR')],
    [filter('country', 'is', 'DE', 'FR')],
  ],
  [
    'has nothing to do with filters of other operators',
    0,
    [GERMANY, filter('country', 'contains', 'F')],
    [filter('country', 'is_not', 'DE'), filter('country', 'contains', 'F')],
  ],
  ['that is not there changes nothing', 1, [GERMANY], [GERMANY]],
])('a filter that is negated %s', (_what, index, filters, want) => {
  const negated = negate(filters[index] ?? GERMANY)
  const state = replaceFilter(index, negated)({ ...DEFAULT_STATE, filters })
  expect(state).toEqual({ ...DEFAULT_STATE, filters: want })
})

const PRICING = filter('page:path', 'is', '/pricing')

test.each<[given: FieldFilter[], join: 'and' | 'or', isSaid: boolean]>([
  [[PRICING], 'and', true],
  [[PRICING], 'or', true],
  [[filter('page:origin', 'contains', 'shop'), filter('country', 'is', 'DE')], 'and', true],
  [[PRICING, filter('country', 'is', 'DE')], 'or', false],
  [[filter('page:path', 'is_not', '/pricing')], 'and', false],
  [[filter('page:entry', 'is', '/pricing')], 'and', false],
  [[], 'and', false],
])(
  'with the filters %j, joined by %s, visits are those that saw the page: %s',
  (filters, join, isSaid) => {
    expect(describeVisits({ filters, join }) !== undefined).toBe(isSaid)
  },
)
