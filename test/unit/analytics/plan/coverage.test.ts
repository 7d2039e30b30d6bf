/** Coverage: the dimension by which rollups are read for a query, and the relations that can give a measure. */
import { describe, expect, test } from '@jest/globals'
import {
  findRejectionReason,
  matchesEntries,
  matchesWholeSessions,
  matchRollups,
  type Need,
  type RollupKey,
} from '../../../../src/analytics/plan/coverage.js'
import {
  ALL_RELATIONS,
  needsPairs,
  RELATIONS,
  type RelationName,
} from '../../../../src/model/relations.js'
import type { NamedMeasure } from '../../../../src/model/measures.js'
import { resolveQuery, type Query } from '../../../../src/analytics/request/query.js'
import type { AnalyticsQueryRequest, Filter, StringOperator } from '../../../../src/contract/api.js'
import { fillDefaults } from '../../../support/world/world.js'

const JANUARY = { start: new Date('2026-01-01'), end: new Date('2026-02-01') }

type Given = Partial<AnalyticsQueryRequest>
const query = (given: Given, period = JANUARY): Query =>
  resolveQuery(fillDefaults({ date_range: '7days', ...given }), 'p1', period)

const oneOf = { value: ['x'], operator: 'oneOf' as const }
const eq = { value: 'x', operator: 'eq' as const }
const country: Filter = { type: 'location', country: oneOf }
const city: Filter = { type: 'location', city: oneOf }
const path: Filter = { type: 'page', path: eq }
const name: Filter = { type: 'event', name: eq }
const anonymous: Filter = { type: 'user', anonymous: true }
const plan = (...operators: readonly StringOperator[]): Filter => ({
  type: 'event',
  properties: operators.map((operator) => ({ property: 'plan', value: 'x', operator })),
})

const group = (operator: 'and' | 'or' | 'not', ...filters: readonly Filter[]): Filter => ({
  type: 'group',
  operator,
  filters,
})

const total: RollupKey = { subject: 'sessions', dimension: 'total' }
const ofPlan: RollupKey = { subject: 'events', dimension: 'event:prop:plan' }
const withoutPlan = 'no rollup counts events without event:prop:plan'
const any = { filtersOperator: 'or' } as const

/** Returns the key by which rollups are read for a query, or the reason why none can be. */
function match(given: Given, need: Need = 'groups'): RollupKey | string {
  const found = matchAll(given, need)
  if (typeof found === 'string') return found
  expect(found).toHaveLength(1)
  return found[0]!
}

function matchAll(given: Given, need: Need): readonly RollupKey[] | string {
  const found = matchRollups(query(given), need)
  return found.kind === 'covered' ? found.keys : found.reason
}

describe('matchRollups', () => {
  test.each<[string, Given, RollupKey | string]>([
    ['without grouping and filters, totals are read', {}, total],
    ['buckets of time need no dimension', { group_by: ['interval:auto'] }, total],
    ['a filter without members needs no dimension', { filters: [{ type: 'page' }] }, total],
    [
      'grouped by a session attribute',
      { group_by: ['country'] },
      { subject: 'sessions', dimension: 'country' },
    ],
    [
      'filtered by a session attribute',
      { filters: [country] },
      { subject: 'sessions', dimension: 'country' },
    ],
    [
      'groups of filters by one attribute',
      { filters: [group('or', country, group('not', country))] },
      { subject: 'sessions', dimension: 'country' },
    ],
    [
      'filtered by the other events of a visit',
      { filters: [{ type: 'visit', filters: [country] }] },
      'no rollup counts by visit',
    ],
    [
      'groups of filters by two attributes',
      { filters: [group('or', country, group('not', city))] },
      'no rollup combines country and city',
    ],
    [
      'grouped and filtered by one session attribute',
      { group_by: ['country'], filters: [country] },
      { subject: 'sessions', dimension: 'country' },
    ],
    [
      'one session attribute in several filters, in buckets',
      { group_by: ['interval:auto'], filters: [country, country], ...any },
      { subject: 'sessions', dimension: 'country' },
    ],
    [
      'grouped by page',
      { group_by: ['page:path'] },
      { subject: 'pageviews', dimension: 'page:path' },
    ],
    ['filtered by page', { filters: [path] }, { subject: 'pageviews', dimension: 'page:path' }],
    [
      'grouped and filtered by event name',
      { group_by: ['event:name'], filters: [name] },
      { subject: 'events', dimension: 'event:name' },
    ],
    ['grouped by a property', { group_by: ['event:prop:plan'] }, ofPlan],
    [
      'a property with the name of a member of every object',
      { group_by: ['event:prop:constructor'] },
      { subject: 'events', dimension: 'event:prop:constructor' },
    ],
    [
      'two dimensions: a grouping and a filter',
      { group_by: ['city'], filters: [country] },
      'no rollup combines country and city',
    ],
    [
      'a pair: a grouping and a filter',
      { group_by: ['page:path'], filters: [country] },
      { subject: 'pairs', dimension: 'page:path and country' },
    ],
    [
      'a pair: two filters',
      { filters: [country, path] },
      { subject: 'pairs', dimension: 'page:path and country' },
    ],
    [
      'a pair: two groupings, and filters on both',
      { group_by: ['page:path'], then_by: ['country'], filters: [group('not', country), path] },
      { subject: 'pairs', dimension: 'page:path and country' },
    ],
    [
      'three dimensions',
      { group_by: ['browser'], filters: [country, path] },
      'no rollup combines country and page:path and browser',
    ],
    [
      'two dimensions: two members of one filter',
      { filters: [{ type: 'location', country: oneOf, city: oneOf }] },
      'no rollup combines country and city',
    ],
    [
      'two properties',
      {
        group_by: ['event:prop:plan'],
        filters: [{ type: 'event', properties: [{ property: 'n', ...eq }] }],
      },
      'no rollup combines event:prop:n and event:prop:plan',
    ],
    [
      'a property and the event name',
      { filters: [{ type: 'event', name: eq, properties: [{ property: 'plan', ...eq }] }] },
      'no rollup combines event:name and event:prop:plan',
    ],
    ['whether users are anonymous', { filters: [anonymous] }, 'no rollup counts by anonymous'],
    [
      'the hash of a page',
      { filters: [{ type: 'page', hash: eq }] },
      'no rollup counts by page:hash',
    ],
    [
      'the URL of a referrer',
      { filters: [{ type: 'referrer_url', ...eq }] },
      'no rollup counts by referrer_url',
    ],
  ])('%s', (_why, given, want) => {
    expect(match(given)).toEqual(want)
  })

  test.each<[StringOperator, RollupKey | string]>([
    ['any', ofPlan],
    ['eq', ofPlan],
    ['notEq', withoutPlan],
    ['contains', ofPlan],
    ['notContains', withoutPlan],
    ['startsWith', ofPlan],
    ['endsWith', ofPlan],
  ])('filtered by a property, %s', (operator, want) => {
    expect(match({ filters: [plan(operator)] })).toEqual(want)
  })

  test.each<[string, Given, RollupKey | string]>([
    [
      'it is grouped by: events without it are in no group',
      { group_by: ['event:prop:plan'], filters: [plan('notEq')] },
      ofPlan,
    ],
    ['one clause of a filter requires it', { filters: [plan('notEq', 'contains')] }, ofPlan],
    ['no clause of a filter requires it', { filters: [plan('notEq', 'notContains')] }, withoutPlan],
    [
      'one of several filters joined by and requires it',
      { filters: [plan('notEq'), plan('any')] },
      ofPlan,
    ],
    [
      'every filter joined by or requires it',
      { filters: [plan('any'), plan('eq')], ...any },
      ofPlan,
    ],
    [
      'one filter joined by or does not require it',
      { filters: [plan('any'), plan('notEq')], ...any },
      withoutPlan,
    ],
    [
      'one filter joined by or matches everything',
      { filters: [plan('any'), { type: 'event' }], ...any },
      withoutPlan,
    ],
    [
      'one filter joined by and matches everything',
      { filters: [{ type: 'event' }, plan('any')] },
      ofPlan,
    ],
    ['a negation requires it', { filters: [group('not', plan('notEq'))] }, ofPlan],
    ['a negation does not require it', { filters: [group('not', plan('eq'))] }, withoutPlan],
    [
      'a negated group requires it',
      { filters: [group('not', group('or', plan('eq'), plan('notEq')))] },
      ofPlan,
    ],
    [
      'buckets count events without it',
      { group_by: ['interval:auto'], filters: [plan('notContains')] },
      withoutPlan,
    ],
  ])('a property, where %s', (_why, given, want) => {
    expect(match(given)).toEqual(want)
  })
})

describe('numbers, which are read from their sums, or from the values of their property', () => {
  const amount: Need = { state: 'sum', property: 'amount', place: 0 }
  const ofAmount: RollupKey = { subject: 'events', dimension: 'event:prop:amount' }
  const sums = (dimension: string): RollupKey => ({
    subject: 'numbers',
    dimension: `event:prop:amount and ${dimension}`,
  })
  test.each<[string, Given, readonly RollupKey[] | string]>([
    ['of all events', {}, [sums('total'), ofAmount]],
    ['by buckets of time', { group_by: ['interval:auto'] }, [sums('total'), ofAmount]],
    ['by the property itself', { group_by: ['event:prop:amount'] }, [ofAmount]],
    [
      'filtered by the property itself',
      {
        filters: [
          { type: 'event', properties: [{ property: 'amount', value: '1', operator: 'notEq' }] },
        ],
      },
      [ofAmount],
    ],
    [
      'by another property',
      { group_by: ['event:prop:plan'] },
      'no rollup combines event:prop:plan and event:prop:amount',
    ],
    ['by a dimension', { group_by: ['country'] }, [sums('country')]],
    ['filtered by a dimension', { filters: [country] }, [sums('country')]],
    [
      'by a dimension that it is filtered by',
      { group_by: ['country'], filters: [country] },
      [sums('country')],
    ],
    [
      'by a dimension in buckets of time',
      { group_by: ['interval:auto'], then_by: ['country'] },
      [sums('country')],
    ],
    [
      'by two dimensions',
      { group_by: ['country'], filters: [path] },
      'no rollup combines page:path and country and event:prop:amount',
    ],
    [
      'filtered by a dimension without sums',
      { filters: [city] },
      'no rollup combines city and event:prop:amount',
    ],
  ])('%s', (_what, given, want) => {
    expect(matchAll(given, amount)).toEqual(want)
  })
})

/** Lists the rollups and plain facts that have a measure, with the reason why each cannot be read, if any. */
function listReasons(given: Given, measure: NamedMeasure, period = JANUARY) {
  const asked = query(given, period)
  const found = matchRollups(asked, measure)
  const reasons = ALL_RELATIONS.filter(
    (one) =>
      RELATIONS[one].measures[measure] !== undefined &&
      one !== 'whole_sessions' &&
      !needsPairs(one),
  ).map((one) => [one, findRejectionReason(one, measure, asked, found)] as const)
  return Object.fromEntries(reasons) as Partial<Record<RelationName, string | undefined>>
}

/** For pairs: the reason why the rollup of pairs that has a measure cannot be read, if any. */
function findReasonOfPairs(given: Given, measure: NamedMeasure): string | undefined {
  const asked = query(given, JANUARY)
  const relation = measure === 'users' ? 'pair_users_monthly' : 'pairs_monthly'
  return findRejectionReason(relation, measure, asked, matchRollups(asked, measure))
}

const browser: Filter = { type: 'browser', ...oneOf }
const ENTERED_BY = 'it counts visits by entry page, and the filter matches any page of a visit'

test.each<[string, Given, NamedMeasure, string | undefined]>([
  ['events', { filters: [country, path] }, 'pageviews', undefined],
  ['visits of two attributes', { filters: [country, browser] }, 'visits', undefined],
  ['visits by page', { group_by: ['page:path'], filters: [country] }, 'visits', undefined],
  [
    'visits by page, of some pages',
    { group_by: ['page:path'], filters: [country, path] },
    'visits',
    ENTERED_BY,
  ],
  [
    'visits by page and country, of some pages: a visit matches by its entry page',
    { group_by: ['page:path'], then_by: ['country'], filters: [path] },
    'visits',
    undefined,
  ],
  ['visits that saw a page', { group_by: ['country'], filters: [path] }, 'visits', ENTERED_BY],
  [
    'visits that have an event',
    { group_by: ['country'], filters: [name] },
    'visits',
    'it counts no visits by event:name',
  ],
  ['users', { filters: [country, path] }, 'users', undefined],
  [
    'buckets that months do not add up to',
    { group_by: ['interval:week'], filters: [country, browser] },
    'pageviews',
    'its months do not add up to buckets of one week',
  ],
])('a rollup of pairs counts %s', (_what, given, measure, want) => {
  expect(findReasonOfPairs(given, measure)).toBe(want)
})

const doesNotCountBy = (what: string): string => `it does not count by ${what}`
const MONTHLY_CITIES = 'city has no daily rollup'
const year = { start: new Date('2025-02-01'), end: new Date('2026-02-01') }
const days = (count: number) => ({
  start: new Date('2026-01-01'),
  end: new Date(Date.parse('2026-01-01') + count * 86_400_000),
})
const ENTERED = 'it counts visits by entry page, and the filter matches any page of a visit'

/** The expected reasons of the relations that count events; both grains of a subject have the same. */
const expectCounts = (
  sessions: string | undefined,
  pageviews: string | undefined,
  events: string | undefined,
) => ({
  sessions_monthly: sessions,
  pageviews_monthly: pageviews,
  events_monthly: events,
  sessions_daily: sessions,
  pageviews_daily: pageviews,
  events_daily: events,
  events: undefined,
})
const expectUsers = (monthly: string | undefined, daily: string | undefined) => ({
  users_monthly: monthly,
  users_daily: daily,
  events: undefined,
})
const expectVisits = (sessions: string | undefined, pageviews: string | undefined) => ({
  sessions_monthly: sessions,
  pageviews_monthly: pageviews,
  sessions_daily: sessions,
  pageviews_daily: pageviews,
  sessions: undefined,
})

describe('findRejectionReason', () => {
  test.each<[string, Given, NamedMeasure, ReturnType<typeof listReasons>]>([
    [
      'totals: only the rollups of sessions have them',
      {},
      'pageviews',
      expectCounts(undefined, doesNotCountBy('total'), doesNotCountBy('total')),
    ],
    [
      'by a session attribute',
      { group_by: ['country'] },
      'pageviews',
      expectCounts(undefined, doesNotCountBy('country'), doesNotCountBy('country')),
    ],
    [
      'by page',
      { group_by: ['page:path'] },
      'events',
      expectCounts(doesNotCountBy('page:path'), undefined, doesNotCountBy('page:path')),
    ],
    [
      'by event name',
      { group_by: ['event:name'] },
      'events',
      expectCounts(doesNotCountBy('event:name'), doesNotCountBy('event:name'), undefined),
    ],
    [
      'by a property',
      { group_by: ['event:prop:plan'] },
      'pageviews',
      expectCounts(doesNotCountBy('event:prop:plan'), doesNotCountBy('event:prop:plan'), undefined),
    ],
    ['users in total', {}, 'users', expectUsers(undefined, undefined)],
    ['users by country', { group_by: ['country'] }, 'users', expectUsers(undefined, undefined)],
    [
      'users by a dimension with monthly rollups only',
      { group_by: ['city'] },
      'users',
      expectUsers(undefined, MONTHLY_CITIES),
    ],
    [
      'users, filtered by a dimension with monthly rollups only',
      { filters: [city] },
      'users',
      expectUsers(undefined, MONTHLY_CITIES),
    ],
    [
      'events by a dimension with monthly rollups only',
      { group_by: ['city'] },
      'pageviews',
      {
        ...expectCounts(undefined, doesNotCountBy('city'), doesNotCountBy('city')),
        sessions_daily: MONTHLY_CITIES,
      },
    ],
    [
      'visits by a dimension with monthly rollups only',
      { group_by: ['city'] },
      'visits',
      { ...expectVisits(undefined, doesNotCountBy('city')), sessions_daily: MONTHLY_CITIES },
    ],
    ['users by page', { group_by: ['page:path'] }, 'users', expectUsers(undefined, undefined)],
    [
      'users by event name',
      { group_by: ['event:name'] },
      'users',
      expectUsers(undefined, undefined),
    ],
    [
      'users by property',
      { group_by: ['event:prop:plan'] },
      'users',
      expectUsers(undefined, undefined),
    ],
    ['visits in total', {}, 'visits', expectVisits(undefined, doesNotCountBy('total'))],
    [
      'visits by entry page',
      { group_by: ['page:path'] },
      'bounces',
      expectVisits(doesNotCountBy('page:path'), undefined),
    ],
    [
      'visits by entry page, filtered by that page',
      { group_by: ['page:path'], filters: [path] },
      'duration',
      expectVisits(doesNotCountBy('page:path'), undefined),
    ],
    [
      'visits with any page that matches a filter',
      { filters: [path] },
      'visits',
      expectVisits(doesNotCountBy('page:path'), ENTERED),
    ],
    [
      'visits in buckets, with any page that matches a filter',
      { filters: [path], group_by: ['interval:auto'] },
      'visits',
      {
        ...expectVisits(doesNotCountBy('page:path'), ENTERED),
        pageviews_monthly: 'its months do not add up to buckets of one day',
      },
    ],
    [
      'events, filtered by page',
      { filters: [path] },
      'pageviews',
      expectCounts(doesNotCountBy('page:path'), undefined, doesNotCountBy('page:path')),
    ],
    [
      'visits, filtered by event name',
      { filters: [name] },
      'visits',
      expectVisits(doesNotCountBy('event:name'), doesNotCountBy('event:name')),
    ],
    [
      'a dimension without rollups: all have the same reason',
      { filters: [anonymous] },
      'users',
      expectUsers('no rollup counts by anonymous', 'no rollup counts by anonymous'),
    ],
  ])('%s', (_why, given, measure, want) => {
    expect(listReasons(given, measure)).toStrictEqual(want)
  })

  test.each([
    [
      'an hour',
      days(2),
      'its months do not add up to buckets of one hour',
      'its days do not add up to buckets of one hour',
    ],
    ['a day', days(3), 'its months do not add up to buckets of one day', undefined],
    ['a week', days(100), 'its months do not add up to buckets of one week', undefined],
    ['a month', year, undefined, undefined],
  ])('users in buckets of %s', (_what, period, monthly, daily) => {
    const want = expectUsers(monthly, daily)
    expect(listReasons({ group_by: ['interval:auto'] }, 'users', period)).toStrictEqual(want)
  })
})

describe('sessions alone', () => {
  const crossing = 'sessions may cross the edges of buckets'
  const differ = (what: string): string => `events of one session may differ in ${what}`
  test.each<[string, Given, string | undefined]>([
    ['count everything', {}, undefined],
    ['by a session attribute', { group_by: ['city'] }, undefined],
    ['by one, filtered by others', { group_by: ['city'], filters: [country] }, undefined],
    ['filtered by one without rollups', { filters: [{ type: 'referrer_url', ...eq }] }, undefined],
    ['in buckets', { group_by: ['interval:auto'] }, crossing],
    ['by page', { group_by: ['page:path'] }, differ('page:path')],
    ['by event name', { group_by: ['event:name'] }, differ('event:name')],
    ['by property', { group_by: ['event:prop:plan'] }, differ('event:prop:plan')],
    ['filtered by page', { group_by: ['city'], filters: [path] }, differ('page:path')],
    ['filtered by anonymity', { filters: [anonymous] }, differ('anonymous')],
    ['visits', { metrics: ['bounce_rate', 'visit_duration'] }, 'no event is counted'],
    ['visits by an attribute', { metrics: ['bounce_rate'], group_by: ['city'] }, undefined],
  ])('%s', (_what, given, want) => {
    const asked = query(given, JANUARY)
    const found = matchRollups(asked, 'users')
    expect(findRejectionReason('whole_sessions', 'users', asked, found)).toBe(want)
  })
})

describe('the rows that a filter on visits is applied to', () => {
  test.each<[string, Given, { ofWholeSessions: boolean; ofEntries: boolean }]>([
    ['no filter', {}, { ofWholeSessions: true, ofEntries: false }],
    [
      'session attributes',
      { filters: [country, city] },
      { ofWholeSessions: true, ofEntries: false },
    ],
    [
      'the referrer URL, a session attribute without rollups',
      { filters: [{ type: 'referrer_url', ...eq }] },
      { ofWholeSessions: true, ofEntries: false },
    ],
    ['a page', { filters: [path] }, { ofWholeSessions: false, ofEntries: false }],
    [
      'the page of the grouping',
      { filters: [path], group_by: ['page:path'] },
      { ofWholeSessions: false, ofEntries: true },
    ],
    [
      'another part of the page than in the grouping',
      { filters: [path], group_by: ['page:origin'] },
      { ofWholeSessions: false, ofEntries: false },
    ],
    [
      'the page of the grouping, and a session attribute',
      { filters: [path, country], group_by: ['page:path'] },
      { ofWholeSessions: false, ofEntries: false },
    ],
    ['a property', { filters: [plan('eq')] }, { ofWholeSessions: false, ofEntries: false }],
    ['anonymity', { filters: [anonymous] }, { ofWholeSessions: false, ofEntries: false }],
    [
      'the event name, by which visits are not counted',
      { filters: [name], group_by: ['event:name'] },
      { ofWholeSessions: false, ofEntries: false },
    ],
  ])('%s', (_what, given, want) => {
    const asked = query(given)
    expect({
      ofWholeSessions: matchesWholeSessions(asked.predicate),
      ofEntries: matchesEntries(asked),
    }).toEqual(want)
  })
})
