/** Filters on events: the visits that they keep, the events whose properties are shown, and how they are described. */
import { describe, expect, test } from '@jest/globals'
import { readSpecs } from '../../../src/contract/spec.js'
import {
  checkFilterLimits,
  findTooDeepFilter,
} from '../../../src/analytics/request/filter-limits.js'
import { buildFilters, describeFilter } from '../../../src/explorer/queries/filters.js'
import { buildQueries } from '../../../src/explorer/queries/build-queries.js'
import type { FieldFilter } from '../../../src/explorer/state/filters.js'
import { DEFAULT_STATE, type AskedState } from '../../../src/explorer/state/state.js'
import { QUERY } from '../../../src/analytics/operations/query.js'
import { compileContract } from '../../../src/http/validation/contract.js'

const filter = (
  field: string,
  operator: FieldFilter['operator'],
  ...values: string[]
): FieldFilter => ({ field, operator, values })

const name = (...value: string[]) => ({ field: 'event:name', operator: 'is', value })
const plan = (...value: string[]) => ({ property: 'plan', operator: 'is', value })
const any = (...filters: object[]) => ({ type: 'group', operator: 'or', filters })
const visit = (...filters: object[]) => ({ type: 'visit', filters })
const without = (one: object) => ({ type: 'group', operator: 'not', filters: [visit(one)] })
const GERMANY = filter('country', 'is', 'DE')
const IN_GERMANY = { field: 'country', operator: 'is', value: ['DE'] }

const SIGNUP = filter('event:name', 'is', 'signup')
const PRO = filter('event:prop:plan', 'is', 'pro')

/** The filters of a page, their join, and those of the API: for visits, and for the properties of events where they differ. */
const TABLE: readonly [string, readonly FieldFilter[], AskedState['join'], object[], object[]?][] =
  [
    ['no filter', [], 'and', []],
    ['none on events', [GERMANY], 'and', [IN_GERMANY]],
    ['one event', [SIGNUP], 'and', [visit(name('signup'))], [name('signup')]],
    [
      'one of several events',
      [filter('event:name', 'is', 'signup', 'login')],
      'and',
      [visit(name('signup', 'login'))],
      [name('signup', 'login')],
    ],
    [
      'one event with a property, and a country',
      [SIGNUP, GERMANY, PRO],
      'and',
      [IN_GERMANY, visit(name('signup'), plan('pro'))],
      [IN_GERMANY, name('signup'), plan('pro')],
    ],
    [
      'any of them',
      [SIGNUP, GERMANY, PRO],
      'or',
      [IN_GERMANY, visit(any(name('signup'), plan('pro')))],
      [IN_GERMANY, name('signup'), plan('pro')],
    ],
    [
      'a part of a name',
      [filter('event:name', 'contains', 'Sign')],
      'and',
      [
        visit({
          field: 'event:name',
          operator: 'contains',
          value: ['Sign'],
          case_sensitive: false,
        }),
      ],
      [{ field: 'event:name', operator: 'contains', value: ['Sign'], case_sensitive: false }],
    ],
    ['no such event', [filter('event:name', 'is_not', 'signup')], 'and', [without(name('signup'))]],
    [
      'none of several values',
      [filter('event:prop:plan', 'is_not', 'pro', 'free')],
      'and',
      [without(plan('pro', 'free'))],
    ],
    [
      'an event, and no other',
      [SIGNUP, filter('event:prop:plan', 'is_not', 'pro')],
      'and',
      [without(plan('pro')), visit(name('signup'))],
      [without(plan('pro')), name('signup')],
    ],
  ]

describe.each(TABLE)('%s', (_, filters, join, visits, events = visits) => {
  test('keeps these visits', () => {
    expect(buildFilters({ filters, join, goal: undefined }, 'visits')).toEqual(visits)
  })
  test('keeps these events for their properties', () => {
    expect(buildFilters({ filters, join, goal: undefined }, 'events')).toEqual(events)
  })
})

test('with a goal, filters on pages keep the visits that saw one', () => {
  const filters = [
    filter('page:path', 'is', '/a'),
    filter('page:origin', 'is_not', 'https://example.com'),
    GERMANY,
    SIGNUP,
  ]
  const path = { field: 'page:path', operator: 'is', value: ['/a'] }
  const origin = { field: 'page:origin', operator: 'is', value: ['https://example.com'] }
  expect(buildFilters({ filters, join: 'and', goal: 'purchase' }, 'visits')).toEqual([
    visit(path),
    without(origin),
    IN_GERMANY,
    visit(name('signup')),
  ])
  expect(filters.map((one) => describeFilter(one, 'purchase'))).toEqual([
    'Visit with path /a',
    'Visit without origin https://example.com',
    'Country is Germany',
    'Visit with event signup',
  ])
})

test('the API takes each of them, also the deepest, searched in the dialog', async () => {
  const contract = await compileContract({ validateResponses: false }, ['openapi'], readSpecs())
  const deepest: AskedState = {
    ...DEFAULT_STATE,
    filters: [
      GERMANY,
      filter('event:name', 'is', 'a', 'b'),
      filter('event:prop:plan', 'is', 'a', 'b'),
      filter('event:prop:plan', 'is_not', 'c', 'd'),
    ],
    join: 'or',
    details: {
      tab: 'referrer',
      view: 'value',
      search: 'direct',
      orderBy: 'users',
      direction: 'desc',
      page: 0,
    },
  }
  const states = TABLE.map(([, filters, join]) => ({ ...DEFAULT_STATE, filters, join }))
  for (const { body, operation } of [deepest, ...states].flatMap((state) => buildQueries(state))) {
    if (operation !== 'query') continue
    const { filters } = contract.validate(QUERY, body)
    expect(filters).toEqual(body.filters ?? [])
    expect([findTooDeepFilter(filters), checkFilterLimits(filters)]).toEqual([undefined, []])
  }
})

test('the tabs of properties, and the names of these tabs, are of the filtered events', () => {
  const properties = (filters: readonly FieldFilter[]) => {
    const queries = buildQueries({
      ...DEFAULT_STATE,
      filters,
      tabs: { events: 'event:prop:plan' },
    })
    return ['properties', 'events'].map((id) => queries.find((one) => one.id === id)?.body.filters)
  }
  expect(properties([])).toEqual([undefined, undefined])
  expect(properties([GERMANY])).toEqual([undefined, [IN_GERMANY]])
  expect(properties([SIGNUP])).toEqual([[name('signup')], [name('signup')]])
})

test.each([
  [GERMANY, 'Country is Germany'],
  [filter('page:path', 'contains_not', '/a'), 'Path does not contain /a'],
  [filter('event:name', 'is', 'signup', 'login'), 'Visit with event signup or login'],
  [filter('event:prop:plan', 'is_not', 'pro'), 'Visit without plan pro'],
  [filter('event:name', 'contains', 'sign'), 'Visit with event containing sign'],
])('%j is described as "%s"', (given, want) => {
  expect(describeFilter(given)).toBe(want)
})
