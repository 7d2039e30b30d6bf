/** The metrics of a service: what they count, and that neither clients nor a hanging store can harm them. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { once } from 'node:events'
import net from 'node:net'
import { startMetrics, type Metrics } from '../../../src/bootstrap/metrics.js'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { readConfig } from '../../../src/config/config.js'
import { createInstruments } from '../../../src/telemetry/instruments.js'
import { createLogger } from '../../../src/lib/log.js'
import { readVersion } from '../../../src/lib/version.js'
import { createProject, listProjects } from '../../../src/projects/store.js'
import { createLoaderMonitor } from '../../../src/ingest/loader/loader-state.js'
import { countWaitingRows } from '../../../src/ingest/loader/stream.js'
import { startStreamingLoader } from '../../../src/ingest/loader/streaming-loader.js'
import { createLoaderContext } from '../../../src/bootstrap/open-store.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { until } from '../../support/until.js'
import { startTestService } from '../../support/world/service.js'

const NOW = new Date('2026-03-10T12:00:00.000Z')

let database: TestDatabase
let keys: TestKeys
let metrics: Metrics
let store: Store
let service: RunningService
let key: string
beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
  await createProject(database.store, { id: 'shop', name: 'Shop', domain: 'shop.example' }, NOW)
  key = await keys.issue('shop', NOW)
  const config = readConfig({ DATA_DIR: keys.dataDir, PORT: '0', METRICS_PORT: '0' })
  const logger = createLogger('silent')
  metrics = await startMetrics({ config, logger, output: { countDropped: () => 7 } })
  const { instruments } = metrics
  store = connectStore(database.endpoint, instruments!.store('home'))
  service = await startTestService({ store, now: () => NOW, instruments })
})
afterAll(async () => {
  await service.stop()
  await store.close()
  await metrics.stop()
  await database.drop()
  await keys.remove()
})

/** Reads all samples: their values by name and labels. */
async function scrape(): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(metrics.address!)
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const lines = (await response.text()).split('\n').filter((line) => /^[a-z]/.test(line))
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ')
      return [line.slice(0, end), Number(line.slice(end + 1))]
    }),
  )
}

/** Returns by how much the samples grew while `work` ran, of the samples whose names match. */
async function measure(
  work: () => Promise<unknown>,
  names: RegExp,
): Promise<Readonly<Record<string, number>>> {
  const before = await scrape()
  await work()
  const grown = [...(await scrape())]
    .map(([name, value]) => [name, value - (before.get(name) ?? 0)] as const)
    .filter(([name, growth]) => names.test(name) && growth !== 0)
  return Object.fromEntries(grown)
}

const get = async (path: string, init: RequestInit = {}): Promise<number> => {
  const response = await fetch(service.address + path, { redirect: 'manual', ...init })
  await response.arrayBuffer()
  return response.status
}

test.each<{ why: string; path: string; init?: () => RequestInit; want: object }>([
  {
    why: 'a probe',
    path: '/livez',
    want: { 'tallyhouse_http_requests_total{method="GET",route="/livez",status="200"}': 1 },
  },
  {
    why: 'a valid key',
    path: '/v1/project',
    init: () => ({ headers: { Authorization: `Bearer ${key}` } }),
    want: {
      'tallyhouse_http_requests_total{method="GET",route="/v1/project",status="200"}': 1,
      'tallyhouse_credential_checks_total{kind="key",outcome="valid"}': 1,
    },
  },
  {
    why: 'an invalid key',
    path: '/v1/project',
    init: () => ({ headers: { Authorization: 'Bearer no' } }),
    want: {
      'tallyhouse_http_requests_total{method="GET",route="/v1/project",status="401"}': 1,
      'tallyhouse_http_errors_total{code="UNAUTHORIZED"}': 1,
      'tallyhouse_credential_checks_total{kind="key",outcome="invalid"}': 1,
    },
  },
  {
    why: 'an unknown token',
    path: '/v1/events',
    init: () => ({ method: 'POST', body: '{"token":"unknown"}' }),
    want: {
      'tallyhouse_http_requests_total{method="POST",route="/v1/events",status="401"}': 1,
      'tallyhouse_http_errors_total{code="UNAUTHORIZED"}': 1,
      'tallyhouse_credential_checks_total{kind="token",outcome="invalid"}': 1,
    },
  },
])('$why is counted', async ({ path, init, want }) => {
  expect(
    await measure(() => get(path, init?.()), /^tallyhouse_(http_.*|credential.*)_total/),
  ).toEqual(want)
})

test('made-up paths and methods share one series', async () => {
  const grown = await measure(async () => {
    for (let i = 0; i < 20; i++)
      await get(`/made/up/${i}`, { method: i < 10 ? 'GET' : i < 15 ? 'PATCH' : 'DELETE' })
  }, /^tallyhouse_http_requests_total/)
  expect(grown).toEqual({
    'tallyhouse_http_requests_total{method="GET",route="other",status="404"}': 10,
    'tallyhouse_http_requests_total{method="other",route="other",status="404"}': 10,
  })
})

test('a request that is not HTTP is counted by its error', async () => {
  const grown = await measure(async () => {
    const socket = net.connect(Number(new URL(service.address).port), '127.0.0.1')
    socket.end('no HTTP\r\n\r\n').resume()
    await once(socket, 'close')
  }, /^tallyhouse_http_errors_total/)
  expect(grown).toEqual({ 'tallyhouse_http_errors_total{code="VALIDATION_ERROR"}': 1 })
})

test('statements are counted by connection, failures by code', async () => {
  const grown = await measure(async () => {
    await store.writer.query(statement(sql`SELECT 1`))
    await store.writer.query(statement(sql`SELECT nothing`)).catch(() => undefined)
    await store.writer.execute(statement(sql`DROP TABLE nothing`)).catch(() => undefined)
  }, /^tallyhouse_store_.*(_count|_total)\{.*writer/)
  expect(grown).toEqual({
    'tallyhouse_store_statement_duration_seconds_count{connection="writer"}': 3,
    'tallyhouse_store_errors_total{connection="writer",code="UNKNOWN_IDENTIFIER"}': 1,
    'tallyhouse_store_errors_total{connection="writer",code="UNKNOWN_TABLE"}': 1,
  })
})

test('a load is counted by its rows, and the inbox is seen', async () => {
  const monitor = createLoaderMonitor()
  const load = metrics.instruments!.load('home')
  load.watchInbox(monitor.read)
  const held: boolean[] = []
  const [project] = await listProjects(database.store.reader)
  const body = JSON.stringify({
    token: project!.token,
    events: [{ user_id: 'u' }, { user_id: 'v' }],
  })
  const grown = await measure(async () => {
    expect(await get('/v1/events', { method: 'POST', body })).toBe(202)
    monitor.reportWaiting(await countWaitingRows(store.lookups))
    expect((await scrape()).get('tallyhouse_inbox_rows')).toBe(2)
    const context = createLoaderContext(30)
    const logger = createLogger('silent')
    const onLease = (isHeld: boolean): void => {
      load.onLease(isHeld)
      held.push(isHeld)
    }
    const observer = { ...load, onLease }
    const loader = startStreamingLoader({ store, context, logger, monitor, observer })
    await until(() => monitor.read().waitingRows === 0)
    await loader.stop()
  }, /^tallyhouse_(load_(rows|fail|bytes_(sum|count)|duration_seconds_count)|inbox)/)
  expect(grown).toEqual({
    'tallyhouse_load_rows_total{outcome="received"}': 2,
    'tallyhouse_load_rows_total{outcome="events"}': 2,
    tallyhouse_load_duration_seconds_count: 1,
    tallyhouse_load_bytes_count: 1,
    tallyhouse_load_bytes_sum: expect.any(Number),
  })
  expect(held.slice(0, 2)).toEqual([true, false])
})

test('a store that hangs delays no scrape', async () => {
  const hanging = net.createServer(() => undefined).listen(0, '127.0.0.1')
  await once(hanging, 'listening')
  const { port } = hanging.address() as net.AddressInfo
  const url = `http://127.0.0.1:${port}`
  const other = connectStore({ ...database.endpoint, url }, metrics.instruments!.store('home'))
  const hung = other.admin.query(statement(sql`SELECT 1`)).catch(() => undefined)
  const samples = await scrape()
  expect(samples.get('tallyhouse_store_statements_in_flight{connection="admin"}')).toBe(1)
  await other.close()
  hanging.close()
  await hung
})

test('a store that is away opens the breaker, which is seen', async () => {
  const observer = metrics.instruments!.store('home')
  const nowhere = { ...database.endpoint, url: 'http://127.0.0.1:1' }
  const opened = new Promise<boolean>((resolve) => {
    const other = connectStore(nowhere, observer, undefined, (isOpen) => {
      observer.onBreaker(isOpen)
      resolve(isOpen)
      void other.close()
    })
    other.reader.query(statement(sql`SELECT 1`)).catch(() => undefined)
  })
  const name = 'tallyhouse_store_breaker_open'
  expect((await scrape()).get(name)).toBe(0)
  expect(await opened).toBe(true)
  expect((await scrape()).get(name)).toBe(1)
})

test('the process is described', async () => {
  const samples = await scrape()
  const node = process.versions.node
  expect(samples.get(`tallyhouse_build_info{version="${readVersion()}",node="${node}"}`)).toBe(1)
  expect(samples.get('tallyhouse_log_lines_dropped_total')).toBe(7)
  expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(50e6)
  expect(samples.get('process_cpu_seconds_total')).toBeGreaterThan(0)
  expect(
    samples.get('tallyhouse_event_loop_delay_seconds{quantile="0.99"}'),
  ).toBeGreaterThanOrEqual(0)
})

test.each([
  ['GET', '/', 404],
  ['GET', '/v1/project', 404],
  ['POST', '/metrics', 405],
  ['GET', '/metrics?x=1', 200],
  ['HEAD', '/metrics', 200],
])('the port of the metrics: %s %s is %i', async (method, path, status) => {
  const response = await fetch(new URL(path, metrics.address), { method })
  expect(response.status).toBe(status)
})

test('the port of the service has no metrics', async () => {
  expect(await get('/metrics')).toBe(404)
})

test('no value of the environment and no id is in the text', async () => {
  const text = await (await fetch(metrics.address!)).text()
  for (const secret of [
    key,
    database.endpoint.accounts.admin.password,
    'shop',
    database.endpoint.database,
  ]) {
    expect(text).not.toContain(secret)
  }
})

test('the shards of a cluster are told apart by a label', async () => {
  const options = { version: '1', countDroppedLines: () => 0, isCluster: true }
  const instruments = createInstruments(options)
  for (const [i, shard] of ['shard1', 'shard2'].entries()) {
    instruments.store(shard).onBreaker(i === 1)
    instruments.store(shard).watchDisk(() => 100 + i)
    if (i === 1) instruments.store(shard).onAlone(7)
    instruments.store(shard).onStatementStart('reader')
    instruments.load(shard).onLease(true)
    instruments.load(shard).watchInbox(() => ({ waitingRows: i, oldestWaitingMs: 2_000 * i }))
  }
  const text = await instruments.write()
  instruments.close()
  expect(text.split('\n').filter((line) => line.includes('shard="'))).toEqual([
    'tallyhouse_store_statements_in_flight{connection="reader",shard="shard1"} 1',
    'tallyhouse_store_statements_in_flight{connection="reader",shard="shard2"} 1',
    'tallyhouse_store_breaker_open{shard="shard1"} 0',
    'tallyhouse_store_breaker_open{shard="shard2"} 1',
    'tallyhouse_loader_lease_held{shard="shard1"} 1',
    'tallyhouse_loader_lease_held{shard="shard2"} 1',
    'tallyhouse_store_free_bytes{shard="shard1"} 100',
    'tallyhouse_store_free_bytes{shard="shard2"} 101',
    'tallyhouse_inbox_rows{shard="shard1"} 0',
    'tallyhouse_inbox_rows{shard="shard2"} 1',
    'tallyhouse_inbox_oldest_age_seconds{shard="shard1"} 0',
    'tallyhouse_inbox_oldest_age_seconds{shard="shard2"} 2',
    'tallyhouse_store_on_one_disk_seconds{shard="shard2"} 7',
  ])
})
