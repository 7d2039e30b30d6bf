/** `tallyhouse serve --no-migrate` as a process, on a server, with accounts that may do no more than they need. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { identifier, sql, statement, string, type Sql } from '../../../src/clickhouse/sql.js'
import { formatServerUrl } from '../../support/cli/commands.js'
import { startServe, type ServeProcess } from '../../support/cli/serve.js'
import { startServer, SUPERVISOR, type Server } from '../../support/engine/server.js'
import { select } from '../../support/store/facts.js'
import { newProject } from '../../support/world/world.js'
import { aDataDir } from '../clickhouse/embedded/support.js'
import { until } from '../../support/until.js'

let server: Server
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const running: ServeProcess[] = []
afterEach(() => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL')
})

/** Starts a service as docker-compose.yml does: its account in CLICKHOUSE_URL may end queries, and no more. */
async function serve(): Promise<ServeProcess> {
  const { endpoint } = server
  const { writer, reader } = endpoint.accounts
  const supervised = { ...endpoint, accounts: { ...endpoint.accounts, admin: SUPERVISOR } }
  const service = startServe(
    {
      CLICKHOUSE_URL: formatServerUrl(supervised),
      CLICKHOUSE_WRITER_USER: writer.username,
      CLICKHOUSE_WRITER_PASSWORD: writer.password,
      CLICKHOUSE_READER_USER: reader.username,
      CLICKHOUSE_READER_PASSWORD: reader.password,
      DATA_DIR: await aDataDir(),
    },
    ['--no-migrate'],
  )
  running.push(service)
  return service
}

const write = (text: Sql): Promise<void> => server.store.admin.execute(statement(text))

/** Starts a service that must refuse to; returns its exit code and what it said. */
async function refuse(): Promise<readonly [number | null, string]> {
  const { exit, stderr } = await serve()
  return [await exit, await stderr]
}

test('it serves, collects and loads', async () => {
  const { id, token } = await newProject(server.store)
  const service = await serve()
  const address = await service.listening()
  expect((await fetch(`${address}/readyz`)).status).toBe(200)
  const sent = await fetch(`${address}/v1/events`, {
    method: 'POST',
    body: JSON.stringify({ token, name: 'signup', user_id: 'u' }),
  })
  expect(sent.status).toBe(202)
  const count = sql`SELECT count() AS n FROM events WHERE project_id = ${string(id)}`
  await until(async () => (await select<{ n: number }>(server.store, count))[0]!.n === 1)
  service.child.kill('SIGTERM')
  expect(await service.exit).toBe(0)
  expect(await service.stderr).toBe('')
  // 50 is the level of errors.
  const levels = [...service.log().matchAll(/"level":(\d+)/g)].map(([, level]) => Number(level))
  expect(Math.max(...levels)).toBeLessThan(50)
})

test('it refuses a database that is older than version 0.1.0', async () => {
  await write(sql`CREATE TABLE kept ENGINE = Memory AS SELECT * FROM migrations`)
  await write(sql`TRUNCATE TABLE migrations`)
  await write(sql`INSERT INTO migrations (number, name) SELECT 26, '0026_moves.sql'`)
  expect(await refuse()).toEqual([
    1,
    'tallyhouse: migration 0026_moves.sql: it is the last one of this database, which is older than version 0.1.0: start 0.1.0 on it first, then this version\n',
  ])
  await write(sql`TRUNCATE TABLE migrations`)
  await write(sql`INSERT INTO migrations SELECT * FROM kept`)
  await write(sql`DROP TABLE kept`)
})

test('it refuses rollups of another version', async () => {
  await write(sql`INSERT INTO rollup_builds (definition) SELECT 'another'`)
  expect(await refuse()).toEqual([
    1,
    'tallyhouse: the rollups are out of date: run "tallyhouse migrate"\n',
  ])
})

test('it refuses a server on which nothing was set up', async () => {
  await write(sql`DROP DATABASE ${identifier(server.endpoint.database)} SYNC`)
  expect(await refuse()).toEqual([
    1,
    'tallyhouse: the database is not set up yet: run "tallyhouse migrate"\n',
  ])
})
