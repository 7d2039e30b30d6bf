/** Statements across several shards: each computes its groups to their end, and their measures are added up. */
import { expect, test } from '@jest/globals'
import { ALL_RELATIONS, FACTS } from '../../../../src/model/relations.js'
import { planQuery } from '../../../../src/analytics/plan/planner.js'
import { resolveQuery } from '../../../../src/analytics/request/query.js'
import { buildStatement } from '../../../../src/analytics/sql/build-statement.js'
import type { AnalyticsQueryRequest } from '../../../../src/contract/api.js'
import type { Statement } from '../../../../src/clickhouse/sql.js'
import { fillDefaults } from '../../../support/world/world.js'

const JANUARY = { start: new Date('2026-01-01'), end: new Date('2026-02-01') }
const GROUP = { name: 'tallyhouse_1_2', database: 'stats', width: 2, isWidening: false }

const build = (
  asked: Partial<AnalyticsQueryRequest>,
  relations: typeof ALL_RELATIONS,
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
  expect(() =>
    build({ metrics: ['events'] }, ALL_RELATIONS, { ...GROUP, isWidening: true }),
  ).toThrow(new TypeError('a rollup counts users who have left'))
})

test('a breakdown: a group without events on one shard may have some on another, so it is only marked', () => {
  expect(build({ metrics: ['events'], group_by: ['country'], limit: 7 }, ALL_RELATIONS)).toEqual({
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

test('names of groups and databases that would need quotes are refused', () => {
  for (const name of ["x'", 'a b', '', 'a.b']) {
    expect(() => build({}, FACTS, { ...GROUP, name })).toThrow(TypeError)
    expect(() => build({}, FACTS, { ...GROUP, database: name })).toThrow(TypeError)
  }
})
