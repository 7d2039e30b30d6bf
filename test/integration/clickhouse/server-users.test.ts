/** The accounts of a ClickHouse server, as clickhouse/config/users.xml has them: all the service needs, no more. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { writeConfiguration } from '../../../src/clickhouse/embedded/configuration.js'
import { launch, type EngineProcess } from '../../../src/clickhouse/embedded/engine-process.js'
import { homeOf, openLock } from '../../../src/clickhouse/embedded/home.js'
import { newEndpoint } from '../../../src/clickhouse/embedded/new-endpoint.js'
import type { Account, Endpoint } from '../../../src/clickhouse/endpoint.js'
import { migrate } from '../../../src/clickhouse/migrate.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import { openStore, type Store } from '../../../src/clickhouse/store.js'
import { packagePath } from '../../../src/paths.js'
import { createWorld, ask } from '../../support/world.js'

/** The account that the embedded engine itself logs in with, instead of the one a server's image brings. */
const BOOT = `<default><no_password/><networks><ip>127.0.0.1</ip></networks><quota>default</quota>
  <grants><query>GRANT SYSTEM LISTEN ON *.*</query></grants></default>`

let dataDir: string
let engine: EngineProcess
let store: Store
let endpoint: Endpoint
const stop = new AbortController()

/** The file with the passwords that a server would find in its environment. */
async function usersFile(): Promise<string> {
  const text = await readFile(packagePath('clickhouse/config/users.xml'), 'utf8')
  return text
    .replace('<default remove="remove"/>', BOOT)
    .replace('<users>', '<quotas><default/></quotas><users>')
    .replaceAll(/<password from_env="CLICKHOUSE_(\w+)_PASSWORD"\/>/g, (_match, name: string) => {
      const { password } = endpoint.accounts[name.toLowerCase() as Account]
      return `<password>${password}</password>`
    })
}

beforeAll(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-users-'))
  const home = homeOf(dataDir)
  await mkdir(home, { recursive: true })
  endpoint = await newEndpoint()
  const lock = await openLock(home)
  const holder = { pid: process.pid, purpose: 'jest' }
  engine = await launch(
    { home, port: Number(new URL(endpoint.url).port), holder },
    {
      lock: lock.fd,
      stop: stop.signal,
      onLocked: async () => {
        const limits = { serverMemory: 4 * 1024 ** 3, queryMemory: 1024 ** 3 }
        await writeConfiguration(home, endpoint, limits)
        await writeFile(path.join(home, 'users.xml'), await usersFile())
      },
    },
  )
  await lock.close()
  await migrate(endpoint)
  store = openStore(endpoint)
})
afterAll(async () => {
  await store.close()
  stop.abort()
  await engine.ended
  await rm(dataDir, { recursive: true, force: true })
})

test('they suffice to migrate, to load and to ask', async () => {
  const project = await createWorld(store, [{ timestamp: '2026-06-15T10:00:00Z', user_id: 'u' }])
  expect((await ask(store, project, { date_range: 'today' })).data).toEqual([
    { group: {}, metrics: { users: 1, pageviews: 1, events: 0 } },
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
