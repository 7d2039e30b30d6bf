/** Filters of the page, and those of the API that they stand for. */
import { expect, test } from '@jest/globals'
import { negateFilter } from '../../../src/explorer/state/changes.js'
import { toApiFilter, type FieldFilter } from '../../../src/explorer/state/filters.js'
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
  const state = negateFilter(index)({ ...DEFAULT_STATE, filters })
  expect(state).toEqual({ ...DEFAULT_STATE, filters: want })
})
