/** `tallyhouse serve` while it starts: it answers probes, waits for ClickHouse, recovers, and stops when told to. */
import { readFile } from 'node:fs/promises'
import { Agent, get, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql, statement, type Sql } from '../../../src/clickhouse/sql.js'
import { runCli } from '../../support/cli/cli.js'
import { formatServerUrl } from '../../support/cli/commands.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { startServe, type ServeProcess } from '../../support/cli/serve.js'
import { startChaosProxy, type ChaosProxy } from '../../support/faults/chaos-proxy.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { checkRollups } from '../../support/store/loading.js'
import { createWorld } from '../../support/world/world.js'
import { aDataDir } from '../clickhouse/embedded/support.js'
import { until } from '../../support/until.js'

const MONTHS = ['01', '02']
const EVENTS = MONTHS.map((month) => ({ timestamp: `2026-${month}-10T10:00:00Z`, user_id: 'u' }))

let database: TestDatabase
let proxy: ChaosProxy
let project: StoredProject
beforeAll(async () => {
  database = await createDatabase()
  project = await createWorld(database.store, EVENTS)
  proxy = await startChaosProxy(database.endpoint.url)
})
afterAll(async () => {
  await proxy.stop()
  await database.drop()
})

const running: ServeProcess[] = []
afterEach(() => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL')
})

/** Starts a service on the database, behind the proxy. */
async function serve(intruder = '', dataDir?: string): Promise<ServeProcess> {
  const server = formatServerUrl({ ...database.endpoint, url: proxy.url })
  const env = { CLICKHOUSE_URL: server, DATA_DIR: dataDir ?? (await aDataDir()) }
  const service = startServe(env, [], intruder)
  running.push(service)
  return service
}

const write = (text: Sql): Promise<void> => database.store.admin.execute(statement(text))

/** Makes the rollups those of another version with the same views. The next start rebuilds each month. */
async function outdateRollups(): Promise<void> {
  await write(sql`INSERT INTO rollup_builds (definition) SELECT 'another'`)
  await write(sql`DELETE FROM rollup_progress WHERE step = 3`)
}

/** Makes them those of a version with other views: the next start waits before it replaces these. */
async function outdateViews(): Promise<void> {
  await outdateRollups()
  await write(sql`TRUNCATE TABLE rollup_progress`)
}

/** The reason that /readyz gives; `ready` once it answers 200. */
async function readReason(address: string): Promise<string> {
  const response = await fetch(`${address}/readyz`)
  const body = (await response.json()) as { error?: { code: string; message: string } }
  if (response.status === 200) return 'ready'
  expect([response.status, body.error!.code]).toEqual([503, 'SERVICE_UNAVAILABLE'])
  return /^The service is not ready: (.+)\.$/.exec(body.error!.message)![1]!
}

const hasReason = (address: string, reason: RegExp): Promise<number> =>
  until(async () => reason.test(await readReason(address)))

const stop = async ({ child, exit }: ServeProcess): Promise<number | null> => {
  child.kill('SIGTERM')
  return exit
}

describe('while it builds the rollups', () => {
  test('it serves: queries read the events, and later the rollups', async () => {
    await outdateViews()
    const dataDir = await aDataDir()
    const service = await serve('', dataDir)
    const address = await service.listening()
    expect(await readReason(address)).toBe('ready')
    // A command that changes the store does not wait for the rollups either.
    const env = { CLICKHOUSE_URL: formatServerUrl(database.endpoint), DATA_DIR: dataDir }
    const { stdout } = await runCli(['key', 'issue', '--project', project.id], env)
    const query = { date_range: ['2026-01-01', '2026-02-28'], metrics: ['users', 'pageviews'] }
    const answer = await fetch(`${address}/v1/analytics/query`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${stdout.trim()}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(query),
    })
    expect(await answer.json()).toMatchObject({ data: [{ metrics: { users: 1, pageviews: 2 } }] })
    expect(service.log()).not.toMatch(/the rollups are complete/)
    await service.logged(/the rollups are complete: queries read them again/)
    expect(service.log()).toMatch(/queries read the events instead/)
    const months = service
      .log()
      .matchAll(/rebuilt the rollups of (\d+); months left: (\d), about \d+ s/g)
    expect([...months].map(([, month, left]) => [month, left])).toEqual([
      ['202601', '1'],
      ['202602', '0'],
    ])
    expect(await stop(service)).toBe(0)
    expect(await checkRollups(database.store.writer, {})).toMatchObject({ months: 2, different: 0 })
  })

  test('a signal stops it, and the next start goes on', async () => {
    await outdateRollups()
    const building = await serve()
    await building.logged(/rebuilt the rollups of 202601/)
    expect(await stop(building)).toBe(0)
    expect(building.log()).not.toMatch(/rebuilt the rollups of 202602/)
    expect(await building.stderr).toBe('')

    const next = await serve()
    await next.logged(/rebuilt the rollups of 202602/)
    expect(next.log()).not.toMatch(/rebuilt the rollups of 202601/)
    expect(await stop(next)).toBe(0)
    expect(await checkRollups(database.store.writer, {})).toMatchObject({ months: 2, different: 0 })
  })

  test('ClickHouse may go away and come back', async () => {
    await outdateRollups()
    const service = await serve()
    await service.logged(/rebuilt the rollups of 202601/)
    proxy.fail({ kind: 'reject' })
    proxy.killAll()
    await service.logged(/the rollups could not be built: the build will be repeated/)
    proxy.fail({ kind: 'none' })
    await service.logged(/rebuilt the rollups of 202602/)
    await hasReason(await service.listening(), /^ready$/)
    expect(await stop(service)).toBe(0)
    expect(await checkRollups(database.store.writer, {})).toMatchObject({ months: 2, different: 0 })
  })

  test('a signal ends the wait before views are replaced', async () => {
    await outdateViews()
    const service = await serve()
    await service.listening()
    expect(await stop(service)).toBe(0)
    expect(service.log()).not.toMatch(/rebuilt the rollups/)
  })
})

describe('while ClickHouse is away', () => {
  beforeEach(() => proxy.fail({ kind: 'reject' }))
  afterEach(() => proxy.fail({ kind: 'none' }))

  test('it answers probes, refuses all else, and then serves on the same connections', async () => {
    const service = await serve()
    const address = await service.probed()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ports = new Set<number>()
    const ask = async (path: string): Promise<readonly [number, string]> => {
      const request = get(address + path, { agent })
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      ports.add(response.socket.localPort!)
      return [response.statusCode!, await text(response)]
    }
    await hasReason(address, /^it waits for ClickHouse$/)
    expect(await ask('/livez')).toEqual([200, '{"status":"alive"}'])
    expect((await ask('/readyz'))[0]).toBe(503)
    const refused = await fetch(`${address}/v1/events`, { method: 'POST', body: '[]' })
    expect({
      status: refused.status,
      retry: refused.headers.get('retry-after'),
      origin: refused.headers.get('access-control-allow-origin'),
      id: refused.headers.get('x-request-id'),
      body: await refused.json(),
    }).toEqual({
      status: 503,
      retry: '1',
      origin: '*',
      id: expect.any(String),
      body: {
        error: {
          code: 'SERVICE_UNAVAILABLE',
          message: 'The service is starting. Try again in a moment.',
          docs: '/docs/errors#service_unavailable',
        },
      },
    })
    for (const path of ['/', '/docs', '/openapi.json', '/v1/project', '/nothing']) {
      expect((await ask(path))[0]).toBe(503)
    }
    proxy.fail({ kind: 'none' })
    await until(async () => (await ask('/readyz'))[0] === 200)
    expect((await ask('/v1/project'))[0]).toBe(401)
    expect((await ask('/nothing'))[0]).toBe(404)
    expect(ports.size).toBe(1)
    agent.destroy()
    expect(await stop(service)).toBe(0)
  })

  test('it waits, says so, and starts when ClickHouse is there', async () => {
    const service = await serve()
    const address = await service.probed()
    await hasReason(address, /^it waits for ClickHouse$/)
    expect((await fetch(`${address}/livez`)).status).toBe(200)
    expect(service.log()).toMatch(/ClickHouse does not respond at \S+: retrying for 300 s/)
    proxy.fail({ kind: 'none' })
    await service.listening()
    expect(await readReason(address)).toBe('ready')
    expect(await stop(service)).toBe(0)
  })

  test('a signal ends the wait', async () => {
    const service = await serve()
    await hasReason(await service.probed(), /^it waits for ClickHouse$/)
    expect(await stop(service)).toBe(0)
    expect(await service.stderr).toBe('')
  })

  test('it gives up after five minutes, with one line', async () => {
    // Time runs a hundred times as fast for it.
    const service = await serve(
      'const { now } = performance; performance.now = () => now.call(performance) * 100',
    )
    expect(await service.exit).toBe(1)
    expect(await service.stderr).toMatch(/^tallyhouse: ClickHouse does not respond: .+\n$/)
  })
})

/** Kills the engine of a service, as soon as it has one. */
async function killEngine({ child }: ServeProcess): Promise<void> {
  const file = `/proc/${child.pid!}/task/${child.pid!}/children`
  let engine = 0
  await until(async () => (engine = Number(await readFile(file, 'utf8'))) > 0)
  process.kill(engine, 'SIGKILL')
}

describe('an engine that is killed while the service starts is restarted:', () => {
  test.each([
    ['before it is ready, and as soon as it is', [/"probes"/, 100, /engine started/, 0]],
    ['while its tables are created', [/engine started/, 150]],
    ['later', [/engine started/, 600]],
  ] as const)('%s', async (_when, [pattern, pauseMs, next, nextPauseMs = 0]) => {
    const service = startServe({ DATA_DIR: await aDataDir() })
    running.push(service)
    await service.logged(pattern)
    await sleep(pauseMs)
    await killEngine(service)
    if (next !== undefined) {
      await service.logged(next)
      await sleep(nextPauseMs)
      await killEngine(service)
    }
    await hasReason(await service.listening(), /^ready$/)
    expect(await stop(service)).toBe(0)
    expect(await service.stderr).toBe('')
  })
})
