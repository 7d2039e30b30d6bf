/** Plans: the relations that are read for each measure and period, the source of the rows, and the rejected relations. */
import { describe, expect, test } from '@jest/globals'
import { DEFAULT_SIZES, type ProjectSizes } from '../../../../src/model/project-sizes.js'
import {
  ALL_RELATIONS,
  FACTS,
  type RelationName,
  WITHOUT_PAIRS,
} from '../../../../src/model/relations.js'
import {
  describePlan,
  listScans,
  type Plan,
  type RejectedRelation,
  type Scan,
} from '../../../../src/analytics/plan/plan.js'
import { listPlans, planQuery } from '../../../../src/analytics/plan/planner.js'
import { resolveQuery, type Query } from '../../../../src/analytics/request/query.js'
import type {
  AnalyticsQueryRequest,
  Filter,
  GoalMetric,
  NumericMetric,
  SortDirection,
} from '../../../../src/contract/api.js'
import { fillDefaults } from '../../../support/world/world.js'

type Bounds = readonly [start: string, end: string]
type Given = Partial<AnalyticsQueryRequest>

const JANUARY: Bounds = ['2026-01-01', '2026-02-01']
/** Ten whole days, and some hours before and after. */
const DAYS: Bounds = ['2026-01-01T12:00:00Z', '2026-01-12T06:00:00Z']
/** February and March, and some days and hours before and after. */
const MONTHS: Bounds = ['2026-01-30T12:00:00Z', '2026-04-02T06:00:00Z']

function resolve(given: Given, [start, end]: Bounds): Query {
  const period = { start: new Date(start), end: new Date(end) }
  return resolveQuery(fillDefaults({ date_range: '7days', ...given }), 'p1', period)
}

/** Builds the plan that reads all rollups, and counts all users at once. */
function buildPlan(given: Given, period: Bounds, relations = ALL_RELATIONS): Plan {
  const [first] = listPlans(resolve(given, period), relations).values()
  return first!
}

const short = (moment: Date): string =>
  moment.toISOString().slice(5).replace('T00:00:00.000Z', '').replace(':00:00.000Z', 'h')

/** Describes a scan in one line: relation, measures, whether it makes groups, dimension, kind of filter, periods. */
const describeScan = ({
  relation,
  measures,
  makesGroups,
  dimension,
  filteredBy,
  periods,
  isForCurrencies,
}: Scan): string =>
  [
    `${relation}(${measures.map((one) => (typeof one === 'string' ? one : 'numbers')).join()})${makesGroups ? ' groups' : ''}`,
    ...(dimension === undefined ? [] : [`of ${dimension}`]),
    `by ${filteredBy}`,
    `in ${periods.map(({ start, end }) => `${short(start)}..${short(end)}`).join(' + ')}`,
    ...(isForCurrencies === true ? ['if there are several currencies'] : []),
  ].join(' ')
const describeScans = (plan: Plan): readonly string[] => listScans(plan).map(describeScan)

const path: Filter = { type: 'page', path: { value: '/', operator: 'eq' } }
const browser: Filter = { type: 'browser', value: ['Chrome'], operator: 'oneOf' }
const language: Filter = { type: 'language', value: ['de'], operator: 'oneOf' }
const country: Filter = {
  type: 'location',
  country: { value: ['DE'], operator: 'oneOf' },
}

describe('from facts alone', () => {
  const all = 'in 01-01..02-01'
  test.each<[string, Given, { read: readonly string[]; rows: Plan['rows'] }]>([
    ['counts', {}, { read: [`events(users,pageviews,events) by columns ${all}`], rows: 'one' }],
    [
      'visits alone',
      { metrics: ['bounce_rate', 'visit_duration'] },
      { read: [`sessions(visits,bounces,duration) by columns ${all}`], rows: 'one' },
    ],
    [
      'both',
      { metrics: ['users', 'bounce_rate'] },
      {
        read: [`sessions(visits,bounces) by columns ${all}`, `events(users) by columns ${all}`],
        rows: 'one',
      },
    ],
    [
      'visits by a session attribute: the groups come from matching events',
      { metrics: ['bounce_rate'], group_by: ['country'] },
      {
        read: [`sessions(visits,bounces) by columns ${all}`, `events() groups by columns ${all}`],
        rows: 'events',
      },
    ],
    [
      'visits in buckets: all buckets are rows, so no event is read',
      { metrics: ['visit_duration'], group_by: ['interval:auto'] },
      { read: [`sessions(visits,duration) by columns ${all}`], rows: 'buckets' },
    ],
    [
      'visits by page count for their entry page',
      { metrics: ['bounce_rate'], group_by: ['page:path'] },
      {
        read: [`sessions(visits,bounces) by columns ${all}`, `events() groups by columns ${all}`],
        rows: 'events',
      },
    ],
    [
      'visits by page are filtered by their entry page',
      { metrics: ['bounce_rate'], group_by: ['page:path'], filters: [path] },
      {
        read: [`sessions(visits,bounces) by entry ${all}`, `events() groups by columns ${all}`],
        rows: 'events',
      },
    ],
    [
      'visits by page with another filter match if any of their events does',
      { metrics: ['bounce_rate'], group_by: ['page:path'], filters: [path, browser] },
      {
        read: [`sessions(visits,bounces) by events ${all}`, `events() groups by columns ${all}`],
        rows: 'events',
      },
    ],
    [
      'visits are not counted by event name',
      { metrics: ['users', 'bounce_rate'], group_by: ['event:name'] },
      { read: [`events(users) groups by columns ${all}`], rows: 'events' },
    ],
    [
      'visits are not counted by property',
      { metrics: ['bounce_rate'], group_by: ['event:prop:plan'] },
      { read: [`events() groups by columns ${all}`], rows: 'events' },
    ],
    [
      'the number of visits, and events per visit',
      { metrics: ['visits', 'events_per_visit'] },
      {
        read: [`sessions(visits) by columns ${all}`, `events(events) by columns ${all}`],
        rows: 'one',
      },
    ],
    [
      'pageviews per visit are null by page: neither is counted',
      { metrics: ['views_per_visit'], group_by: ['page:path'] },
      { read: [`events() groups by columns ${all}`], rows: 'events' },
    ],
    [
      'pageviews per visit are null by event name, and pageviews are not',
      { metrics: ['views_per_visit', 'pageviews'], group_by: ['event:name'] },
      { read: [`events(pageviews) groups by columns ${all}`], rows: 'events' },
    ],
    [
      'a filter on a session attribute reads the columns of sessions and of events',
      { metrics: ['users', 'bounce_rate'], filters: [browser] },
      {
        read: [`sessions(visits,bounces) by columns ${all}`, `events(users) by columns ${all}`],
        rows: 'one',
      },
    ],
    [
      'an event attribute is filtered through the events of each session',
      { metrics: ['bounce_rate'], filters: [browser, path], filtersOperator: 'or' },
      { read: [`sessions(visits,bounces) by events ${all}`], rows: 'one' },
    ],
    [
      'anonymity is filtered through the events of each session',
      { metrics: ['bounce_rate'], filters: [{ type: 'user', anonymous: true }] },
      { read: [`sessions(visits,bounces) by events ${all}`], rows: 'one' },
    ],
    [
      'a filter without members matches everything',
      { metrics: ['bounce_rate'], filters: [{ type: 'page' }] },
      { read: [`sessions(visits,bounces) by columns ${all}`], rows: 'one' },
    ],
  ])('%s', (_why, given, want) => {
    const plan = buildPlan(given, JANUARY, FACTS)
    expect({ read: describeScans(plan), rows: plan.rows }).toEqual(want)
    expect({ rejected: plan.rejected, userCounting: plan.userCounting }).toEqual({
      rejected: [],
      userCounting: { kind: 'all' },
    })
  })
})

describe('a period is read', () => {
  const visits = ['bounce_rate'] as const
  test.each<[string, Given, Bounds, readonly string[]]>([
    [
      'from months, if it is one',
      {},
      JANUARY,
      [
        'sessions_monthly(pageviews,events) of total by value in 01-01..02-01',
        'users_monthly(users) of total by value in 01-01..02-01',
      ],
    ],
    [
      'from days, and from facts at its ends',
      {},
      DAYS,
      [
        'sessions_daily(pageviews,events) of total by value in 01-02..01-12',
        'users_daily(users) of total by value in 01-02..01-12',
        'events(users,pageviews,events) by columns in 01-01T12h..01-02 + 01-12..01-12T06h',
      ],
    ],
    [
      'from months, days around them, and facts at its ends',
      {},
      MONTHS,
      [
        'sessions_monthly(pageviews,events) of total by value in 02-01..04-01',
        'users_monthly(users) of total by value in 02-01..04-01',
        'sessions_daily(pageviews,events) of total by value in 01-31..02-01 + 04-01..04-02',
        'users_daily(users) of total by value in 01-31..02-01 + 04-01..04-02',
        'events(users,pageviews,events) by columns in 01-30T12h..01-31 + 04-02..04-02T06h',
      ],
    ],
    [
      'for visits: from months, days and sessions',
      { metrics: visits },
      MONTHS,
      [
        'sessions_monthly(visits,bounces) of total by value in 02-01..04-01',
        'sessions_daily(visits,bounces) of total by value in 01-31..02-01 + 04-01..04-02',
        'sessions(visits,bounces) by columns in 01-30T12h..01-31 + 04-02..04-02T06h',
      ],
    ],
    [
      'from facts, if it has no whole day',
      {},
      ['2026-01-01T00:00:01Z', '2026-01-02'],
      ['events(users,pageviews,events) by columns in 01-01T00:00:01.000Z..01-02'],
    ],
    [
      'from months and facts, if there is no daily rollup',
      { group_by: ['city'], metrics: ['pageviews', 'users'] },
      ['2026-01-30', '2026-03-01'],
      [
        'sessions_monthly(pageviews) groups of city by value in 02-01..03-01',
        'users_monthly(users) of city by value in 02-01..03-01',
        'events(pageviews,users) groups by columns in 01-30..02-01',
      ],
    ],
    [
      'from facts, in buckets of hours',
      { group_by: ['interval:auto'] },
      ['2026-01-01', '2026-01-02'],
      ['events(users,pageviews,events) by columns in 01-01..01-02'],
    ],
    [
      'from days, in buckets of days',
      { group_by: ['interval:auto'], metrics: ['pageviews'] },
      JANUARY,
      ['sessions_daily(pageviews) of total by value in 01-01..02-01'],
    ],
    [
      'from months, in buckets of months',
      { group_by: ['interval:auto'], metrics: ['pageviews'] },
      ['2026-01-01', '2026-11-01'],
      ['sessions_monthly(pageviews) of total by value in 01-01..11-01'],
    ],
    [
      'with a filter: from the rollup rows of its dimension',
      { filters: [country], metrics: ['pageviews', 'bounce_rate'] },
      JANUARY,
      ['sessions_monthly(pageviews,visits,bounces) of country by value in 01-01..02-01'],
    ],
    [
      'with a filter on pages: visits from facts, as any page of a visit may match',
      { filters: [path], metrics: ['users', 'bounce_rate'] },
      JANUARY,
      [
        'users_monthly(users) of page:path by value in 01-01..02-01',
        'sessions(visits,bounces) by events in 01-01..02-01',
      ],
    ],
    [
      'with two filters that no rollup combines: from facts',
      { filters: [path, language], metrics: ['pageviews'] },
      JANUARY,
      ['events(pageviews) by columns in 01-01..02-01'],
    ],
    [
      'by page, filtered by country: from pairs, and visits by their entry page',
      { group_by: ['page:path'], filters: [country], metrics: ['users', 'bounce_rate'] },
      JANUARY,
      [
        'pairs_monthly(visits,bounces) groups of page:path and country by value in 01-01..02-01',
        'pair_users_monthly(users) of page:path and country by value in 01-01..02-01',
      ],
    ],
    [
      'by country, filtered by page: visits with any such page are not in the pair',
      { group_by: ['country'], filters: [path], metrics: ['pageviews', 'bounce_rate'] },
      JANUARY,
      [
        'pairs_monthly(pageviews) groups of page:path and country by value in 01-01..02-01',
        'sessions(visits,bounces) by events in 01-01..02-01',
      ],
    ],
    [
      'two groupings, and months that the period cuts: edges from facts',
      { group_by: ['country'], then_by: ['browser'], metrics: ['pageviews'] },
      ['2026-01-01', '2026-02-11'],
      [
        'pairs_monthly(pageviews) groups of browser and country by value in 01-01..02-01',
        'events(pageviews) groups by columns in 02-01..02-11',
      ],
    ],
    [
      'by page: one scan counts its events and the visits that entered on it',
      { group_by: ['page:origin'], metrics: ['pageviews', 'bounce_rate'] },
      JANUARY,
      [
        'pageviews_monthly(pageviews,visits,bounces) groups of page:origin by value in 01-01..02-01',
      ],
    ],
    [
      'by page, from both facts at its ends: visits by their entry page',
      { group_by: ['page:origin'], metrics: ['bounce_rate'], filters: [filterByOrigin('o')] },
      DAYS,
      [
        'pageviews_daily(visits,bounces) groups of page:origin by value in 01-02..01-12',
        'sessions(visits,bounces) by entry in 01-01T12h..01-02 + 01-12..01-12T06h',
        'events() groups by columns in 01-01T12h..01-02 + 01-12..01-12T06h',
      ],
    ],
    [
      'by the name of events',
      { group_by: ['event:name'], metrics: ['events', 'bounce_rate'] },
      JANUARY,
      ['events_monthly(events) groups of event:name by value in 01-01..02-01'],
    ],
    [
      'by a property, for users alone: the groups come from the counts',
      { group_by: ['event:prop:plan'], metrics: ['users'], order_by: [['users', 'asc']] },
      JANUARY,
      [
        'events_monthly() groups of event:prop:plan by value in 01-01..02-01',
        'users_monthly(users) of event:prop:plan by value in 01-01..02-01',
      ],
    ],
  ])('%s', (_how, given, period, want) => {
    expect(describeScans(buildPlan(given, period))).toEqual(want)
  })

  test.each<[string, readonly RelationName[], readonly string[]]>([
    [
      'without monthly rollups, days are read',
      ['sessions_daily', 'sessions', 'events'],
      [
        'sessions_daily(pageviews) of total by value in 01-31..04-02',
        'events(pageviews) by columns in 01-30T12h..01-31 + 04-02..04-02T06h',
      ],
    ],
    [
      'without daily rollups, facts are read',
      ['sessions_monthly', 'sessions', 'events'],
      [
        'sessions_monthly(pageviews) of total by value in 02-01..04-01',
        'events(pageviews) by columns in 01-30T12h..02-01 + 04-01..04-02T06h',
      ],
    ],
  ])('%s', (_how, relations, want) => {
    expect(describeScans(buildPlan({ metrics: ['pageviews'] }, MONTHS, relations))).toEqual(want)
  })
})

function filterByOrigin(value: string): Filter {
  return { type: 'page', origin: { value, operator: 'eq' } }
}

describe('rejected relations and their reasons:', () => {
  const reject = (
    relation: RelationName,
    measures: RejectedRelation['measures'],
    reason: string,
  ) => ({
    relation,
    measures,
    reason,
  })
  const noTotal = 'it does not count by total'
  test.each<[string, Given, Bounds, readonly RejectedRelation[]]>([
    [
      'none, if the first relation covers the whole period',
      { metrics: ['pageviews'] },
      JANUARY,
      [],
    ],
    [
      'months that are not whole, and rollups of other dimensions',
      { metrics: ['pageviews', 'users'] },
      DAYS,
      [
        reject('sessions_monthly', ['pageviews'], 'the period has no whole month left for it'),
        reject('pageviews_monthly', ['pageviews'], noTotal),
        reject('events_monthly', ['pageviews'], noTotal),
        reject('users_monthly', ['users'], 'the period has no whole month left for it'),
        reject('pageviews_daily', ['pageviews'], noTotal),
        reject('events_daily', ['pageviews'], noTotal),
      ],
    ],
    [
      'all rollups, if none counts by the dimensions of the query',
      { metrics: ['users'], filters: [country, language] },
      JANUARY,
      [
        reject('users_monthly', ['users'], 'no rollup combines country and language'),
        reject('users_daily', ['users'], 'no rollup combines country and language'),
      ],
    ],
    [
      'rollups for visits, and for the groups, which need no measure',
      { metrics: ['visit_duration'], group_by: ['country'] },
      DAYS,
      [
        reject(
          'sessions_monthly',
          ['visits', 'duration'],
          'the period has no whole month left for it',
        ),
        reject('pageviews_monthly', ['visits', 'duration'], 'it does not count by country'),
        reject('events_monthly', [], 'it does not count by country'),
        reject('pageviews_daily', ['visits', 'duration'], 'it does not count by country'),
        reject('events_daily', [], 'it does not count by country'),
      ],
    ],
    [
      'one relation, for several reasons',
      { metrics: ['pageviews', 'bounce_rate'], filters: [path] },
      DAYS,
      [
        reject(
          'sessions_monthly',
          ['pageviews', 'visits', 'bounces'],
          'it does not count by page:path',
        ),
        reject('pageviews_monthly', ['pageviews'], 'the period has no whole month left for it'),
        reject(
          'pageviews_monthly',
          ['visits', 'bounces'],
          'it counts visits by entry page, and the filter matches any page of a visit',
        ),
        reject('events_monthly', ['pageviews'], 'it does not count by page:path'),
        reject(
          'sessions_daily',
          ['pageviews', 'visits', 'bounces'],
          'it does not count by page:path',
        ),
        reject(
          'pageviews_daily',
          ['visits', 'bounces'],
          'it counts visits by entry page, and the filter matches any page of a visit',
        ),
        reject('events_daily', ['pageviews'], 'it does not count by page:path'),
      ],
    ],
  ])('%s', (_what, given, period, want) => {
    expect(buildPlan(given, period).rejected).toEqual(want)
  })
})

describe('conversions', () => {
  const bought: Filter = { field: 'event:name', operator: 'is', value: ['purchase'] }
  const seen: Filter = { field: 'page:path', operator: 'is', value: ['/thanks'] }
  const metricsOf = (
    functions: readonly GoalMetric['metric'][],
    filters: readonly Filter[],
    of?: 'visits',
  ): readonly GoalMetric[] =>
    functions.map((metric) => ({
      ...{ metric, goal: 'purchase', as: metric, filters },
      ...(of === undefined ? {} : { of }),
    }))
  const rate = metricsOf(['conversions', 'conversion_rate'], [bought])
  const FROM_EVENTS = undefined
  test.each<[string, Given, Bounds, readonly (readonly string[])[] | undefined]>([
    ['no goal', { metrics: ['users'], group_by: ['channel'] }, JANUARY, FROM_EVENTS],
    [
      'of an event name by channel: the pair has them',
      { metrics: rate, group_by: ['channel'] },
      JANUARY,
      [
        [
          'pairs_monthly(pageviews,events) groups of event:name and channel by value in 01-01..02-01',
          'pair_users_monthly(users) of event:name and channel by value in 01-01..02-01',
        ],
      ],
    ],
    [
      'of a page in all, over months and days',
      { metrics: metricsOf(['converted_users'], [seen]) },
      MONTHS,
      [
        [
          'users_monthly(users) of page:path by value in 02-01..04-01',
          'users_daily(users) of page:path by value in 01-31..02-01 + 04-01..04-02',
          'events(users) by columns in 01-30T12h..01-31 + 04-02..04-02T06h',
        ],
      ],
    ],
    [
      'of what no rollup combines',
      { metrics: rate, group_by: ['channel'], filters: [country] },
      JANUARY,
      FROM_EVENTS,
    ],
    [
      'of visits',
      { metrics: metricsOf(['conversion_rate'], [bought], 'visits'), group_by: ['channel'] },
      JANUARY,
      FROM_EVENTS,
    ],
    [
      'with numbers, for which events are read anyway',
      {
        metrics: [...rate, { metric: 'sum', of: 'event:prop:amount', as: 'revenue' }],
        group_by: ['channel'],
      },
      JANUARY,
      FROM_EVENTS,
    ],
    [
      'of two goals, of which one is not covered',
      {
        metrics: [
          ...rate,
          {
            ...{ metric: 'conversions', goal: 'other', as: 'others' },
            filters: [{ property: 'plan', operator: 'is', value: ['pro'] }],
          },
        ],
        group_by: ['channel'],
      },
      JANUARY,
      FROM_EVENTS,
    ],
    [
      'by hour, which no rollup has',
      { metrics: rate, group_by: ['interval:hour'] },
      JANUARY,
      FROM_EVENTS,
    ],
  ])('%s', (_what, given, period, want) => {
    const { conversions } = buildPlan(given, period)
    expect(conversions?.map(({ plan: { scans } }) => scans.map(describeScan))).toEqual(want)
  })

  test('all users, of whom they are a share, are those of the groups; an explanation has both', () => {
    const { reads, conversions } = describePlan(
      buildPlan({ metrics: rate, group_by: ['channel'] }, JANUARY),
    )
    expect(reads.map(({ relation, measures }) => [relation, measures])).toEqual([
      ['sessions_monthly', []],
      ['users_monthly', ['users']],
    ])
    expect(conversions?.map((one) => one.reads.map(({ relation }) => relation))).toEqual([
      ['pairs_monthly', 'pair_users_monthly'],
    ])
  })
})

describe('numbers', () => {
  const sum = (property: 'amount' | 'items', money: boolean): NumericMetric => ({
    ...{ metric: 'sum', of: `event:prop:${property}`, as: property },
    ...(money ? {} : { money }),
  })
  test.each<[string, Given, Bounds, readonly string[]]>([
    [
      'are read from the values of their properties in whole months and days',
      { metrics: [sum('amount', false), sum('items', false)] },
      MONTHS,
      [
        'events_monthly(numbers,numbers,numbers) of event:prop:amount by value in 02-01..04-01',
        'events_monthly(numbers,numbers,numbers) of event:prop:items by value in 02-01..04-01',
        'events_daily(numbers,numbers,numbers) of event:prop:amount by value in 01-31..02-01 + 04-01..04-02',
        'events_daily(numbers,numbers,numbers) of event:prop:items by value in 01-31..02-01 + 04-01..04-02',
        'events(numbers,numbers,numbers,numbers,numbers,numbers) by columns in 01-30T12h..01-31 + 04-02..04-02T06h',
      ],
    ],
    [
      'beside other metrics, by day',
      { metrics: ['events', sum('amount', false)], group_by: ['interval:day'] },
      JANUARY,
      [
        'sessions_daily(events) of total by value in 01-01..02-01',
        'events_daily(numbers,numbers,numbers) of event:prop:amount by value in 01-01..02-01',
      ],
    ],
    [
      'that are amounts have their currencies from events',
      { metrics: [sum('amount', true)] },
      JANUARY,
      [
        'events_monthly(numbers,numbers,numbers) of event:prop:amount by value in 01-01..02-01',
        'events(numbers) by columns in 01-01..02-01 if there are several currencies',
      ],
    ],
    [
      'by a dimension come from events',
      { metrics: [sum('amount', true)], group_by: ['country'] },
      JANUARY,
      [
        'sessions_monthly() groups of country by value in 01-01..02-01',
        'events(numbers,numbers,numbers,numbers) by columns in 01-01..02-01',
      ],
    ],
  ])('%s', (_what, given, period, want) => {
    expect(describeScans(planQuery(resolve(given, period), WITHOUT_PAIRS))).toEqual(want)
  })

  test.each<[string, Given, Bounds, readonly string[]]>([
    [
      'of whole months from their sums, and of other days from the values',
      { metrics: [sum('amount', true)] },
      MONTHS,
      [
        'numbers_monthly(numbers,numbers,numbers,numbers) of event:prop:amount and total by value in 02-01..04-01',
        'events_daily(numbers,numbers,numbers) of event:prop:amount by value in 01-31..02-01 + 04-01..04-02',
        'events(numbers,numbers,numbers) by columns in 01-30T12h..01-31 + 04-02..04-02T06h',
        'events(numbers) by columns in 01-30T12h..02-01 + 04-01..04-02T06h if there are several currencies',
      ],
    ],
    [
      'by a dimension, from their sums',
      { metrics: [sum('amount', true), sum('items', false)], group_by: ['country'] },
      JANUARY,
      [
        'numbers_monthly(numbers,numbers,numbers,numbers) of event:prop:amount and country by value in 01-01..02-01',
        'numbers_monthly(numbers,numbers,numbers) of event:prop:items and country by value in 01-01..02-01',
        'sessions_monthly() groups of country by value in 01-01..02-01',
      ],
    ],
    [
      'percentiles, which sums do not say',
      { metrics: [{ ...sum('amount', false), metric: 'p95' }], filters: [country] },
      JANUARY,
      [
        'numbers_monthly(numbers,numbers) of event:prop:amount and country by value in 01-01..02-01',
        'events(numbers) by columns in 01-01..02-01',
      ],
    ],
  ])('of a large project: %s', (_what, given, period, want) => {
    expect(describeScans(planQuery(resolve(given, period)))).toEqual(want)
  })

  test('have no such condition across shards, which may have different currencies', () => {
    const query = resolve({ metrics: [sum('amount', true)] }, JANUARY)
    const listConditions = (width: number): readonly unknown[] =>
      describePlan(planQuery(query, WITHOUT_PAIRS, undefined, width)).reads.map(
        ({ onlyIf }) => onlyIf,
      )
    expect([1, 3].map(listConditions)).toEqual([[undefined, 'several_currencies'], [undefined]])
  })
})

describe('new users', () => {
  const metrics = ['new_users'] as const
  const describeParts = ({ newUsers }: Plan): object =>
    Object.fromEntries(
      Object.entries(newUsers ?? {}).map(([name, part]) => [
        name,
        (part as Plan).scans.map(describeScan),
      ]),
    )
  const whole = 'by value in 01-01..02-01'
  const EARLIER = 'users_monthly(users) of total by value in 01-01..01-01'
  test.each<[string, Given, Bounds, object]>([
    ['not asked for', { metrics: ['users'] }, JANUARY, {}],
    [
      'in all: those of the period, without those before',
      { metrics },
      JANUARY,
      { users: [`users_monthly(users) of total ${whole}`], earlier: [EARLIER] },
    ],
    [
      'by a dimension: whether a user is new depends on all events',
      { metrics, group_by: ['page:path'] },
      JANUARY,
      { users: [`users_monthly(users) of page:path ${whole}`], earlier: [EARLIER] },
    ],
    [
      'by bucket: users of earlier buckets are not new',
      { metrics, group_by: ['interval:auto'] },
      JANUARY,
      { users: [`users_daily(users) of total ${whole}`], earlier: [EARLIER] },
    ],
    [
      'by bucket with a filter: users of earlier buckets may have other events there',
      { metrics, group_by: ['interval:auto'], filters: [country] },
      JANUARY,
      {
        users: [`users_daily(users) of country ${whole}`],
        everyone: [`users_daily(users) of total ${whole}`],
        earlier: [EARLIER],
      },
    ],
    [
      'two filters: only facts have those events, and rollups have everyone before',
      { metrics, filters: [country, language] },
      JANUARY,
      {
        users: ['events(users) by columns in 01-01..02-01'],
        earlier: [EARLIER],
      },
    ],
    [
      'no event can lie before the first possible moment',
      { metrics },
      ['1970-01-01', '1970-02-01'],
      { users: [`users_monthly(users) of total ${whole}`] },
    ],
  ])('%s', (_what, given, period, want) => {
    expect(describeParts(buildPlan(given, period))).toEqual(want)
  })

  test('the other metrics are planned as without them', () => {
    const { scans, userCounting, rejected } = buildPlan({ metrics: ['users'] }, JANUARY)
    const plan = buildPlan({ metrics: ['users', 'new_users'] }, JANUARY)
    expect(plan).toMatchObject({ scans, userCounting, rejected })
  })
})

describe('the groups whose users are counted', () => {
  const MANY = 1_000_000
  const manyGroups: ProjectSizes = {
    ...DEFAULT_SIZES,
    values: new Map([
      ['page:path', MANY],
      ['event:prop:plan', MANY],
    ]),
  }
  const planMany = (given: Given, period: Bounds): Plan =>
    planQuery(resolve(given, period), ALL_RELATIONS, manyGroups)
  const by = (field: string, direction: SortDirection): Given => ({
    order_by: [[field, direction]],
  })
  const wide: Given = { group_by: ['page:path'], metrics: ['users', 'pageviews'] }
  test.each<[string, Given, Bounds, Plan['userCounting']['kind']]>([
    [
      'many groups by users, most first',
      { ...wide, ...by('users', 'desc') },
      JANUARY,
      'candidates',
    ],
    ['many groups by users, fewest first', { ...wide, ...by('users', 'asc') }, JANUARY, 'all'],
    ['many groups by another metric', { ...wide, ...by('pageviews', 'asc') }, JANUARY, 'page'],
    ['many groups by the group', { ...wide, ...by('page:path', 'asc') }, JANUARY, 'page'],
    ['without an order, the first metric decides', wide, JANUARY, 'candidates'],
    [
      'the last page for which candidates are listed',
      { ...wide, limit: 1000, offset: 1000 },
      JANUARY,
      'candidates',
    ],
    ['a page beyond that', { ...wide, limit: 1000, offset: 1001 }, JANUARY, 'all'],
    [
      'any property may have many values',
      { group_by: ['event:prop:plan'], metrics: ['users'] },
      JANUARY,
      'candidates',
    ],
    ['few groups', { ...wide, group_by: ['country'] }, JANUARY, 'all'],
    ['one row', { metrics: ['users'] }, JANUARY, 'all'],
    ['buckets', { metrics: ['users'], group_by: ['interval:auto'] }, JANUARY, 'all'],
    [
      'users are not asked for',
      { group_by: ['page:path'], metrics: ['pageviews'] },
      JANUARY,
      'all',
    ],
    [
      'the groups come from facts alone',
      { ...wide, filters: [language], ...by('users', 'desc') },
      JANUARY,
      'all',
    ],
  ])('%s', (_why, given, period, want) => {
    expect(planMany(given, period).userCounting.kind).toBe(want)
  })

  test('candidates are found by their events, even if the query has no metric of events', () => {
    const given: Given = { group_by: ['page:path'], metrics: ['users'] }
    expect(describeScans(planMany(given, JANUARY))).toEqual([
      'pageviews_monthly(pageviews,events) groups of page:path by value in 01-01..02-01',
      'users_monthly(users) of page:path by value in 01-01..02-01',
    ])
  })

  test('users that are counted in a second step have their own scans', () => {
    const { scans, userCounting } = planMany(wide, [JANUARY[0], '2026-02-01T06:00:00Z'])
    expect({ first: scans.map(describeScan), second: userCounting.kind }).toEqual({
      first: [
        'pageviews_monthly(pageviews,events) groups of page:path by value in 01-01..02-01',
        'events(pageviews,events) groups by columns in 02-01..02-01T06h',
      ],
      second: 'candidates',
    })
    expect(userCounting.kind === 'all' ? [] : userCounting.scans.map(describeScan)).toEqual([
      'users_monthly(users) of page:path by value in 01-01..02-01',
      'events(users) by columns in 02-01..02-01T06h',
    ])
  })
})

describe('with the sizes of the project', () => {
  const YEAR: Bounds = ['2025-01-01', '2026-01-01']
  const readAt = new Date('2026-01-01')
  const months = Array.from({ length: 12 }, (_, i) => new Date(Date.UTC(2025, i)))
  /** Sizes of a project with this many events a month. */
  const sizesOf = (events: number, values = {}): ProjectSizes => ({
    readAt,
    months: months.map((month) => ({ month, events, visits: events / 4 })),
    values: new Map(Object.entries<number>(values)),
  })
  const plan = (given: Given, period: Bounds, sizes?: ProjectSizes, width?: number): Plan =>
    planQuery(resolve(given, period), ALL_RELATIONS, sizes, width)
  const relationsOf = (one: Plan): readonly RelationName[] =>
    listScans(one).map(({ relation }) => relation)

  test('facts are read where they are few, rollups where they are many', () => {
    const byPath: Given = { group_by: ['page:path'], metrics: ['users'] }
    const month: Bounds = ['2025-03-01', '2025-04-01']
    const values = { 'page:path': 3_000 }
    expect(relationsOf(plan(byPath, month, sizesOf(100, values)))).toEqual(['events'])
    const many = relationsOf(plan(byPath, YEAR, sizesOf(5e6, values)))
    expect(new Set(many)).toEqual(new Set(['pageviews_monthly', 'users_monthly']))
  })

  test('users of few groups are counted for all', () => {
    const byPlan: Given = { group_by: ['event:prop:plan'], metrics: ['users'] }
    const countUsers = (values: number) =>
      plan(byPlan, YEAR, sizesOf(5e6, { 'event:prop:plan': values })).userCounting.kind
    expect([5, 50_000].map(countUsers)).toEqual(['all', 'candidates'])
  })

  test.each<[string, Given, ProjectSizes | undefined, Plan['userCounting']['kind']]>([
    ['sizes that are not known', {}, undefined, 'candidates'],
    ['few events', {}, sizesOf(20_000, { 'page:path': 1_000 }), 'all'],
    ['few paths', {}, sizesOf(5e6, { 'page:path': 20 }), 'all'],
    ['many paths, all on the page', { limit: 1_000 }, sizesOf(5e5, { 'page:path': 1_000 }), 'all'],
    ['many events and paths', {}, sizesOf(5e6, { 'page:path': 5_000 }), 'candidates'],
    [
      'many events and paths, by another metric',
      { order_by: [['pageviews', 'desc']] },
      sizesOf(5e6, { 'page:path': 5_000 }),
      'page',
    ],
  ])(
    'users are counted last only where that pays, across shards too: %s',
    (_what, given, sizes, want) => {
      const byPath: Given = { group_by: ['page:path'], limit: 10, ...given }
      expect(plan(byPath, YEAR, sizes, 3).userCounting.kind).toBe(want)
    },
  )

  test('the ways that were compared, the cheapest first; one is chosen', () => {
    const month: Bounds = ['2025-03-01', '2025-04-01']
    const { considered, rejected } = plan({}, month, sizesOf(10))
    expect(considered.map(({ name }) => name).sort()).toEqual([
      'events',
      'sessions_daily, users_daily',
      'sessions_monthly, users_monthly',
    ])
    expect(considered.map(({ isChosen }) => isChosen)).toEqual([true, false, false])
    const costs = considered.map(({ ms }) => ms)
    expect(costs).toEqual([...costs].sort((one, other) => one - other))
    expect(considered[0]?.name).toBe('events')
    expect(rejected).toContainEqual({
      relation: 'sessions_monthly',
      measures: ['pageviews', 'events'],
      reason: 'other relations are estimated to take less time',
    })
  })

  const byBrowser: Given = { group_by: ['browser'], filters: [language] }
  test.each<[string, Given, number, readonly RelationName[]]>([
    ['sessions where events are many', byBrowser, 5e6, ['whole_sessions']],
    ['events where they are few', byBrowser, 1_000, ['events']],
    ['events if they may differ', { ...byBrowser, filters: [path, language] }, 5e6, ['events']],
  ])('questions about session attributes are answered from %s', (_how, given, events, want) => {
    expect(relationsOf(plan(given, YEAR, sizesOf(events)))).toEqual(want)
  })

  test('sessions answer what rollups leave', () => {
    const byCity: Given = { group_by: ['city'] }
    const period: Bounds = ['2025-01-20', '2025-03-01']
    expect(describeScans(plan(byCity, period, sizesOf(5e6)))).toEqual([
      'sessions_monthly(pageviews,events) groups of city by value in 02-01..03-01',
      'users_monthly(users) of city by value in 02-01..03-01',
      'whole_sessions(users,pageviews,events) groups by columns in 01-20..02-01',
    ])
  })

  const inCountry: Given = { filters: [country, language] }
  const EDGES: Bounds = ['2025-03-01', '2025-03-31T12:00:00Z']
  test.each<[string, Bounds, number, boolean]>([
    ['few events', YEAR, 1_000, false],
    ['many events', YEAR, 10_000, true],
    ['days beside edges of many events', EDGES, 100_000, false],
    ['days beside edges of very many events', EDGES, 1e6, true],
  ])('whole days of facts by their day or by moments: %s', (_what, period, events, readsDays) => {
    expect(plan(inCountry, period, sizesOf(events)).readsDays).toBe(readsDays)
  })

  test('a project whose sizes are not known is taken to be large', () => {
    expect(plan({}, YEAR)).toEqual(plan({}, YEAR, DEFAULT_SIZES))
    expect(relationsOf(plan(byBrowser, YEAR))).toEqual(['whole_sessions'])
    expect(relationsOf(plan({ group_by: ['country'] }, YEAR))).toEqual([
      'sessions_monthly',
      'users_monthly',
    ])
  })
})
