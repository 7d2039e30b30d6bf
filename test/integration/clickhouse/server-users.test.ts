/** The accounts in clickhouse/config/users.xml, for a ClickHouse server, have the rights that the service needs and no others. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createQueryRunner } from '../../../src/clickhouse/run.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { startServer, type Server } from '../../support/engine/server.js'
import { createWorld, runQuery } from '../../support/world/world.js'

let server: Server
let store: Store

beforeAll(async () => {
  server = await startServer()
  store = server.store
}, 60_000)
afterAll(() => server.stop())

test('they suffice to migrate, load and query', async () => {
  const project = await createWorld(store, [{ timestamp: '2026-06-15T10:00:00Z', user_id: 'u' }])
  expect((await runQuery(store, project, { date_range: 'today' })).data).toEqual([
    { group: {}, metrics: { users: 1, pageviews: 1, events: 0 } },
  ])
})

test('the limits of the account hold, and those that it lacks are sent', async () => {
  const run = createQueryRunner(store, 5_000)
  const { rows } = await run(
    statement(sql`
SELECT getSetting('readonly') AS readonly, getSetting('max_memory_usage') AS memory,
  getSetting('max_result_rows') AS result, getSetting('max_rows_to_group_by') AS groups`),
  )
  expect(rows).toEqual([
    { readonly: 2, memory: 1_073_741_824, result: 1_000_000, groups: 10_000_000 },
  ])
})

test.each([
  ['reads system tables', sql`SELECT * FROM system.users`, 'ACCESS_DENIED'],
  ['writes', sql`INSERT INTO salts (day) SELECT today()`, 'ACCESS_DENIED'],
  [
    'raises its limits',
    sql`SELECT 1 SETTINGS max_memory_usage = 0`,
    'SETTING_CONSTRAINT_VIOLATION',
  ],
  ['asks for hours', sql`SELECT 1 SETTINGS max_execution_time = 0`, 'SETTING_CONSTRAINT_VIOLATION'],
])('the reader never %s', async (_what, query, type) => {
  await expect(store.reader.query(statement(query))).rejects.toMatchObject({ type })
})

test.each([
  [
    'a table that reads a network',
    sql`CREATE TABLE t (a Int8) ENGINE = URL('http://127.0.0.1', CSV)`,
  ],
  ['a database', sql`CREATE DATABASE other`],
])('the writer never makes %s', async (_what, query) => {
  await expect(store.writer.execute(statement(query))).rejects.toMatchObject({
    type: 'ACCESS_DENIED',
  })
})
