/** Queries of the API are limited whatever account runs them: here one that may do anything, without limits. */
import { beforeAll, expect, test } from '@jest/globals'
import { createQueryRunner, type RunQuery } from '../../../src/clickhouse/run.js'
import { sql, statement, type Sql } from '../../../src/clickhouse/sql.js'
import { connectStore } from '../../../src/clickhouse/store.js'
import { withDatabase } from '../../support/store/database.js'

const database = withDatabase()
let run: RunQuery
beforeAll(() => {
  run = createQueryRunner(database.store, 30_000)
})

test('every limit is sent', async () => {
  const { rows } = await run(
    statement(sql`
SELECT
  getSetting('readonly') AS readonly,
  getSetting('cancel_http_readonly_queries_on_client_close') AS cancels,
  getSetting('max_memory_usage') AS memory,
  getSetting('max_rows_to_group_by') AS groups,
  getSetting('max_result_rows') AS result,
  [getSetting('timeout_overflow_mode'), getSetting('group_by_overflow_mode'), getSetting('result_overflow_mode')] AS modes`),
  )
  expect(rows).toEqual([
    {
      readonly: 2,
      cancels: true,
      memory: 1_073_741_824,
      groups: 10_000_000,
      result: 1_000_000,
      modes: ['throw', 'throw', 'throw'],
    },
  ])
})

test.each<[what: string, code: string, query: Sql]>([
  [
    'more memory than a query may use',
    'QUERY_TOO_EXPENSIVE',
    sql`SELECT length(groupArray(concat(repeat('x', 1000000), toString(number)))) FROM numbers(100000)`,
  ],
  [
    'more rows than a response may have',
    'QUERY_TOO_EXPENSIVE',
    sql`SELECT number FROM numbers(1000001)`,
  ],
  ['a change', 'INTERNAL_ERROR', sql`INSERT INTO salts (day) SELECT today()`],
])('%s: %s', async (_what, code, query) => {
  await expect(run(statement(query))).rejects.toMatchObject({ code })
})

test('a store that does not answer is asked for its limits again', async () => {
  const nowhere = connectStore({ ...database.endpoint, url: 'http://127.0.0.1:1' })
  const store = connectStore(database.endpoint)
  const { lookups } = store
  const original = { ...lookups }
  Object.assign(lookups, nowhere.lookups)
  const ask = () => createQueryRunner(store, 60_000)(statement(sql`SELECT 1 AS n`))
  await expect(ask()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  Object.assign(lookups, original)
  expect((await ask()).rows).toEqual([{ n: 1 }])
  await Promise.all([store.close(), nowhere.close()])
})
