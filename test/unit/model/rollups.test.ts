/** The table of rollups: the names and columns that follow from it must stay those of existing stores. */
import { expect, test } from '@jest/globals'
import { statement } from '../../../src/clickhouse/sql.js'
import { ALL_RELATIONS, FACTS, RELATIONS } from '../../../src/model/relations.js'
import { LIVE, nameShadowTables, nameTables } from '../../../src/model/rollup-table-sets.js'
import { listSumColumns, ROLLUP_NAMES, ROLLUPS } from '../../../src/model/rollups.js'

const SUMS = ['pageviews', 'events', 'visits', 'bounces', 'duration']
const ROWS = [
  ['numbers_monthly', 'month', ['counted', 'others', 'sum']],
  ['sessions_daily', 'day', SUMS],
  ['sessions_monthly', 'month', SUMS],
  ['pageviews_daily', 'day', SUMS],
  ['pageviews_monthly', 'month', SUMS],
  ['events_daily', 'day', ['pageviews', 'events']],
  ['events_monthly', 'month', ['pageviews', 'events']],
  ['users_daily', 'day', []],
  ['users_monthly', 'month', []],
  ['pairs_monthly', 'month', SUMS],
  ['pair_users_monthly', 'month', []],
]

test('there are eleven rollups, each with its date column and its sums', () => {
  expect(
    ROLLUPS.map((rollup) => [
      rollup.name,
      statement(rollup.dateColumn).query,
      listSumColumns(rollup).map((column) => statement(column).query),
    ]),
  ).toEqual(ROWS)
})

test('names of live and shadow tables are text; those of a deletion, which are made at run time, are parameters', () => {
  const tables = nameTables('removal_7_')
  const shadow = nameShadowTables(9)
  for (const name of ROLLUP_NAMES) {
    expect(statement(LIVE.rollups[name])).toEqual({ query: name, query_params: {} })
    expect(statement(shadow.rollups[name])).toEqual({ query: `draft_9_${name}`, query_params: {} })
    expect(statement(tables.rollups[name])).toEqual({
      query: '{p0:Identifier}',
      query_params: { p0: `removal_7_${name}` },
    })
  }
})

test('relations are ordered by cost: months, days, facts', () => {
  expect(ALL_RELATIONS).toEqual([
    'numbers_monthly',
    ...['sessions_monthly', 'pageviews_monthly', 'events_monthly', 'users_monthly'],
    ...['pairs_monthly', 'pair_users_monthly'],
    ...['sessions_daily', 'pageviews_daily', 'events_daily', 'users_daily'],
    ...['whole_sessions', 'sessions', 'events'],
  ])
  expect(FACTS).toEqual(['whole_sessions', 'sessions', 'events'])
  const costs = ALL_RELATIONS.map((name) => RELATIONS[name].cost)
  expect(costs).toEqual([...costs].sort((one, other) => one - other))
})
