/** Coverage: what rollups are asked by, and which relation can answer which measure. */
import { describe, expect, test } from '@jest/globals'
import {
  matchesEntries,
  matchRollups,
  rejectionReason,
  type RollupKey,
} from '../../../../src/analytics/plan/coverage.js'
import { matchesWholeSessions } from '../../../../src/analytics/plan/terms.js'
import { ALL_RELATIONS, RELATIONS, type RelationName } from '../../../../src/model/relations.js'
import type { Measure } from '../../../../src/model/measures.js'
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

const total: RollupKey = { subject: 'sessions', dimension: 'total' }
const ofPlan: RollupKey = { subject: 'events', dimension: 'event:prop:plan' }
const withoutPlan = 'no rollup counts events without event:prop:plan'
const any = { filtersOperator: 'or' } as const

/** The match of rollups for a query, in short: their key, or the reason why there is none. */
function match(given: Given): RollupKey | string {
  const found = matchRollups(query(given))
  return found.kind === 'covered' ? found.key : found.reason
}

describe('matchRollups', () => {
  test.each<[string, Given, RollupKey | string]>([
    ['nothing is looked at: all there is', {}, total],
    ['time is no value', { group_by: ['interval:auto'] }, total],
    ['a filter without members looks at nothing', { filters: [{ type: 'page' }] }, total],
    [
      'a session attribute that is grouped by',
      { group_by: ['country'] },
      { subject: 'sessions', dimension: 'country' },
    ],
    [
      'a session attribute that is filtered by',
      { filters: [country] },
      { subject: 'sessions', dimension: 'country' },
    ],
    [
      'one that is both',
      { group_by: ['country'], filters: [country] },
      { subject: 'sessions', dimension: 'country' },
    ],
    [
      'one in several filters, in buckets',
      { group_by: ['interval:auto'], filters: [country, country], ...any },
      { subject: 'sessions', dimension: 'country' },
    ],
    [
      'pages that are grouped by',
      { group_by: ['page:path'] },
      { subject: 'pageviews', dimension: 'page:path' },
    ],
    [
      'pages that are filtered by',
      { filters: [path] },
      { subject: 'pageviews', dimension: 'page:path' },
    ],
    [
      'names of events',
      { group_by: ['event:name'], filters: [name] },
      { subject: 'events', dimension: 'event:name' },
    ],
    ['a property that is grouped by', { group_by: ['event:prop:plan'] }, ofPlan],
    [
      'a property named as something that every object has',
      { group_by: ['event:prop:constructor'] },
      { subject: 'events', dimension: 'event:prop:constructor' },
    ],
    [
      'two dimensions: a grouping and a filter',
      { group_by: ['city'], filters: [country] },
      'no rollup combines country and city',
    ],
    [
      'two dimensions: two filters',
      { filters: [country, path] },
      'no rollup combines country and page:path',
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
      'a property and the name of the event',
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
  ])('a property that is filtered by, which no row lacks: %s', (operator, want) => {
    expect(match({ filters: [plan(operator)] })).toEqual(want)
  })

  test.each<[string, Given, RollupKey | string]>([
    [
      'grouped by: what lacks it makes no group',
      { group_by: ['event:prop:plan'], filters: [plan('notEq')] },
      ofPlan,
    ],
    ['one clause of a filter wants it', { filters: [plan('notEq', 'contains')] }, ofPlan],
    ['no clause of a filter wants it', { filters: [plan('notEq', 'notContains')] }, withoutPlan],
    ['one of all filters wants it', { filters: [plan('notEq'), plan('any')] }, ofPlan],
    ['every one of any filters wants it', { filters: [plan('any'), plan('eq')], ...any }, ofPlan],
    [
      'one of any filters does not want it',
      { filters: [plan('any'), plan('notEq')], ...any },
      withoutPlan,
    ],
    [
      'one of any filters selects everything',
      { filters: [plan('any'), { type: 'event' }], ...any },
      withoutPlan,
    ],
    [
      'one of all filters selects everything',
      { filters: [{ type: 'event' }, plan('any')] },
      ofPlan,
    ],
    [
      'in buckets, what lacks it is counted',
      { group_by: ['interval:auto'], filters: [plan('notContains')] },
      withoutPlan,
    ],
  ])('a property, where %s', (_why, given, want) => {
    expect(match(given)).toEqual(want)
  })
})

/** Which relations answer a measure, and why the others do not. */
function listReasons(given: Given, measure: Measure, period = JANUARY) {
  const asked = query(given, period)
  const found = matchRollups(asked)
  const reasons = ALL_RELATIONS.filter((one) => RELATIONS[one].measures[measure] !== undefined).map(
    (one) => [one, rejectionReason(one, measure, asked, found)] as const,
  )
  return Object.fromEntries(reasons) as Partial<Record<RelationName, string | undefined>>
}

const doesNotCountBy = (what: string): string => `it does not count by ${what}`
const MONTHLY_CITIES = 'city has no daily rollup'
const year = { start: new Date('2025-02-01'), end: new Date('2026-02-01') }
const days = (count: number) => ({
  start: new Date('2026-01-01'),
  end: new Date(Date.parse('2026-01-01') + count * 86_400_000),
})
const ENTERED = 'it counts visits by entry page, and the filter matches any page of a visit'

/** Of relations that count, each with the same reason. */
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

describe('rejectionReason', () => {
  test.each<[string, Given, Measure, ReturnType<typeof listReasons>]>([
    [
      'in total: of each subject the one that has the whole',
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
      'by the name of events',
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
      'users of what is kept by month alone',
      { group_by: ['city'] },
      'users',
      expectUsers(undefined, MONTHLY_CITIES),
    ],
    [
      'users of what is kept by month alone, filtered by',
      { filters: [city] },
      'users',
      expectUsers(undefined, MONTHLY_CITIES),
    ],
    [
      'events of what is kept by month alone',
      { group_by: ['city'] },
      'pageviews',
      {
        ...expectCounts(undefined, doesNotCountBy('city'), doesNotCountBy('city')),
        sessions_daily: MONTHLY_CITIES,
      },
    ],
    [
      'visits of what is kept by month alone',
      { group_by: ['city'] },
      'visits',
      { ...expectVisits(undefined, doesNotCountBy('city')), sessions_daily: MONTHLY_CITIES },
    ],
    ['users by page', { group_by: ['page:path'] }, 'users', expectUsers(undefined, undefined)],
    [
      'users by name of events',
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
      'visits by the page they entered on',
      { group_by: ['page:path'] },
      'bounces',
      expectVisits(doesNotCountBy('page:path'), undefined),
    ],
    [
      'visits by the page they entered on, filtered by that page',
      { group_by: ['page:path'], filters: [path] },
      'duration',
      expectVisits(doesNotCountBy('page:path'), undefined),
    ],
    [
      'visits that came by any page filtered for',
      { filters: [path] },
      'visits',
      expectVisits(doesNotCountBy('page:path'), ENTERED),
    ],
    [
      'visits in buckets that came by any page filtered for',
      { filters: [path], group_by: ['interval:auto'] },
      'visits',
      {
        ...expectVisits(doesNotCountBy('page:path'), ENTERED),
        pageviews_monthly: 'its months do not add up to buckets of one day',
      },
    ],
    [
      'events on a page filtered for',
      { filters: [path] },
      'pageviews',
      expectCounts(doesNotCountBy('page:path'), undefined, doesNotCountBy('page:path')),
    ],
    [
      'visits with an event of a name filtered for',
      { filters: [name] },
      'visits',
      expectVisits(doesNotCountBy('event:name'), doesNotCountBy('event:name')),
    ],
    [
      'what no rollup counts by: the same reason for all',
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

describe('what a filter on visits is put to', () => {
  test.each<[string, Given, { ofWholeSessions: boolean; ofEntries: boolean }]>([
    ['no filter', {}, { ofWholeSessions: true, ofEntries: false }],
    [
      'session attributes',
      { filters: [country, city] },
      { ofWholeSessions: true, ofEntries: false },
    ],
    [
      'the URL of a referrer is one, though nothing counts by it',
      { filters: [{ type: 'referrer_url', ...eq }] },
      { ofWholeSessions: true, ofEntries: false },
    ],
    ['a page', { filters: [path] }, { ofWholeSessions: false, ofEntries: false }],
    [
      'the page that is grouped by',
      { filters: [path], group_by: ['page:path'] },
      { ofWholeSessions: false, ofEntries: true },
    ],
    [
      'another part of the page than is grouped by',
      { filters: [path], group_by: ['page:origin'] },
      { ofWholeSessions: false, ofEntries: false },
    ],
    [
      'the page that is grouped by, and a session attribute',
      { filters: [path, country], group_by: ['page:path'] },
      { ofWholeSessions: false, ofEntries: false },
    ],
    ['a property', { filters: [plan('eq')] }, { ofWholeSessions: false, ofEntries: false }],
    ['anonymity', { filters: [anonymous] }, { ofWholeSessions: false, ofEntries: false }],
    [
      'the name of events, which has no visits',
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
