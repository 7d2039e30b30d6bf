/** The loader that runs beside a service: it loads what is inserted, whatever else goes on. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { withLease } from '../../../../src/clickhouse/lease/lease.js'
import { createGeneration, listGenerations } from '../../../../src/clickhouse/lease/lease-store.js'
import { migrate } from '../../../../src/clickhouse/migrations/migrate.js'
import { connectStore, type Store } from '../../../../src/clickhouse/store.js'
import { sql, string } from '../../../../src/clickhouse/sql.js'
import { type StreamingLoader } from '../../../../src/ingest/loader/streaming-loader.js'
import type { StoredProject } from '../../../../src/projects/project.js'
import { createDatabase, type TestDatabase } from '../../../support/store/database.js'
import { factsAgree, leftovers, select } from '../../../support/store/facts.js'
import { importLines, toLines } from '../../../support/sources/sources.js'
import { feed, loadFed } from '../../../support/store/stream.js'
import { newProject } from '../../../support/world/world.js'
import { aDataDir, anEngine, gone, until } from '../../clickhouse/embedded/support.js'
import { ensureRollups, startStreamingLoader } from '../../../support/store/loading.js'

const SOON = 30_000
const INTERVALS = { loadMs: 50, pollMs: 20, retryMs: 100 }

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

const loaders: StreamingLoader[] = []

/** A loader that ends after the test at the latest; `told` gets its lines of the log. */
function aLoader(store: Store = database.store, told: object[] = []): StreamingLoader {
  const write = (line: string): void => void told.push(JSON.parse(line) as object)
  const logger = pino({ level: 'warn', base: null, timestamp: false }, { write })
  const loader = startStreamingLoader({ store, logger, intervals: INTERVALS })
  loaders.push(loader)
  return loader
}
afterEach(async () => {
  await Promise.all(loaders.splice(0).map((loader) => loader.stop()))
})

const visits = (from: number, count = 1): object[] =>
  Array.from({ length: count }, (_, n) => ({
    timestamp: new Date(Date.UTC(2026, 0, 31, 10) + (from + n) * 1_000).toISOString(),
    user_id: `u${(from + n) % 3}`,
  }))

async function countEvents(project: StoredProject, store = database.store): Promise<number> {
  const [row] = await select<{ n: number }>(
    store,
    sql`SELECT count() AS n FROM events WHERE project_id = ${string(project.id)}`,
  )
  return row!.n
}

/** Waits until so many events are loaded, then whether more come. */
async function settled(project: StoredProject, count: number, store?: Store): Promise<void> {
  await until(async () => (await countEvents(project, store)) >= count, SOON)
  await until(async () => (await leftovers(store ?? database.store)).length === 0, SOON)
  expect(await countEvents(project, store)).toBe(count)
  await factsAgree(store ?? database.store, project.id)
}

test('loads what is inserted, before it starts and after, until it is stopped', async () => {
  const { store } = database
  const project = await newProject(store)
  await feed(store, project.id, visits(0))
  const loader = aLoader()
  await settled(project, 1)
  await feed(store, project.id, visits(1, 2))
  await settled(project, 3)
  await loader.stop()
  await loader.stop()
  await feed(store, project.id, visits(3))
  await sleep(20 * INTERVALS.pollMs)
  expect(await countEvents(project)).toBe(3)
  aLoader()
  await settled(project, 4)
}, 120_000)

test('finishes what it is loading when it is stopped', async () => {
  const { store } = database
  const project = await newProject(store)
  await feed(store, project.id, visits(0, 1_000))
  const loader = aLoader()
  await until(
    async () =>
      (
        await select(
          store,
          sql`SELECT 1 FROM loads WHERE startsWith(batch, 'stream-') AND step < 3`,
        )
      ).length > 0,
    SOON,
  )
  await loader.stop()
  const tables = await select(
    store,
    sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'load_')`,
  )
  expect(tables).toEqual([])
  await loadFed(store)
  expect(await countEvents(project)).toBe(1_000)
}, 120_000)

test('several at once load many inserts, each once', async () => {
  const { store } = database
  const project = await newProject(store)
  for (let n = 0; n < 3; n += 1) aLoader()
  const feeders = Array.from({ length: 4 }, async (_, feeder) => {
    for (let n = 0; n < 15; n += 1) await feed(store, project.id, visits(feeder * 100 + n * 2, 2))
  })
  await Promise.all(feeders)
  await settled(project, 120)
}, 180_000)

test('says that rows are rejected, and goes on', async () => {
  const { store } = database
  const project = await newProject(store)
  const told: object[] = []
  aLoader(store, told)
  await feed(store, project.id, ['no JSON', ...visits(0), { name: 7 }])
  await settled(project, 1)
  await until(() => told.length > 0, SOON)
  expect(told).toEqual([
    {
      level: 40,
      rejected: 2,
      msg: 'rows were rejected; the table rejections has them, with the reasons',
    },
  ])
}, 120_000)

test('an import beside it gets its turn, and it goes on after', async () => {
  const { store } = database
  const project = await newProject(store)
  aLoader()
  const state = { isOn: true, fed: 0 }
  const feeding = (async () => {
    while (state.isOn) await feed(store, project.id, visits(state.fed++))
  })()
  const lines = toLines(visits(10_000, 100))
  const { report } = await importLines(store, lines, { projectId: project.id, chunkSize: 2_500 })
  state.isOn = false
  await feeding
  expect(report).toMatchObject({ events: 100, duplicates: 0 })
  await settled(project, 100 + state.fed)
}, 180_000)

test('goes on after somebody else took its lease', async () => {
  const { store } = database
  const project = await newProject(store)
  aLoader()
  await settled(project, 0)
  for (let n = 0; n < 2; n += 1) {
    await feed(store, project.id, visits(n))
    // As one that takes the holder for dead: the next generation is there, and nobody says so.
    await until(async () => {
      const [newest] = await listGenerations(store.writer, 'loader')
      return createGeneration(store.writer, 'loader', (newest?.number ?? 0) + 1)
    }, SOON)
  }
  await settled(project, 2)
  await withLease(store.writer, 'loader', () => feed(store, project.id, visits(2)))
  await settled(project, 3)
}, 180_000)

test('goes on after the engine was away, and tells of it once', async () => {
  const engine = await anEngine(await aDataDir())
  await migrate(engine.endpoint)
  const store = connectStore(engine.endpoint)
  const told: object[] = []
  const loader = aLoader(store, told)
  try {
    await ensureRollups(store)
    const project = await newProject(store)
    await feed(store, project.id, visits(0))
    await settled(project, 1, store)
    for (let n = 1; n < 4; n += 1) {
      const { pid } = engine
      process.kill(pid, 'SIGKILL')
      await gone(pid, SOON)
      await until(() => store.reader.ping(1_000), SOON)
      await feed(store, project.id, visits(n))
      if (n === 1) await settled(project, 2, store)
    }
    await settled(project, 4, store)
    expect(told[0]).toMatchObject({ level: 40, msg: 'events wait to be loaded' })
    expect(told.length).toBeLessThanOrEqual(3)
  } finally {
    await loader.stop()
    await store.close()
  }
}, 180_000)
