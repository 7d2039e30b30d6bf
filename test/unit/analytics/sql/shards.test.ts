/** Statements across several shards: each computes its groups to their end, and their measures are added up. */
import { expect, test } from '@jest/globals'
import { ALL_RELATIONS, type RelationName } from '../../../../src/model/relations.js'
import { listPlans, planQuery } from '../../../../src/analytics/plan/planner.js'
import { resolveQuery } from '../../../../src/analytics/request/query.js'
import { buildStatement } from '../../../../src/analytics/sql/build-statement.js'
import type { AnalyticsQueryRequest } from '../../../../src/contract/api.js'
import type { Statement } from '../../../../src/clickhouse/sql.js'
import { fillDefaults } from '../../../support/world/world.js'

/** Relations without `whole_sessions`, whose statements have tests of their own. */
const FACTS: readonly RelationName[] = ['sessions', 'events']
const RELATIONS: readonly RelationName[] = ALL_RELATIONS.filter((name) => name !== 'whole_sessions')

const JANUARY = { start: new Date('2026-01-01'), end: new Date('2026-02-01') }
const GROUP = { name: 'tallyhouse_1_2', database: 'stats', width: 2, isWidening: false }

const build = (
  asked: Partial<AnalyticsQueryRequest>,
  relations: readonly RelationName[],
  group = GROUP,
): Statement =>
  buildStatement(
    planQuery(
      resolveQuery(fillDefaults({ date_range: '7days', ...asked }), 'p', JANUARY),
      relations,
    ),
    'nonce-1',
    group,
  )

const ORIGIN = '{p0:String} AS of_project, {p1:String} AS of_request'
/** A moment, as the number of its milliseconds in the parameter of a number. */
const time = (at: number): string => `fromUnixTimestamp64Milli({p${at}:Int64}, 'UTC')`
const DAYS =
  `(indexHint(timestamp >= ${time(4)} AND timestamp < ${time(5)}) ` +
  `AND indexHint(toDate(timestamp) >= toDate(${time(4)}) AND toDate(timestamp) <= toDate(subtractMilliseconds(${time(5)}, 1))) ` +
  `AND day >= toDate(${time(4)}) AND day < toDate(${time(5)}))`
const SUM = 'sum(shards.measure_events) AS measure_events'
const [START, END] = [Date.parse('2026-01-01'), Date.parse('2026-02-01')]

test('an aggregate: one row of each shard', () => {
  expect(build({ metrics: ['events'] }, FACTS)).toEqual({
    query:
      `SELECT group_key, measure_events AS metric_events, ${ORIGIN} FROM (` +
      `SELECT group_key, ${SUM} FROM cluster({p2:Identifier}, view(` +
      "SELECT '' AS group_key, toInt64(countIf(name != 'pageview')) AS measure_events, true AS is_row " +
      `FROM {p3:Identifier}.events WHERE project_id = {p0:String} AND ${DAYS}` +
      ')) AS shards GROUP BY group_key HAVING max(is_row)) LIMIT {p6:UInt32} OFFSET {p7:UInt32}',
    query_params: {
      ...{ p0: 'p', p1: 'nonce-1', p2: 'tallyhouse_1_2', p3: 'stats' },
      ...{ p4: START, p5: END, p6: 100, p7: 0 },
    },
  })
})

test('while a project is widened, the users who have left a shard are left out', () => {
  const { query, query_params } = build({ metrics: ['events'] }, FACTS, {
    ...GROUP,
    isWidening: true,
  })
  expect(query).toContain(
    'FROM {p3:Identifier}.events WHERE project_id = {p0:String} AND NOT bitmapContains(' +
      '(SELECT groupBitmapMergeState(users) FROM {p3:Identifier}.departures WHERE project_id = {p0:String}), user) AND ',
  )
  expect(query_params).toMatchObject({ p0: 'p', p3: 'stats' })
  expect(() => build({ metrics: ['events'] }, RELATIONS, { ...GROUP, isWidening: true })).toThrow(
    new TypeError('a rollup counts users who have left'),
  )
})

test('a breakdown: a group without events on one shard may have some on another, so it is only marked', () => {
  expect(build({ metrics: ['events'], group_by: ['country'], limit: 7 }, RELATIONS)).toEqual({
    query:
      `SELECT group_key, measure_events AS metric_events, ${ORIGIN} FROM (` +
      `SELECT group_key, ${SUM} FROM cluster({p2:Identifier}, view(` +
      'SELECT group_key, sum(parts.measure_events) AS measure_events, max(parts.is_row) AS is_row FROM (' +
      'SELECT value AS group_key, sum(events) AS measure_events, sum(pageviews + events) > 0 AS is_row ' +
      'FROM {p3:Identifier}.sessions_monthly WHERE project_id = {p0:String} AND dimension = {p4:String} ' +
      `AND month >= toDate(${time(5)}) AND month < toDate(${time(6)}) GROUP BY group_key` +
      ') AS parts GROUP BY group_key' +
      ')) AS shards GROUP BY group_key HAVING max(is_row)) ' +
      'ORDER BY metric_events DESC NULLS LAST, group_key ASC LIMIT {p7:UInt32} OFFSET {p8:UInt32}',
    query_params: {
      ...{ p0: 'p', p1: 'nonce-1', p2: 'tallyhouse_1_2', p3: 'stats' },
      ...{ p4: 'country', p5: START, p6: END, p7: 7, p8: 0 },
    },
  })
})

test('users that are counted last: each shard is asked again, for the groups on the page alone', () => {
  const query = resolveQuery(
    fillDefaults({
      ...{ date_range: '7days', group_by: ['page:path'], metrics: ['users', 'pageviews'] },
      ...{ order_by: [['pageviews', 'asc']], limit: 7, offset: 3 },
    }),
    'p',
    JANUARY,
  )
  const plan = [...listPlans(query, RELATIONS).values()].find(
    ({ userCounting }) => userCounting.kind === 'page',
  )!
  /** @param at the number of the first parameter, after that of the database */
  const rowsOf = (table: string, at: number): string =>
    `FROM {p${at - 1}:Identifier}.${table} WHERE project_id = {p0:String} AND dimension = {p${at}:String} ` +
    `AND month >= toDate(${time(at + 1)}) AND month < toDate(${time(at + 2)}) AND notEmpty(value) GROUP BY group_key`
  expect(buildStatement(plan, 'nonce-1', GROUP)).toEqual({
    query:
      `SELECT group_key, greatest(toInt64(measure_users), toInt64(measure_pageviews > 0)) AS metric_users, measure_pageviews AS metric_pageviews, ${ORIGIN} FROM (` +
      'WITH (SELECT groupArray(tuple(group_key, measure_pageviews)) FROM (' +
      'SELECT group_key, sum(shards.measure_pageviews) AS measure_pageviews FROM cluster({p2:Identifier}, view(' +
      'SELECT group_key, sum(parts.measure_pageviews) AS measure_pageviews, max(parts.is_row) AS is_row FROM (' +
      `SELECT value AS group_key, sum(pageviews) AS measure_pageviews, sum(pageviews + events) > 0 AS is_row ${rowsOf('pageviews_monthly', 4)}` +
      ') AS parts GROUP BY group_key)) AS shards GROUP BY group_key HAVING max(is_row))) AS all_counted, ' +
      'counted AS (SELECT tupleElement(one, {p7:UInt32}) AS group_key, tupleElement(one, {p8:UInt32}) AS measure_pageviews FROM (SELECT arrayJoin(all_counted) AS one)), ' +
      '(SELECT groupArray(group_key) FROM (SELECT group_key FROM (SELECT group_key, measure_pageviews AS metric_pageviews FROM counted) ' +
      'ORDER BY metric_pageviews ASC NULLS LAST, group_key ASC LIMIT {p9:UInt32} OFFSET {p10:UInt32})) AS page_keys ' +
      'SELECT counted.group_key AS group_key, measure_pageviews, measure_users FROM counted LEFT JOIN (' +
      'SELECT group_key, sum(shards.measure_users) AS measure_users FROM cluster({p11:Identifier}, view(' +
      `SELECT value AS group_key, groupBitmapMerge(users) AS measure_users, true AS is_row ${rowsOf('users_monthly', 13)}` +
      ')) AS shards WHERE group_key IN (SELECT arrayJoin(page_keys)) GROUP BY group_key HAVING max(is_row)' +
      ') AS users ON users.group_key = counted.group_key) ' +
      'ORDER BY metric_pageviews ASC NULLS LAST, group_key ASC LIMIT {p16:UInt32} OFFSET {p17:UInt32}',
    query_params: {
      ...{ p0: 'p', p1: 'nonce-1', p2: 'tallyhouse_1_2', p3: 'stats' },
      ...{ p4: 'page:path', p5: START, p6: END, p7: 1, p8: 2, p9: 7, p10: 3 },
      ...{
        p11: 'tallyhouse_1_2',
        p12: 'stats',
        p13: 'page:path',
        p14: START,
        p15: END,
        p16: 7,
        p17: 3,
      },
    },
  })
})

test('names of groups and databases that would need quotes are refused', () => {
  for (const name of ["x'", 'a b', '', 'a.b']) {
    expect(() => build({}, FACTS, { ...GROUP, name })).toThrow(TypeError)
    expect(() => build({}, FACTS, { ...GROUP, database: name })).toThrow(TypeError)
  }
})
