/** The statements of rounds: the first finds the groups, a later one counts the users of some. */
import { expect, test } from '@jest/globals'
import { listPlans } from '../../../../src/analytics/plan/planner.js'
import type { Plan } from '../../../../src/analytics/plan/plan.js'
import { resolveQuery } from '../../../../src/analytics/request/query.js'
import { buildFirstRound, buildUsersRound } from '../../../../src/analytics/sql/rounds.js'
import type { AnalyticsQueryRequest } from '../../../../src/contract/api.js'
import { ALL_RELATIONS } from '../../../../src/model/relations.js'
import { fillDefaults } from '../../../support/world/world.js'

const JANUARY = { start: new Date('2026-01-01'), end: new Date('2026-02-01') }
const GROUP = { name: 'tallyhouse_1_2', database: 'stats', width: 2, isWidening: false }

function planRounds(asked: Partial<AnalyticsQueryRequest>, period = JANUARY): Plan {
  const request = fillDefaults({ date_range: '7days', group_by: ['page:path'], ...asked })
  const plans = [...listPlans(resolveQuery(request, 'p', period), ALL_RELATIONS).values()]
  return plans.find(({ userCounting }) => userCounting.kind !== 'all')!
}

/** A moment, as the number of its milliseconds in the parameter of a number. */
const time = (at: number): string => `fromUnixTimestamp64Milli({p${at}:Int64}, 'UTC')`
const [START, END] = [Date.parse('2026-01-01'), Date.parse('2026-02-01')]
/** @param from the number of its first parameter */
const isOfMonth = (from: number): string =>
  `WHERE project_id = {p0:String} AND dimension = {p${from}:String} ` +
  `AND month >= toDate(${time(from + 1)}) AND month < toDate(${time(from + 2)})`
const EVENTS = 'measure_pageviews + measure_events AS group_events'
const ORIGIN = '{p0:String} AS of_project, {p1:String} AS of_request'
const SUMS =
  'sum(shards.measure_pageviews) AS measure_pageviews, sum(shards.measure_events) AS measure_events'

test.each<[string, Partial<AnalyticsQueryRequest>, number | undefined, string, object]>([
  [
    'the groups on the page',
    { metrics: ['users', 'pageviews'], order_by: [['pageviews', 'asc']], limit: 7, offset: 3 },
    undefined,
    'metric_pageviews ASC NULLS LAST, group_key ASC',
    { p7: 7, p8: 3 },
  ],
  [
    'the groups with the most events',
    { metrics: ['users', 'pageviews'], limit: 7, offset: 3 },
    200,
    'group_events DESC',
    { p7: 200, p8: 0 },
  ],
])(
  'the first round lists %s, and has the number of their events',
  (_what, asked, most, order, page) => {
    const { query, query_params } = buildFirstRound(planRounds(asked), 'nonce-1', GROUP, most)
    expect(query).toBe(
      `SELECT group_key, measure_pageviews AS metric_pageviews, ${EVENTS}, ${ORIGIN} FROM (` +
        `SELECT group_key, ${SUMS} FROM cluster({p2:Identifier}, view(` +
        'SELECT group_key, sum(parts.measure_pageviews) AS measure_pageviews, sum(parts.measure_events) AS measure_events, ' +
        'max(parts.is_row) AS is_row FROM (' +
        'SELECT value AS group_key, sum(pageviews) AS measure_pageviews, sum(events) AS measure_events, ' +
        'sum(pageviews + events) > 0 AS is_row FROM {p3:Identifier}.pageviews_monthly ' +
        `${isOfMonth(4)} AND notEmpty(value) GROUP BY group_key) AS parts GROUP BY group_key` +
        ')) AS shards GROUP BY group_key HAVING max(is_row)) ' +
        `ORDER BY ${order} LIMIT {p7:UInt32} OFFSET {p8:UInt32}`,
    )
    expect(query_params).toEqual({
      ...{ p0: 'p', p1: 'nonce-1', p2: 'tallyhouse_1_2', p3: 'stats', p4: 'page:path' },
      ...{ p5: START, p6: END, ...page },
    })
  },
)

test('a later round has the users of some groups, and all other numbers again', () => {
  const asked = { metrics: ['users', 'pageviews'] } as const
  const keys = ['/', "/it's"]
  const { query, query_params } = buildUsersRound(planRounds(asked), 'nonce-1', GROUP, keys)
  const ofKeys = 'AND notEmpty(value) AND value IN ({p7:Array(String)})'
  expect(query).toBe(
    'SELECT group_key, least(greatest(toInt64(measure_users), toInt64(measure_pageviews + measure_events > 0)), ' +
      'toInt64(measure_pageviews + measure_events)) AS metric_users, measure_pageviews AS metric_pageviews, ' +
      `${EVENTS}, ${ORIGIN} FROM (` +
      `SELECT group_key, ${SUMS}, sum(shards.measure_users) AS measure_users FROM cluster({p2:Identifier}, view(` +
      'SELECT group_key, sum(parts.measure_pageviews) AS measure_pageviews, sum(parts.measure_events) AS measure_events, ' +
      'sum(parts.measure_users) AS measure_users, max(parts.is_row) AS is_row FROM (' +
      'SELECT value AS group_key, sum(pageviews) AS measure_pageviews, sum(events) AS measure_events, 0 AS measure_users, ' +
      'sum(pageviews + events) > 0 AS is_row FROM {p3:Identifier}.pageviews_monthly ' +
      `${isOfMonth(4)} ${ofKeys} GROUP BY group_key UNION ALL ` +
      'SELECT value AS group_key, 0 AS measure_pageviews, 0 AS measure_events, groupBitmapMerge(users) AS measure_users, ' +
      'false AS is_row FROM {p3:Identifier}.users_monthly ' +
      `${isOfMonth(8)} ${ofKeys} GROUP BY group_key` +
      ') AS parts GROUP BY group_key)) AS shards GROUP BY group_key HAVING max(is_row))',
  )
  expect(query_params).toMatchObject({ p7: keys })
})

test('facts are read once in each round', () => {
  const period = { start: JANUARY.start, end: new Date('2026-02-10T15:30:00Z') }
  const { query } = buildUsersRound(planRounds({}, period), 'nonce-1', GROUP, ['/'])
  expect(query.match(/FROM \S+\.events /g)).toHaveLength(1)
})
