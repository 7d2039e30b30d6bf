/** Statements: the exact text and parameters of each shape. No value of a request changes the text. */
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { DEFAULT_SIZES, type ProjectSizes } from '../../../../src/model/project-sizes.js'
import { ALL_RELATIONS, type RelationName } from '../../../../src/model/relations.js'
import { listPlans, planQuery, planWithOthers } from '../../../../src/analytics/plan/planner.js'
import { toTotalsQuery } from '../../../../src/analytics/request/derived-queries.js'
import { resolveQuery } from '../../../../src/analytics/request/query.js'
import { buildStatement } from '../../../../src/analytics/sql/build-statement.js'
import type {
  AnalyticsQueryRequest,
  Filter,
  GroupBy,
  Metric,
} from '../../../../src/contract/api.js'
import type { Statement } from '../../../../src/clickhouse/sql.js'
import { scaled } from '../../../support/effort.js'
import { rollupRequest } from '../../../support/arbitrary/rollups.js'
import { request } from '../../../support/arbitrary/world.js'
import { fillDefaults, LARGE_SIZES } from '../../../support/world/world.js'

type Given = Partial<AnalyticsQueryRequest>

/** Relations without `whole_sessions`, whose statements have tests of their own. */
const FACTS: readonly RelationName[] = ['sessions', 'events']
const RELATIONS: readonly RelationName[] = ALL_RELATIONS.filter((name) => name !== 'whole_sessions')

const JANUARY = { start: new Date('2026-01-01'), end: new Date('2026-02-01') }
const START = Date.parse('2026-01-01')
const END = Date.parse('2026-02-01')
const NONCE = 'nonce-1'

/** Enough groups for users to be counted last. */
const MANY_GROUPS: ProjectSizes = { ...DEFAULT_SIZES, values: new Map([['page:path', 1_000_000]]) }

const build = (
  given: Given,
  { period = JANUARY, project = 'p1', relations = RELATIONS } = {},
  sizes?: ProjectSizes,
): Statement =>
  buildStatement(
    planQuery(
      resolveQuery(fillDefaults({ date_range: '7days', ...given }), project, period),
      relations,
      sizes,
    ),
    NONCE,
  )
const fromFacts = (given: Given): Statement => build(given, { relations: FACTS })

/** The parameters: the project, the nonce, and these. */
const params = (...values: unknown[]) =>
  Object.fromEntries(['p1', NONCE, ...values].map((value, i) => [`p${i}`, value]))
const ORIGIN = '{p0:String} AS of_project, {p1:String} AS of_request'
/** A moment, as the number of its milliseconds in the parameter of a number. */
const time = (at: number): string => `fromUnixTimestamp64Milli({p${at}:Int64}, 'UTC')`

/** The condition that a row lies in a period; the bounds are the parameter `at` and the next one. */
const moments = (at: number, column = 'timestamp'): string =>
  `(${within(at, column)} AND ${hint(at, column)})`
const within = (at: number, column: string): string =>
  `${column} >= ${time(at)} AND ${column} < ${time(at + 1)}`
/** Finds the days of such a period in the sorting key. */
const hint = (at: number, column: string): string =>
  `indexHint(toDate(${column}) >= toDate(${time(at)}) AND toDate(${column}) <= toDate(subtractMilliseconds(${time(at + 1)}, 1)))`
/** The same for whole days, by the column of the day. */
const wholeDays = (at: number, table: 'events' | 'sessions' = 'events'): string => {
  const [day, column] = table === 'events' ? ['day', 'timestamp'] : ['start_day', 'start_at']
  return `(indexHint(${within(at, column)}) AND ${hint(at, column)} AND ${day} >= toDate(${time(at)}) AND ${day} < toDate(${time(at + 1)}))`
}
const rolled = (at: number, column: 'month' | 'day'): string =>
  `${column} >= toDate(${time(at)}) AND ${column} < toDate(${time(at + 1)})`
/** Selects the rows of a rollup of the project and one dimension, which is the parameter `at`, in a period. */
const from = (table: string, at: number): string =>
  `FROM ${table} WHERE project_id = {p0:String} AND dimension = {p${at}:String} AND ` +
  rolled(at + 1, table.endsWith('monthly') ? 'month' : 'day')

/** Users beside sums that another table may hold. */
const USERS_OF_PAGEVIEWS = 'greatest(toInt64(measure_users), toInt64(measure_pageviews > 0))'
const USERS =
  'least(greatest(toInt64(measure_users), toInt64(measure_pageviews + measure_events > 0)), toInt64(measure_pageviews + measure_events))'
const BOUNCE_RATE =
  'if(measure_visits > 0, intDivOrZero(2 * 10000 * measure_bounces + measure_visits, 2 * measure_visits) / 100, NULL) AS metric_bounce_rate'
const VISITS = 'sum(toInt64(sign)) AS measure_visits'
const BOUNCES = 'sumIf(toInt64(sign), pageviews = 1 AND events = pageleaves) AS measure_bounces'
const NO_VALUE = "CAST(NULL, 'Nullable(Float64)')"
const IS_GROUP = 'sum(pageviews + events) > 0 AS is_row'

const path: Filter = { type: 'page', path: { value: '/a', operator: 'eq' } }

describe('a statement from facts', () => {
  test('an aggregate of events', () => {
    expect(fromFacts({})).toEqual({
      query:
        `SELECT group_key, ${USERS} AS metric_users, measure_pageviews AS metric_pageviews, measure_events AS metric_events, ${ORIGIN} FROM (` +
        "SELECT '' AS group_key, uniqExact(user) AS measure_users, toInt64(countIf(name = 'pageview')) AS measure_pageviews, toInt64(countIf(name != 'pageview')) AS measure_events FROM events " +
        `WHERE project_id = {p0:String} AND ${wholeDays(2)}) ` +
        'LIMIT {p4:UInt32} OFFSET {p5:UInt32}',
      query_params: params(START, END, 100, 0),
    })
  })

  test('a breakdown by a session attribute, of events and visits', () => {
    expect(
      fromFacts({
        metrics: ['users', 'bounce_rate', 'visit_duration'],
        group_by: ['country'],
        order_by: [['visit_duration', 'asc']],
        limit: 5,
        offset: 10,
      }),
    ).toEqual({
      query:
        `SELECT group_key, measure_users AS metric_users, ${BOUNCE_RATE}, ` +
        'if(measure_visits > 0, intDivOrZero(measure_duration + 5 * measure_visits, 10 * measure_visits) / 100, NULL) AS metric_visit_duration, ' +
        `${ORIGIN} FROM (SELECT group_key, sum(parts.measure_visits) AS measure_visits, sum(parts.measure_bounces) AS measure_bounces, sum(parts.measure_duration) AS measure_duration, sum(parts.measure_users) AS measure_users ` +
        `FROM (SELECT country AS group_key, ${VISITS}, ${BOUNCES}, sum(sign * duration_ms) AS measure_duration, 0 AS measure_users, false AS is_row FROM sessions ` +
        `WHERE project_id = {p0:String} AND pageviews > 0 AND ${wholeDays(2, 'sessions')} GROUP BY group_key ` +
        'UNION ALL SELECT country AS group_key, 0 AS measure_visits, 0 AS measure_bounces, 0 AS measure_duration, uniqExact(user) AS measure_users, true AS is_row FROM events ' +
        `WHERE project_id = {p0:String} AND ${wholeDays(4)} GROUP BY group_key` +
        ') AS parts GROUP BY group_key HAVING max(is_row)) ' +
        'ORDER BY metric_visit_duration ASC NULLS LAST, group_key ASC LIMIT {p6:UInt32} OFFSET {p7:UInt32}',
      query_params: params(START, END, START, END, 5, 10),
    })
  })

  test.each<[readonly Metric[], string, string]>([
    [
      ['visits', 'views_per_visit', 'events_per_visit'],
      'country',
      'measure_visits AS metric_visits, ' +
        'if(measure_visits > 0, intDivOrZero(2 * 100 * measure_pageviews + measure_visits, 2 * measure_visits) / 100, NULL) AS metric_views_per_visit, ' +
        'if(measure_visits > 0, intDivOrZero(2 * 100 * measure_events + measure_visits, 2 * measure_visits) / 100, NULL) AS metric_events_per_visit, ',
    ],
    [
      ['pageviews', 'visits', 'views_per_visit'],
      'page:path',
      `measure_pageviews AS metric_pageviews, measure_visits AS metric_visits, ${NO_VALUE} AS metric_views_per_visit, `,
    ],
    [
      ['pageviews', 'visits', 'views_per_visit'],
      'event:name',
      `measure_pageviews AS metric_pageviews, ${NO_VALUE} AS metric_visits, ${NO_VALUE} AS metric_views_per_visit, `,
    ],
  ])('%j by %s', (metrics, token, columns) => {
    const { query } = fromFacts({ metrics, group_by: [token as GroupBy] })
    expect(query.slice(0, query.indexOf(ORIGIN))).toBe(`SELECT group_key, ${columns}`)
  })

  test('totals are joined to every row, and share its values', () => {
    const request = fillDefaults({
      date_range: '7days',
      metrics: ['users', 'pageviews'],
      group_by: ['os'],
      limit: 5,
      include: { totals: true },
    })
    const query = resolveQuery(request, 'p1', JANUARY)
    const plan = { ...planQuery(query, FACTS), totals: planQuery(toTotalsQuery(query), FACTS) }
    const users =
      'greatest(toInt64(measure_users), toInt64(measure_pageviews > 0)) AS metric_users, measure_pageviews AS metric_pageviews'
    const select = (key: string, from: number): string =>
      `(SELECT ${key} AS group_key, uniqExact(user) AS measure_users, toInt64(countIf(name = 'pageview')) AS measure_pageviews FROM events WHERE project_id = {p0:String} AND ${wholeDays(from)}`
    expect(buildStatement(plan, NONCE)).toEqual({
      query:
        `SELECT group_key, ${users}, total_users, total_pageviews, ${ORIGIN} FROM ${select('os', 2)} GROUP BY group_key) AS all_groups ` +
        `CROSS JOIN (SELECT metric_users AS total_users, metric_pageviews AS total_pageviews FROM (SELECT ${users} FROM ${select("''", 4)}))) AS totals ` +
        'ORDER BY metric_users DESC NULLS LAST, group_key ASC LIMIT {p6:UInt32} OFFSET {p7:UInt32}',
      query_params: params(START, END, START, END, 5, 0),
    })
  })

  const DECEMBER = { start: new Date('2025-12-01'), end: new Date('2025-12-31') }
  const compare = (
    given: Given,
    relations: readonly RelationName[] = FACTS,
    sizes?: ProjectSizes,
  ): Statement => {
    const query = resolveQuery(
      fillDefaults({ date_range: '7days', compare: ['2025-12-01', '2025-12-30'], ...given }),
      'p1',
      JANUARY,
      DECEMBER,
    )
    return buildStatement(
      planWithOthers(query, (one) => planQuery(one, relations, sizes)),
      NONCE,
    )
  }
  const COUNT = "toInt64(countIf(name = 'pageview')) AS measure_pageviews"

  test('the groups of another period are joined to every row', () => {
    const select = (key: string, from: number): string =>
      `SELECT ${key} AS group_key, ${COUNT} FROM events WHERE project_id = {p0:String} AND ${wholeDays(from)}`
    const compared = (key: string, from: string): string =>
      `(SELECT compared_key, metric_pageviews AS compared_pageviews FROM (SELECT ${key} AS compared_key, measure_pageviews AS metric_pageviews FROM (${from}))) AS compared`
    expect(compare({ metrics: ['pageviews'], group_by: ['os'] })).toEqual({
      query:
        `SELECT group_key, measure_pageviews AS metric_pageviews, compared_pageviews, ${ORIGIN} FROM (${select('os', 2)} GROUP BY group_key) AS all_groups ` +
        `LEFT JOIN ${compared('group_key', `${select('os', 4)} GROUP BY group_key`)} ON compared.compared_key = all_groups.group_key ` +
        'ORDER BY metric_pageviews DESC NULLS LAST, group_key ASC LIMIT {p6:UInt32} OFFSET {p7:UInt32}',
      query_params: params(START, END, Date.parse('2025-12-01'), Date.parse('2025-12-31'), 100, 0),
    })
    expect(compare({ metrics: ['pageviews'] }).query).toContain(
      `AS all_groups CROSS JOIN ${compared('group_key', select("''", 4))} LIMIT`,
    )
  })

  test('visits with another event are looked for in either period', () => {
    const { query_params } = compare({
      filters: [{ type: 'visit', filters: [{ type: 'user', anonymous: true }] }],
    })
    const values = Object.values(query_params)
    const [main, other] = [START, Date.parse('2025-12-01')].map((start) =>
      values.filter((value) => value === start),
    )
    expect(main!.length).toBeGreaterThan(1)
    expect(other).toHaveLength(main!.length)
  })

  test('a bucket is joined to the one of the same number', () => {
    const { query, query_params } = compare({ group_by: ['interval:day'] })
    expect(query).toMatch(/SELECT group_key \+ \{p\d+:Int64\} AS compared_key/)
    expect(Object.values(query_params)).toContain(31)
    const zoned = compare({ group_by: ['interval:day'], time_zone: 'Asia/Kolkata' })
    expect(zoned.query).toMatch(
      /transform\(group_key, \{p\d+:Array\(Int64\)\}, \{p\d+:Array\(Int64\)\}\) AS compared_key/,
    )
  })

  test('where users are counted last, so is the other period: only the same groups are read', () => {
    const given: Given = { group_by: ['page:path'], order_by: [['pageviews', 'desc']], limit: 5 }
    const { query } = compare(given, RELATIONS, MANY_GROUPS)
    expect(query).toContain('AS page_keys')
    // The statements of users, and those of the events and users of the other period.
    expect(query.split('value IN (SELECT arrayJoin(page_keys))')).toHaveLength(1 + 3)
  })

  test('new users: those of a group without those before the period', () => {
    const early = `project_id = {p0:String} AND ${wholeDays(4)}`
    expect(fromFacts({ metrics: ['new_users'], group_by: ['os'], limit: 5 })).toEqual({
      query:
        `SELECT group_key, measure_new_users AS metric_new_users, ${ORIGIN} FROM (` +
        'SELECT measured.group_key AS group_key, new_users.measure_new_users AS measure_new_users FROM (' +
        `SELECT os AS group_key FROM events WHERE project_id = {p0:String} AND ${wholeDays(2)} GROUP BY group_key) AS measured ` +
        'LEFT JOIN (SELECT group_key, toInt64(bitmapCardinality(bitmapAndnot(groupBitmapMergeState(parts.matching), ' +
        `(SELECT groupBitmapMergeState(parts.matching) FROM (SELECT '' AS group_key, groupBitmapState(user) AS matching FROM events WHERE ${early}) AS parts)))) AS measure_new_users ` +
        `FROM (SELECT os AS group_key, groupBitmapState(user) AS matching FROM events WHERE project_id = {p0:String} AND ${wholeDays(6)} GROUP BY group_key) AS parts GROUP BY group_key) AS new_users ` +
        'ON new_users.group_key = measured.group_key) ORDER BY metric_new_users DESC NULLS LAST, group_key ASC LIMIT {p8:UInt32} OFFSET {p9:UInt32}',
      query_params: params(START, END, Date.parse('1970-01-01'), START, START, END, 5, 0),
    })
  })

  test('new users of a time series: users of earlier buckets are not new', () => {
    const { query } = fromFacts({ metrics: ['new_users'], group_by: ['interval:auto'] })
    expect(query).toContain(
      'bitmapAndnot(bitmapAndnot(matching, before), (SELECT groupBitmapMergeState(parts.matching) FROM',
    )
    expect(query).toContain(
      'groupBitmapMergeState(buckets.everyone) OVER (ORDER BY group_key ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before',
    )
  })

  test('a time series: every bucket of the period has a row', () => {
    expect(fromFacts({ metrics: ['pageviews'], group_by: ['interval:auto'] })).toEqual({
      query:
        `SELECT group_key, measure_pageviews AS metric_pageviews, ${ORIGIN} FROM (SELECT group_key, sum(parts.measure_pageviews) AS measure_pageviews FROM (` +
        "SELECT toInt64(day) AS group_key, toInt64(countIf(name = 'pageview')) AS measure_pageviews, false AS is_row FROM events " +
        `WHERE project_id = {p0:String} AND ${wholeDays(2)} GROUP BY group_key ` +
        'UNION ALL SELECT arrayJoin(range({p4:Int64}, {p5:Int64})) AS group_key, 0 AS measure_pageviews, true AS is_row' +
        ') AS parts GROUP BY group_key HAVING max(is_row)) ORDER BY group_key ASC LIMIT {p6:UInt32} OFFSET {p7:UInt32}',
      query_params: params(START, END, 20454, 20485, 100, 0),
    })
  })

  test('visits with filters on single events: a value that is used twice is sent once', () => {
    const { query, query_params } = fromFacts({
      metrics: ['users', 'bounce_rate'],
      filters: [path, { type: 'browser', value: ['Chrome'], operator: 'oneOf' }],
      filtersOperator: 'or',
    })
    const filter = '(path = {p7:String} OR browser IN {p8:Array(String)})'
    expect(query).toContain(
      `FROM sessions WHERE project_id = {p0:String} AND pageviews > 0 AND ${wholeDays(2, 'sessions')} AND session IN (` +
        `SELECT session FROM events WHERE project_id = {p0:String} AND timestamp >= ${time(4)} AND timestamp <= (` +
        `SELECT max(end_at) FROM sessions WHERE project_id = {p0:String} AND pageviews > 0 AND ${moments(5, 'start_at')}) ` +
        `AND indexHint(toDate(timestamp) >= toDate(${time(4)}) AND toDate(timestamp) <= toDate(`,
    )
    expect(query).toContain(`)) AND ${filter})) AS part_0_sessions CROSS JOIN`)
    expect(query).toContain(
      `FROM events WHERE project_id = {p0:String} AND ${wholeDays(9)} AND ${filter}) AS part_1_events`,
    )
    expect(query_params).toEqual(
      params(...[START, END, START, START, END, '/a', ['Chrome']], ...[START, END, 100, 0]),
    )
  })

  test('visits by page, filtered by page: both are the entry page', () => {
    const given: Given = { metrics: ['bounce_rate'], group_by: ['page:path'], filters: [path] }
    expect(fromFacts(given)).toEqual({
      query:
        `SELECT group_key, ${BOUNCE_RATE}, ${ORIGIN} FROM (SELECT group_key, sum(parts.measure_visits) AS measure_visits, sum(parts.measure_bounces) AS measure_bounces FROM (` +
        `SELECT entry_path AS group_key, ${VISITS}, ${BOUNCES}, false AS is_row FROM sessions ` +
        `WHERE project_id = {p0:String} AND pageviews > 0 AND ${wholeDays(2, 'sessions')} AND entry_path = {p4:String} GROUP BY group_key ` +
        'UNION ALL SELECT path AS group_key, 0 AS measure_visits, 0 AS measure_bounces, true AS is_row FROM events ' +
        `WHERE project_id = {p0:String} AND ${wholeDays(5)} AND notEmpty(path) AND path = {p7:String} GROUP BY group_key` +
        ') AS parts GROUP BY group_key HAVING max(is_row)) ORDER BY metric_bounce_rate DESC NULLS LAST, group_key ASC LIMIT {p8:UInt32} OFFSET {p9:UInt32}',
      query_params: params(START, END, '/a', START, END, '/a', 100, 0),
    })
  })

  test('a breakdown by a property, by which visits are not counted', () => {
    const given: Given = { metrics: ['users', 'bounce_rate'], group_by: ['event:prop:plan'] }
    expect(fromFacts(given)).toEqual({
      query:
        `SELECT group_key, measure_users AS metric_users, ${NO_VALUE} AS metric_bounce_rate, ${ORIGIN} FROM (` +
        'SELECT properties[{p2:String}] AS group_key, uniqExact(user) AS measure_users FROM events ' +
        `WHERE project_id = {p0:String} AND ${wholeDays(3)} AND mapContains(properties, {p2:String}) GROUP BY group_key) ` +
        'ORDER BY metric_users DESC NULLS LAST, group_key ASC LIMIT {p5:UInt32} OFFSET {p6:UInt32}',
      query_params: params('plan', START, END, 100, 0),
    })
  })

  test.each([
    ['interval:auto', 'toInt64(day)', ''],
    ['city', 'city', ''],
    ['page:origin', 'origin', ' AND notEmpty(origin)'],
    ['page:path', 'path', ' AND notEmpty(path)'],
    ['event:name', 'name', " AND name != 'pageview'"],
    ['utm_term', 'utm_term', ''],
  ] as const)('rows of %s', (token, key, groups) => {
    const { query } = fromFacts({ metrics: ['users'], group_by: [token] })
    expect(query).toContain(`SELECT ${key} AS group_key, uniqExact(user)`)
    expect(query).toContain(`day < toDate(${time(3)}))${groups} GROUP BY group_key`)
  })
})

describe('a statement from facts by day', () => {
  test('the edges of a period are read apart from its whole days', () => {
    const period = { start: new Date('2026-01-01'), end: new Date('2026-01-31T12:00:00Z') }
    const { query, query_params } = build(
      { metrics: ['users'], filters: [path] },
      { period, relations: FACTS },
    )
    const filter = 'path = {p4:String}'
    expect(query).toContain(
      `FROM (SELECT *, day, numbers FROM events WHERE project_id = {p0:String} AND ${wholeDays(2)} AND ${filter} ` +
        `UNION ALL SELECT *, day, numbers FROM events WHERE project_id = {p0:String} AND ${moments(5)} AND ${filter})`,
    )
    expect(query_params).toMatchObject({
      p2: START,
      p3: Date.parse('2026-01-31'),
      p5: Date.parse('2026-01-31'),
      p6: Date.parse('2026-01-31T12:00Z'),
    })
  })
})

test('a statement from whole sessions: states that started in the period, and events of those that cross its edges', () => {
  const { query, query_params } = build(
    {
      metrics: ['pageviews', 'bounce_rate'],
      group_by: ['city'],
      filters: [{ type: 'browser', value: ['Chrome'], operator: 'oneOf' }],
    },
    { relations: ALL_RELATIONS },
    LARGE_SIZES,
  )
  const filter = 'browser IN {p6:Array(String)}'
  const project = 'WHERE project_id = {p0:String}'
  const replaced = `FROM sessions ${project} AND sign = -1 AND ${moments(2, 'start_at')}`
  const current = `((SELECT count() ${replaced}) = 0 OR (session, load) NOT IN (SELECT session, load ${replaced}))`
  const crossing = (condition: string, isInside: string): string =>
    `SELECT toDate(start_at) + arrayJoin(range(dateDiff('day', start_at, end_at) + 1)), user, session, ${isInside} ` +
    `FROM sessions ${project} AND ${condition} AND ${filter} GROUP BY user, session, start_at, end_at HAVING sum(sign) > 0`
  const happened = within(7, 'timestamp')
  const sign = `if(${happened}, 1, -1)`
  expect(query).toContain(
    'SELECT group_key, greatest(0, sum(own_pageviews)) AS measure_pageviews, sumIf(toInt64(sign), pageviews > 0) AS measure_visits, ' +
      'sumIf(toInt64(sign), pageviews = 1 AND events = pageleaves) AS measure_bounces FROM (' +
      `SELECT city AS group_key, user, sign > 0 AND ${current} AS has_user, sign, sign * pageviews AS own_pageviews, sign * events AS own_events, pageviews, events, pageleaves, duration_ms ` +
      `FROM sessions ${project} AND ${wholeDays(4, 'sessions')} AND ${filter} ` +
      `UNION ALL SELECT city, user, ${happened}, 0, ${sign} * (name = 'pageview'), ${sign} * (name != 'pageview'), 0, 0, 0, 0 ` +
      `FROM events ${project} AND (toDate(timestamp), user, session, ${happened}) IN (` +
      `${crossing(`start_at < ${time(9)} AND end_at >= ${time(9)}`, '1')} ` +
      `UNION ALL ${crossing(`${moments(10, 'start_at')} AND end_at >= ${time(12)}`, '0')})) GROUP BY group_key HAVING sum(own_pageviews + own_events) > 0)`,
  )
  expect(query_params).toMatchObject({
    ...{ p2: START, p3: END, p4: START, p5: END, p6: ['Chrome'], p7: START, p8: END, p9: START },
    ...{ p10: START, p11: END, p12: END },
  })
})

describe('a statement from rollups', () => {
  test('a total of months, days and moments: sums are added, bitmaps of users united', () => {
    const [a, b, c, d, e, f] = [
      Date.parse('2026-01-30T12:00Z'),
      Date.parse('2026-01-31'),
      Date.parse('2026-02-01'),
      Date.parse('2026-04-01'),
      Date.parse('2026-04-02'),
      Date.parse('2026-04-02T06:00Z'),
    ]
    const period = {
      start: new Date('2026-01-30T12:00:00Z'),
      end: new Date('2026-04-02T06:00:00Z'),
    }
    // From the first day to the last, but only some days between.
    const days = (at: number): string =>
      `(${rolled(at, 'day')} AND day IN {p${at + 2}:Array(Date)})`
    const daily = (table: string, at: number): string =>
      `FROM ${table} WHERE project_id = {p0:String} AND dimension = {p${at}:String} AND ${days(at + 1)}`
    const sums = "SELECT '' AS group_key, sum(pageviews) AS measure_pageviews"
    const users = "SELECT '' AS group_key, groupBitmapMergeState(users) AS measure_users"
    const pageviews = [
      'part_0_sessions_monthly.measure_pageviews',
      'part_2_sessions_daily.measure_pageviews',
      'part_4_events.measure_pageviews',
    ].join(' + ')
    const bitmaps =
      'bitmapOr(bitmapOr(part_1_users_monthly.measure_users, part_3_users_daily.measure_users), part_4_events.measure_users)'
    const asked = fillDefaults({ date_range: '7days', metrics: ['users', 'pageviews'] })
    // The first plan that is listed reads all rollups.
    const [plan] = listPlans(resolveQuery(asked, 'p1', period), RELATIONS).values()
    expect(buildStatement(plan!, NONCE)).toEqual({
      query:
        `SELECT group_key, ${USERS_OF_PAGEVIEWS} AS metric_users, measure_pageviews AS metric_pageviews, ${ORIGIN} FROM (` +
        `SELECT '' AS group_key, ${pageviews} AS measure_pageviews, bitmapCardinality(${bitmaps}) AS measure_users FROM ` +
        `(${sums} ${from('sessions_monthly', 2)}) AS part_0_sessions_monthly CROSS JOIN ` +
        `(${users} ${from('users_monthly', 5)}) AS part_1_users_monthly CROSS JOIN ` +
        `(${sums} ${daily('sessions_daily', 8)}) AS part_2_sessions_daily CROSS JOIN ` +
        `(${users} ${daily('users_daily', 12)}) AS part_3_users_daily CROSS JOIN ` +
        "(SELECT '' AS group_key, groupBitmapState(user) AS measure_users, toInt64(countIf(name = 'pageview')) AS measure_pageviews FROM events " +
        `WHERE project_id = {p0:String} AND (${within(16, 'timestamp')} AND toDate(timestamp) IN {p18:Array(Date)})) AS part_4_events` +
        ') LIMIT {p19:UInt32} OFFSET {p20:UInt32}',
      query_params: params(
        ...['total', c, d],
        ...['total', c, d],
        ...['total', b, e, ['2026-01-31', '2026-04-01']],
        ...['total', b, e, ['2026-01-31', '2026-04-01']],
        ...[a, f, ['2026-01-30', '2026-04-02']],
        ...[100, 0],
      ),
    })
  })

  test('a breakdown filtered by its own dimension: both read the column value', () => {
    const country = { value: ['DE'], operator: 'noneOf' as const }
    const given: Given = {
      metrics: ['pageviews', 'users'],
      group_by: ['country'],
      filters: [{ type: 'location', country }],
    }
    const filter = 'AND NOT (value IN {p5:Array(String)}) GROUP BY group_key'
    expect(build(given)).toEqual({
      query:
        `SELECT group_key, measure_pageviews AS metric_pageviews, ${USERS_OF_PAGEVIEWS} AS metric_users, ${ORIGIN} FROM (` +
        'SELECT group_key, sum(parts.measure_pageviews) AS measure_pageviews, sum(parts.measure_users) AS measure_users FROM (' +
        `SELECT value AS group_key, sum(pageviews) AS measure_pageviews, 0 AS measure_users, ${IS_GROUP} ${from('sessions_monthly', 2)} ${filter} ` +
        `UNION ALL SELECT value AS group_key, 0 AS measure_pageviews, groupBitmapMerge(users) AS measure_users, false AS is_row ${from('users_monthly', 6)} ${filter}` +
        ') AS parts GROUP BY group_key HAVING max(is_row)) ORDER BY metric_pageviews DESC NULLS LAST, group_key ASC LIMIT {p9:UInt32} OFFSET {p10:UInt32}',
      query_params: params(...['country', START, END, ['DE']], ...['country', START, END, 100, 0]),
    })
  })

  test('a breakdown from one rollup: sums of zero make no group', () => {
    const properties = (['any', 'notEq'] as const).map((operator) => ({
      property: 'plan',
      value: 'x',
      operator,
    }))
    const given: Given = {
      metrics: ['pageviews'],
      group_by: ['event:prop:plan'],
      filters: [{ type: 'event', properties }],
    }
    expect(build(given)).toEqual({
      query:
        `SELECT group_key, measure_pageviews AS metric_pageviews, ${ORIGIN} FROM (` +
        'SELECT group_key, sum(parts.measure_pageviews) AS measure_pageviews FROM (' +
        `SELECT value AS group_key, sum(pageviews) AS measure_pageviews, ${IS_GROUP} ${from('events_monthly', 2)} AND NOT (value = {p5:String}) GROUP BY group_key` +
        ') AS parts GROUP BY group_key HAVING max(is_row)) ORDER BY metric_pageviews DESC NULLS LAST, group_key ASC LIMIT {p6:UInt32} OFFSET {p7:UInt32}',
      query_params: params('event:prop:plan', START, END, 'x', 100, 0),
    })
  })

  test('a time series: days come from a rollup, and the rest of the last day from events', () => {
    const period = { start: new Date('2026-01-01'), end: new Date('2026-01-31T12:00:00Z') }
    const day = (time: string): string => `intDiv(toUnixTimestamp64Milli(${time}), 86400000)`
    expect(build({ metrics: ['users'], group_by: ['interval:auto'] }, { period })).toEqual({
      query:
        `SELECT group_key, measure_users AS metric_users, ${ORIGIN} FROM (SELECT group_key, groupBitmapMerge(parts.measure_users) AS measure_users FROM (` +
        `SELECT ${day("toDateTime64(day, 3, 'UTC')")} AS group_key, groupBitmapMergeState(users) AS measure_users, false AS is_row ${from('users_daily', 2)} GROUP BY group_key ` +
        `UNION ALL SELECT toInt64(day) AS group_key, groupBitmapState(user) AS measure_users, false AS is_row FROM events ` +
        `WHERE project_id = {p0:String} AND ${moments(5)} GROUP BY group_key ` +
        'UNION ALL SELECT arrayJoin(range({p7:Int64}, {p8:Int64})) AS group_key, bitmapBuild(emptyArrayUInt32()) AS measure_users, true AS is_row' +
        ') AS parts GROUP BY group_key HAVING max(is_row)) ORDER BY group_key ASC LIMIT {p9:UInt32} OFFSET {p10:UInt32}',
      query_params: params(
        ...['total', START, Date.parse('2026-01-31')],
        ...[Date.parse('2026-01-31'), Date.parse('2026-01-31T12:00Z')],
        ...[20454, 20485, 100, 0],
      ),
    })
  })

  /** The groups of the array that the statement begins with; the numbers of its members are parameters from `at` on. */
  const counted = (at: number, ...columns: readonly string[]): string =>
    `counted AS (SELECT ${columns.map((column, i) => `tupleElement(one, {p${at + i}:UInt32}) AS ${column}`).join(', ')} FROM (SELECT arrayJoin(all_counted) AS one))`
  const page = { limit: 5, offset: 10 }
  const pages: Given = { group_by: ['page:path'], ...page }
  test('users of the groups on the page, which another metric determines', () => {
    const given: Given = {
      ...pages,
      metrics: ['users', 'bounce_rate'],
      order_by: [['bounce_rate', 'desc']],
    }
    const order = 'ORDER BY metric_bounce_rate DESC NULLS LAST, group_key ASC'
    expect(build(given, {}, MANY_GROUPS)).toEqual({
      query:
        `SELECT group_key, measure_users AS metric_users, ${BOUNCE_RATE}, ${ORIGIN} FROM (` +
        'WITH (SELECT groupArray(tuple(group_key, measure_visits, measure_bounces)) FROM (SELECT group_key, sum(parts.measure_visits) AS measure_visits, sum(parts.measure_bounces) AS measure_bounces FROM (' +
        `SELECT value AS group_key, sum(visits) AS measure_visits, sum(bounces) AS measure_bounces, ${IS_GROUP} ${from('pageviews_monthly', 2)} AND notEmpty(value) GROUP BY group_key` +
        `) AS parts GROUP BY group_key HAVING max(is_row))) AS all_counted, ${counted(5, 'group_key', 'measure_visits', 'measure_bounces')}, ` +
        `(SELECT groupArray(group_key) FROM (SELECT group_key FROM (SELECT group_key, ${BOUNCE_RATE} FROM counted) ${order} LIMIT {p8:UInt32} OFFSET {p9:UInt32})) AS page_keys ` +
        'SELECT counted.group_key AS group_key, measure_visits, measure_bounces, measure_users FROM counted LEFT JOIN (' +
        `SELECT value AS group_key, groupBitmapMerge(users) AS measure_users ${from('users_monthly', 10)} AND notEmpty(value) AND value IN (SELECT arrayJoin(page_keys)) ` +
        'GROUP BY group_key) AS users ON users.group_key = counted.group_key) ' +
        `${order} LIMIT {p13:UInt32} OFFSET {p14:UInt32}`,
      query_params: params(
        ...['page:path', START, END, 1, 2, 3, 5, 10],
        ...['page:path', START, END],
        ...[5, 10],
      ),
    })
  })

  test('users of the groups on the page, which the order by group determines; events are read for these groups only', () => {
    const period = { start: new Date('2026-01-01'), end: new Date('2026-02-01T12:00:00Z') }
    const given: Given = { ...pages, metrics: ['users'], order_by: [['page:path', 'desc']] }
    const keys = 'IN (SELECT arrayJoin(page_keys)) GROUP BY group_key'
    expect(build(given, { period }, MANY_GROUPS)).toEqual({
      query:
        `SELECT group_key, measure_users AS metric_users, ${ORIGIN} FROM (` +
        `WITH (SELECT groupArray(tuple(group_key)) FROM (SELECT group_key FROM (SELECT value AS group_key, ${IS_GROUP} ${from('pageviews_monthly', 2)} AND notEmpty(value) GROUP BY group_key ` +
        `UNION ALL SELECT path AS group_key, true AS is_row FROM events WHERE project_id = {p0:String} AND ${moments(5)} AND notEmpty(path) GROUP BY group_key` +
        `) AS parts GROUP BY group_key HAVING max(is_row))) AS all_counted, ${counted(7, 'group_key')}, ` +
        '(SELECT groupArray(group_key) FROM (SELECT group_key FROM (SELECT group_key FROM counted) ORDER BY group_key DESC LIMIT {p8:UInt32} OFFSET {p9:UInt32})) AS page_keys ' +
        'SELECT counted.group_key AS group_key, measure_users FROM counted LEFT JOIN (' +
        'SELECT group_key, groupBitmapMerge(parts.measure_users) AS measure_users FROM (' +
        `SELECT value AS group_key, groupBitmapMergeState(users) AS measure_users, true AS is_row ${from('users_monthly', 10)} AND notEmpty(value) AND value ${keys} ` +
        `UNION ALL SELECT path AS group_key, groupBitmapState(user) AS measure_users, true AS is_row FROM events WHERE project_id = {p0:String} AND ${moments(13)} AND notEmpty(path) AND path ${keys}` +
        ') AS parts GROUP BY group_key HAVING max(is_row)) AS users ON users.group_key = counted.group_key) ' +
        'ORDER BY group_key DESC LIMIT {p15:UInt32} OFFSET {p16:UInt32}',
      query_params: params(
        ...['page:path', START, END, END, Date.parse('2026-02-01T12:00Z'), 1, 5, 10],
        ...['page:path', START, END, END, Date.parse('2026-02-01T12:00Z')],
        ...[5, 10],
      ),
    })
  })

  test('users of the groups that may be on the page: those with enough events', () => {
    const users = (at: number, keys: string): string =>
      `SELECT value AS group_key, groupBitmapMerge(users) AS measure_users ${from('users_monthly', at)} AND notEmpty(value) AND value IN (${keys}) GROUP BY group_key`
    expect(build({ ...pages, metrics: ['users'] }, {}, MANY_GROUPS)).toEqual({
      query:
        `SELECT group_key, ${USERS} AS metric_users, ${ORIGIN} FROM (` +
        'WITH (SELECT groupArray(tuple(group_key, measure_pageviews, measure_events)) FROM (SELECT group_key, sum(parts.measure_pageviews) AS measure_pageviews, sum(parts.measure_events) AS measure_events FROM (' +
        `SELECT value AS group_key, sum(pageviews) AS measure_pageviews, sum(events) AS measure_events, ${IS_GROUP} ${from('pageviews_monthly', 2)} AND notEmpty(value) GROUP BY group_key` +
        `) AS parts GROUP BY group_key HAVING max(is_row))) AS all_counted, ${counted(5, 'group_key', 'measure_pageviews', 'measure_events')}, ` +
        '(SELECT groupArray(group_key) FROM (SELECT group_key FROM counted ORDER BY measure_pageviews + measure_events DESC LIMIT {p8:UInt32})) AS top_keys, ' +
        `(SELECT (groupArray(group_key), groupArray(measure_users)) FROM (${users(9, 'SELECT arrayJoin(top_keys)')})) AS first, ` +
        '(SELECT groupArray(group_key) FROM (SELECT group_key FROM counted WHERE measure_pageviews + measure_events >= arrayMin(first.2) AND group_key NOT IN (SELECT arrayJoin(first.1)))) AS other_keys ' +
        'SELECT counted.group_key AS group_key, measure_pageviews, measure_events, measure_users FROM counted LEFT JOIN (' +
        'SELECT group_key, measure_users FROM (SELECT first.1 AS keys, first.2 AS numbers) ARRAY JOIN keys AS group_key, numbers AS measure_users ' +
        `UNION ALL ${users(12, 'SELECT arrayJoin(other_keys)')}` +
        ') AS users ON users.group_key = counted.group_key) ' +
        'ORDER BY metric_users DESC NULLS LAST, group_key ASC LIMIT {p15:UInt32} OFFSET {p16:UInt32}',
      query_params: params(
        ...['page:path', START, END, 1, 2, 3, 15],
        ...['page:path', START, END],
        ...['page:path', START, END],
        ...[5, 10],
      ),
    })
  })

  test.each([
    ['country', 'sessions_monthly', ''],
    ['page:origin', 'pageviews_monthly', ' AND notEmpty(value)'],
    ['event:name', 'events_monthly', " AND value != 'pageview'"],
    ['event:prop:plan', 'events_monthly', ''],
  ] as const)('rows of %s', (token, table, groups) => {
    const { query, query_params } = build({ metrics: ['events'], group_by: [token] })
    expect(query).toContain(`${from(table, 2)}${groups} GROUP BY group_key) AS parts`)
    expect(query_params).toMatchObject({ p2: token })
  })
})

test('bounds far outside the stored range are clamped, buckets are not', () => {
  const period = { start: new Date('0001-01-01'), end: new Date('9999-12-31T23:59:59Z') }
  const given: Given = { metrics: ['users'], group_by: ['interval:auto'] }
  const [first, last] = [Date.parse('1970-01-01'), Date.parse('2100-01-01')]
  expect(build(given, { period, relations: FACTS }).query_params).toEqual(
    params(first, last, last, last, 12, 120_000, 100, 0),
  )
  expect(build(given, { period }).query_params).toEqual(
    params(
      ...['total', first, last],
      ...['total', last, last],
      ...[last, last, 12, 120_000, 100, 0],
    ),
  )
})

test('no injection: the text depends on no value of the request', () => {
  /** Replaces each value by another; equal values get equal replacements. */
  const swap = (value: unknown, key = ''): unknown => {
    if (typeof value === 'string')
      return ['type', 'field', 'operator'].includes(key) ? value : `'; --${value}`
    if (Array.isArray(value)) return value.map((one) => swap(one, key))
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([k, one]) => [k, swap(one, k)]))
    }
    return typeof value === 'boolean' && !key.startsWith('case') ? !value : value
  }
  /** Builds the statement of each plan. Which one is chosen depends on the limit. */
  const buildAll = (given: Given, project: string): readonly string[] => {
    const query = resolveQuery(fillDefaults({ date_range: '7days', ...given }), project, JANUARY)
    const { ranking } = planQuery(query)
    return [...listPlans(query, ALL_RELATIONS).values()].map(
      (plan) => buildStatement(ranking === undefined ? plan : { ...plan, ranking }, NONCE).query,
    )
  }
  const prefix = 'event:prop:'
  fc.assert(
    fc.property(fc.oneof(request, rollupRequest), (asked) => {
      const isProperty = [...(asked.group_by ?? []), ...(asked.then_by ?? [])].some((token) =>
        token.startsWith(prefix),
      )
      const rename = <Token extends GroupBy>(token: Token): Token =>
        token.startsWith(prefix) ? (`${prefix}'; --${token.slice(prefix.length)}` as Token) : token
      const other: Given = {
        ...asked,
        filters: swap(asked.filters) as readonly Filter[],
        limit: 77,
        offset: 5,
        ...(isProperty ? { order_by: [] } : {}),
        ...(asked.group_by === undefined ? {} : { group_by: asked.group_by.map(rename) }),
        ...(asked.then_by === undefined ? {} : { then_by: asked.then_by.map(rename) }),
      }
      const same = { ...asked, ...(isProperty ? { order_by: [] } : {}) }
      expect(buildAll(other, "p2' OR ''='")).toEqual(buildAll(same, 'p1'))
    }),
    { seed: 1, numRuns: scaled(200) },
  )
})
