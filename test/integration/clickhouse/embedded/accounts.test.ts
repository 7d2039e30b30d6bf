/** The rights of the accounts of the embedded engine. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ClickHouseError, createClient, type ClickHouseClient } from '@clickhouse/client'
import { Readable } from 'node:stream'
import type { Account } from '../../../../src/clickhouse/endpoint.js'
import { getTestEndpoint } from '../../../support/engine/engine.js'
import { until } from '../../../support/until.js'

const endpoint = getTestEndpoint()
const createAccountClient = (account: Account): ClickHouseClient =>
  createClient({
    url: endpoint.url,
    database: endpoint.database,
    ...endpoint.accounts[account],
    log: { level: 127 },
  })
const clients = {
  admin: createAccountClient('admin'),
  writer: createAccountClient('writer'),
  reader: createAccountClient('reader'),
}

/** Runs a statement and returns the type of its error; `allowed` if it succeeds. */
async function outcome(account: Account, query: string, settings = {}): Promise<string> {
  try {
    const answer = await clients[account].exec({ query, clickhouse_settings: settings })
    answer.stream.resume()
    return 'allowed'
  } catch (error) {
    if (error instanceof ClickHouseError) return error.type ?? error.code
    throw error
  }
}

beforeAll(async () => {
  const columns = '(day Date, n UInt64, line String)'
  for (const table of ['accounts_a', 'accounts_b']) {
    await clients.writer.command({
      query: `CREATE TABLE ${table} ${columns} ENGINE = MergeTree PARTITION BY day ORDER BY n`,
    })
  }
  await clients.admin.command({ query: 'CREATE DATABASE accounts_other' })
  await clients.admin.command({ query: 'CREATE TABLE accounts_other.t (n UInt8) ENGINE = Memory' })
})

afterAll(async () => {
  await clients.admin.command({ query: 'DROP DATABASE accounts_other' })
  for (const table of ['accounts_a', 'accounts_b']) {
    await clients.admin.command({ query: `DROP TABLE ${table}` })
  }
  await Promise.all(Object.values(clients).map((client) => client.close()))
})

test('the locked account cannot log in', async () => {
  const anyone = createClient({ url: endpoint.url, log: { level: 127 } })
  await expect(anyone.query({ query: 'SELECT 1' })).rejects.toMatchObject({
    type: 'USER_SESSION_LIMIT_EXCEEDED',
  })
  await anyone.close()
})

test.each(['admin', 'writer', 'reader'] as const)('%s needs its password', async (username) => {
  const thief = createClient({ url: endpoint.url, username, password: 'x', log: { level: 127 } })
  await expect(thief.query({ query: 'SELECT 1' })).rejects.toMatchObject({
    type: 'AUTHENTICATION_FAILED',
  })
  await thief.close()
})

describe('the writer', () => {
  test('streams lines through input()', async () => {
    const { stream } = await clients.writer.exec({
      query: `INSERT INTO accounts_a SELECT '2026-01-01', length(line), line
              FROM input('line String') FORMAT LineAsString`,
      values: Readable.from(['one\nthree\n'], { objectMode: false }),
    })
    stream.resume()
    const answer = await clients.writer.query({
      query: 'SELECT line FROM accounts_a ORDER BY n',
      format: 'JSONCompactEachRow',
    })
    expect(await answer.json()).toEqual([['one'], ['three']])
  })

  test.each([
    "ALTER TABLE accounts_b ATTACH PARTITION '2026-01-01' FROM accounts_a",
    "ALTER TABLE accounts_b REPLACE PARTITION '2026-01-01' FROM accounts_a",
    "ALTER TABLE accounts_b MOVE PARTITION '2026-01-01' TO TABLE accounts_a",
    "ALTER TABLE accounts_a DROP PARTITION '2026-01-01'",
    "ALTER TABLE accounts_a UPDATE line = '' WHERE n = 1",
    'ALTER TABLE accounts_a DELETE WHERE n = 1',
    'DELETE FROM accounts_a WHERE n = 1',
    'OPTIMIZE TABLE accounts_a FINAL',
    'ALTER TABLE accounts_a ADD COLUMN extra UInt8',
    'ALTER TABLE accounts_a DROP COLUMN extra',
    'CREATE TABLE accounts_c (n AggregateFunction(uniq, UInt64)) ENGINE = AggregatingMergeTree ORDER BY ()',
    'CREATE MATERIALIZED VIEW accounts_mv TO accounts_c AS SELECT uniqState(n) AS n FROM accounts_a',
    'CREATE VIEW accounts_v AS SELECT n FROM accounts_a WHERE n = {n:UInt64}',
    'EXCHANGE TABLES accounts_a AND accounts_b',
    'EXCHANGE TABLES accounts_b AND accounts_a',
    'RENAME TABLE accounts_c TO accounts_d',
    'DROP VIEW accounts_mv',
    'DROP VIEW accounts_v',
    'DROP TABLE accounts_d',
    'CREATE TABLE accounts_e (n UInt8) ENGINE = Null',
    'DROP TABLE accounts_e',
    'TRUNCATE TABLE accounts_a',
  ])('may: %s', async (statement) => {
    expect(await outcome('writer', statement)).toBe('allowed')
  })

  test.each([
    'SELECT * FROM accounts_other.t',
    'INSERT INTO accounts_other.t VALUES (1)',
    'DROP TABLE accounts_other.t',
    'CREATE DATABASE accounts_mine',
    'DROP DATABASE tallyhouse',
    'CREATE TABLE default.t (n UInt8) ENGINE = Memory',
    "CREATE TABLE f (line String) ENGINE = File(LineAsString, '/etc/hostname')",
    "CREATE TABLE f (line String) ENGINE = URL('http://127.0.0.1:9/')",
    "SELECT * FROM file('/etc/hostname', LineAsString)",
    "SELECT * FROM url('http://127.0.0.1:9/', LineAsString)",
    "SELECT * FROM remote('127.0.0.1', system.one)",
    "INSERT INTO FUNCTION file('/tmp/never', LineAsString) SELECT ''",
    'SELECT * FROM system.users',
    'SELECT * FROM system.processes',
    'KILL QUERY WHERE 1',
    'GRANT SELECT ON *.* TO writer',
    'SYSTEM SHUTDOWN',
  ])('may not: %s', async (statement) => {
    expect(await outcome('writer', statement)).toBe('ACCESS_DENIED')
  })
})

describe('the reader', () => {
  test.each([
    "INSERT INTO accounts_a VALUES ('2026-01-01', 1, '')",
    'CREATE TABLE mine (n UInt8) ENGINE = Memory',
    'CREATE VIEW mine AS SELECT 1',
    'CREATE TEMPORARY TABLE mine (n UInt8)',
    'DROP TABLE accounts_a',
    'TRUNCATE TABLE accounts_a',
    'ALTER TABLE accounts_a DELETE WHERE 1',
    'DELETE FROM accounts_a WHERE 1',
    'OPTIMIZE TABLE accounts_a',
    'KILL QUERY WHERE 1',
    'SYSTEM SHUTDOWN',
    'SELECT * FROM accounts_other.t',
    "SELECT * FROM file('/etc/hostname', LineAsString)",
    "SELECT * FROM url('http://127.0.0.1:9/', LineAsString)",
    'SELECT * FROM default.`/etc/hostname`',
    ...['users', 'grants', 'processes', 'parts', 'server_settings', 'disks', 'stack_trace'].map(
      (table) => `SELECT * FROM system.${table}`,
    ),
    'SELECT * FROM information_schema.tables',
  ])('may not: %s', async (statement) => {
    expect(await outcome('reader', statement)).toBe('ACCESS_DENIED')
  })

  test('sees only its own database and tables', async () => {
    const answer = await clients.reader.query({
      query:
        'SELECT DISTINCT database FROM system.tables UNION DISTINCT SELECT name FROM system.databases',
      format: 'JSONCompactEachRow',
    })
    expect(new Set((await answer.json()).flat())).toEqual(new Set([endpoint.database]))
  })

  test.each([
    { max_memory_usage: '0' },
    { max_memory_usage: '1000000000000000' },
    { max_memory_usage_for_user: '0' },
    { max_untracked_memory: '1000000000000' },
    { max_execution_time: 0 },
    { max_execution_time: 3_600 },
    { max_result_rows: '0' },
    { max_result_rows: '1000001' },
    { max_concurrent_queries_for_user: '0' },
    { result_overflow_mode: 'break' },
    { timeout_overflow_mode: 'break' },
    { profile: 'admin', max_memory_usage: '0' },
    { log_queries_min_type: 'QUERY_START' },
  ])('cannot set %j', async (settings) => {
    expect(await outcome('reader', 'SELECT 1', settings)).toBe('SETTING_CONSTRAINT_VIOLATION')
  })

  test('cannot leave its read-only mode', async () => {
    expect(await outcome('reader', 'SELECT 1', { readonly: '0' })).toBe('READONLY')
  })

  test('is held to the limits of a query', async () => {
    const slow = 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)'
    expect(await outcome('reader', slow, { max_execution_time: 0.1 })).toBe('TIMEOUT_EXCEEDED')
    const large = 'SELECT number FROM system.one ARRAY JOIN range(1000) AS number'
    expect(await outcome('reader', large, { max_result_rows: '10' })).toBe('TOO_MANY_ROWS_OR_BYTES')
  })
})

test('the admin can stop queries of other accounts', async () => {
  const query_id = 'accounts-test-slow-query'
  const slow = clients.reader
    .query({ query: 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)', query_id })
    .catch((error: unknown) => error)
  const isRunning = `SELECT 1 FROM system.processes WHERE query_id = '${query_id}'`
  await until(async () => {
    const running = await clients.admin.query({ query: isRunning })
    return (await running.json()).data.length > 0
  })
  await clients.admin.command({ query: `KILL QUERY WHERE query_id = '${query_id}' SYNC` })
  expect(await slow).toMatchObject({ type: 'QUERY_WAS_CANCELLED' })
})
