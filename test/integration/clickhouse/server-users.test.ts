/** The accounts in clickhouse/config/users.xml, for a ClickHouse server, have the rights that the service needs and no others. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { listDefinitions } from '../../../src/projects/definitions.js'
import { listPublicKeys } from '../../../src/auth/public-keys.js'
import { requireUpToDate } from '../../../src/bootstrap/prepare-store.js'
import { connect, type Connection } from '../../../src/clickhouse/connection.js'
import { READER_TABLES } from '../../../src/clickhouse/embedded/users.js'
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import { migrate } from '../../../src/clickhouse/migrations/migrate.js'
import { requireFitServer } from '../../../src/clickhouse/checks/server-checks.js'
import { createQueryRunner } from '../../../src/clickhouse/run.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { countWaitingRows } from '../../../src/ingest/loader/stream.js'
import { readRollupState } from '../../../src/rollups/progress.js'
import { startServer, SUPERVISOR, type Server } from '../../support/engine/server.js'
import { until } from '../../support/until.js'
import { createWorld, runQuery } from '../../support/world/world.js'

let server: Server
let store: Store

beforeAll(async () => {
  server = await startServer()
  store = server.store
})
afterAll(() => server.stop())

test('they suffice to migrate, load and query', async () => {
  const project = await createWorld(store, [{ timestamp: '2026-06-15T10:00:00Z', user_id: 'u' }])
  expect((await runQuery(store, project, { date_range: 'today' })).data).toEqual([
    { group: {}, metrics: { users: 1, pageviews: 1, events: 0 } },
  ])
})

test('the limits of the account hold, and those that it lacks are sent', async () => {
  const run = createQueryRunner(store, 60_000)
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
  ['reads salts', sql`SELECT * FROM salts`, 'ACCESS_DENIED'],
  ['reads the text of waiting events', sql`SELECT line FROM inbox`, 'ACCESS_DENIED'],
  ['reads rejected rows', sql`SELECT * FROM rejections`, 'ACCESS_DENIED'],
  ['reads the log of loads', sql`SELECT * FROM loads`, 'ACCESS_DENIED'],
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

test('the reader may do what a service asks of it', async () => {
  await requireUpToDate(store, 'read-rollups')
  expect(await readRollupState(store.lookups)).toBe('current')
  expect(await countWaitingRows(store.lookups)).toEqual({ rows: 0, oldestMs: 0, oldestAt: 0 })
  expect(await listPublicKeys(store.lookups)).toEqual([])
  expect(await listDefinitions(store.lookups, 'shop')).toEqual([])
})

test('users.xml and the embedded engine grant the reader the same tables', async () => {
  const { rows } = await store.reader.query<Record<string, string>>(statement(sql`SHOW GRANTS`))
  const granted = rows.flatMap((row) => Object.values(row)).join('\n')
  const tables = [...granted.matchAll(/^GRANT SELECT ON tallyhouse\.(\w+) TO reader$/gm)].map(
    ([, table]) => table,
  )
  expect(tables.sort()).toEqual([...READER_TABLES].sort())
})

describe('the supervisor, with which a service runs that does not migrate,', () => {
  let supervisor: Connection
  let supervised: Endpoint
  beforeAll(() => {
    const { endpoint } = server
    supervised = { ...endpoint, accounts: { ...endpoint.accounts, admin: SUPERVISOR } }
    supervisor = connect(supervised, 'admin')
  })
  afterAll(() => supervisor.close())

  test('finds nothing to migrate, and no fault in the server', async () => {
    expect(await migrate(supervised)).toEqual([])
    expect(await requireFitServer(supervised)).toEqual([])
  })

  test('ends a query of the reader', async () => {
    const ended = new AbortController()
    const own = connectStore(supervised)
    const slow = own.reader.query(
      statement(sql`SELECT count() FROM numbers(1e12) WHERE number % 7 = 3`),
      {
        signal: ended.signal,
      },
    )
    const count = async () =>
      (
        await store.admin.query<{ running: number }>(
          statement(
            sql`SELECT count() AS running FROM system.processes WHERE user = 'reader' AND query LIKE '%1e12%'`,
          ),
        )
      ).rows[0]!.running
    await until(async () => (await count()) === 1)
    ended.abort()
    await expect(slow).rejects.toThrow('the query was cancelled')
    await until(async () => (await count()) === 0)
    await own.close()
  })

  test.each([
    ['reads events', sql`SELECT * FROM events`],
    ['reads the keys', sql`SELECT * FROM api_keys`],
    ['writes', sql`INSERT INTO events SELECT * FROM events`],
    ['makes a table', sql`CREATE TABLE t (a Int8) ENGINE = MergeTree ORDER BY a`],
    ['drops a table', sql`DROP TABLE events`],
    ['makes a user', sql`CREATE USER other`],
  ])('never %s', async (_what, query) => {
    await expect(supervisor.execute(statement(query))).rejects.toMatchObject({
      type: 'ACCESS_DENIED',
    })
  })
})
