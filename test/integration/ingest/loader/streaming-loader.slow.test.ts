/** The streaming loader of a service: it loads the inbox, beside other loaders, deletions and failures. */
import { afterEach, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { withLease } from '../../../../src/clickhouse/lease/lease.js'
import { LEASE_TABLES } from '../../../../src/clickhouse/lease/lease-tables.js'
import { migrate } from '../../../../src/clickhouse/migrations/migrate.js'
import { connectStore, type Store } from '../../../../src/clickhouse/store.js'
import { identifier, sql, statement, string } from '../../../../src/clickhouse/sql.js'
import { findUnfinishedLoads } from '../../../../src/ingest/loader/load-log.js'
import { createLoaderMonitor } from '../../../../src/ingest/loader/loader-state.js'
import { type StreamingLoader } from '../../../../src/ingest/loader/streaming-loader.js'
import type { StoredProject } from '../../../../src/projects/project.js'
import { thoroughTest } from '../../../support/effort.js'
import { withDatabase } from '../../../support/store/database.js'
import { expectConsistentFacts, listLeftovers, select } from '../../../support/store/facts.js'
import { importLines, toLines } from '../../../support/sources/sources.js'
import { feed, loadInbox } from '../../../support/store/stream.js'
import { newProject } from '../../../support/world/world.js'
import { aDataDir, anEngine, gone } from '../../clickhouse/embedded/support.js'
import { until } from '../../../support/until.js'
import { breakAfter, BrokenError } from '../../../support/store/breaking.js'
import {
  deleteUser,
  ensureRollups,
  loadStream,
  rebuildRollups,
  startStreamingLoader,
} from '../../../support/store/loading.js'

const INTERVALS = { loadMs: 50, pollMs: 20, idlePollMs: 20, retryMs: 100, idleMs: 1_000 }

const database = withDatabase()

const loaders: StreamingLoader[] = []

/** Starts a loader, which is stopped after the test at the latest. Adds its log lines to `logLines`. */
function aLoader(
  store: Store = database.store,
  logLines: object[] = [],
  monitor = createLoaderMonitor(),
): StreamingLoader {
  const write = (line: string): void => void logLines.push(JSON.parse(line) as object)
  const logger = pino({ level: 'warn', base: null, timestamp: false }, { write })
  const loader = startStreamingLoader({ store, logger, monitor, intervals: INTERVALS })
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

/** Waits until `count` events are loaded, and checks that no more follow. */
async function settled(project: StoredProject, count: number, store?: Store): Promise<void> {
  await until(async () => (await countEvents(project, store)) >= count)
  await until(async () => (await listLeftovers(store ?? database.store)).length === 0)
  expect(await countEvents(project, store)).toBe(count)
  await expectConsistentFacts(store ?? database.store, project.id)
}

test('loads rows that are inserted before and after its start, until it is stopped', async () => {
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
})

test('finishes its current load when it is stopped', async () => {
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
  )
  await loader.stop()
  const tables = await select(
    store,
    sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'load_')`,
  )
  expect(tables).toEqual([])
  await loadInbox(store)
  expect(await countEvents(project)).toBe(1_000)
})

thoroughTest('several loaders load many inserts, each once', async () => {
  const { store } = database
  const project = await newProject(store)
  for (let n = 0; n < 3; n += 1) aLoader()
  const feeders = Array.from({ length: 4 }, async (_, feeder) => {
    for (let n = 0; n < 15; n += 1) await feed(store, project.id, visits(feeder * 100 + n * 2, 2))
  })
  await Promise.all(feeders)
  await settled(project, 120)
})

test('logs rejected rows, and continues', async () => {
  const { store } = database
  const project = await newProject(store)
  const logLines: object[] = []
  aLoader(store, logLines)
  await feed(store, project.id, ['no JSON', ...visits(0), { name: 7 }])
  await settled(project, 1)
  await until(() => logLines.length > 0)
  expect(logLines).toEqual([
    {
      level: 40,
      rejected: 2,
      msg: 'rows were rejected; the table rejections has them, with the reasons',
    },
  ])
})

thoroughTest('an import beside it gets its turn, and it goes on after', async () => {
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
})

/** Returns the newest generation of the lease: each acquisition creates one. */
const newestLease = async (): Promise<number> =>
  (await LEASE_TABLES.listGenerations(database.store.writer, 'loader'))[0]?.number ?? 0

/** Inserts events one after the other while `work` runs. */
async function feedDuring(project: StoredProject, work: () => Promise<unknown>): Promise<number> {
  const state = { isOn: true, fed: 0 }
  const feeding = (async () => {
    while (state.isOn) {
      await feed(database.store, project.id, visits(state.fed++))
      await sleep(50)
    }
  })()
  await work().finally(() => (state.isOn = false))
  await feeding
  return state.fed
}

thoroughTest('keeps its lease while rows arrive, and takes none without rows', async () => {
  const { store } = database
  const project = await newProject(store)
  aLoader()
  await feed(store, project.id, visits(0))
  await settled(project, 1)
  await sleep(2 * INTERVALS.idleMs)
  const before = await newestLease()
  for (let n = 1; n < 6; n += 1) {
    await feed(store, project.id, visits(n))
    await until(async () => (await countEvents(project)) > n)
  }
  expect((await newestLease()) - before).toBeLessThanOrEqual(2)
  await settled(project, 6)
  await sleep(2 * INTERVALS.idleMs)
  const after = await newestLease()
  await sleep(2 * INTERVALS.idleMs)
  expect(await newestLease()).toBe(after)
})

thoroughTest(
  'hands its lease over to another process that requests it, again and again',
  async () => {
    const { store } = database
    const project = await newProject(store)
    aLoader()
    const turns: number[] = []
    const fed = await feedDuring(project, async () => {
      for (let n = 0; n < 5; n += 1) {
        await sleep(500)
        const before = await newestLease()
        await withLease(store.writer, 'loader', async () => {
          turns.push((await newestLease()) - before)
        })
      }
    })
    // The number of acquisitions until the requester had the lease. A slow machine may miss a handover.
    expect(Math.min(...turns)).toBe(1)
    expect(Math.max(...turns)).toBeLessThan(5)
    await settled(project, fed)
  },
)

thoroughTest('a deletion and a rebuild get their turn', async () => {
  const { store } = database
  const project = await newProject(store)
  const other = await newProject(store)
  aLoader()
  await feed(store, other.id, visits(0, 3))
  await settled(other, 3)
  const fed = await feedDuring(project, async () => {
    await deleteUser(store, other.id, 'u0')
    await rebuildRollups(store.writer, { onMonth: () => undefined })
  })
  await settled(project, fed)
  await settled(other, 2)
})

thoroughTest('another loader continues when the one with the lease stops', async () => {
  const { store } = database
  const project = await newProject(store)
  const first = aLoader()
  await feed(store, project.id, visits(10_000))
  await settled(project, 1)
  aLoader()
  const fed = await feedDuring(project, async () => {
    await sleep(500)
    await first.stop()
    await sleep(2_000)
  })
  await settled(project, fed + 1)
})

test('first finishes an unfinished load of another process', async () => {
  const { store } = database
  const project = await newProject(store)
  aLoader()
  await feed(store, project.id, visits(0))
  await settled(project, 1)
  await withLease(store.writer, 'loader', async () => {
    await feed(store, project.id, visits(1, 5))
    const killed = loadStream(breakAfter(store.writer, /INSERT INTO events/))
    await expect(killed).rejects.toThrow(BrokenError)
  })
  await settled(project, 6)
})

thoroughTest('continues after another process took its lease', async () => {
  const { store } = database
  const project = await newProject(store)
  aLoader()
  await settled(project, 0)
  for (let n = 0; n < 2; n += 1) {
    await feed(store, project.id, visits(n))
    // As a process that considers the holder dead: it creates the next generation without a request.
    await until(async () => {
      const [newest] = await LEASE_TABLES.listGenerations(store.writer, 'loader')
      return LEASE_TABLES.createGeneration(store.writer, 'loader', (newest?.number ?? 0) + 1)
    })
  }
  await settled(project, 2)
  await withLease(store.writer, 'loader', () => feed(store, project.id, visits(2)))
  await settled(project, 3)
})

thoroughTest('continues after the engine was down, and logs the outage', async () => {
  const engine = await anEngine(await aDataDir())
  await migrate(engine.endpoint)
  const store = connectStore(engine.endpoint)
  const logLines: object[] = []
  const loader = aLoader(store, logLines)
  try {
    await ensureRollups(store)
    const project = await newProject(store)
    await feed(store, project.id, visits(0))
    await settled(project, 1, store)
    for (let n = 1; n < 4; n += 1) {
      const { pid } = engine
      process.kill(pid, 'SIGKILL')
      await gone(pid)
      await until(() => store.reader.ping(1_000))
      await feed(store, project.id, visits(n))
      if (n === 1) await settled(project, 2, store)
    }
    await settled(project, 4, store)
    expect(logLines[0]).toMatchObject({ level: 40, msg: 'events wait to be loaded' })
    const warnings = logLines.filter((line) => 'level' in line && line.level === 40)
    expect(warnings.length).toBeLessThanOrEqual(3)
  } finally {
    await loader.stop()
    await store.close()
  }
})

test('a load that cannot go on is an error in the log, also of the next process, until it can', async () => {
  const { store } = database
  const project = await newProject(store)
  await feed(store, project.id, visits(0))
  await withLease(store.writer, 'loader', async () => {
    const killed = loadStream(breakAfter(store.writer, /INSERT INTO users/))
    await expect(killed).rejects.toThrow(BrokenError)
  })
  const [unfinished] = await findUnfinishedLoads(store.writer)
  const { number, batch, step } = unfinished!
  const load = { number, batch, step }
  const [rows, away] = ['loading_rows', 'away'].map(identifier)
  await store.writer.execute(statement(sql`RENAME TABLE ${rows!} TO ${away!}`))

  for (const process of ['the first', 'one after it']) {
    const logLines: object[] = []
    const monitor = createLoaderMonitor()
    const loader = aLoader(store, logLines, monitor)
    await until(() => logLines.length > 1)
    await loader.stop()
    expect({ process, first: logLines[0], second: logLines[1] }).toMatchObject({
      first: { level: 40, attempts: 1, load, msg: 'events wait to be loaded' },
      second: {
        level: 50,
        attempts: 2,
        load,
        waitingRows: 1,
        err: { code: '60' },
        msg: 'events cannot be loaded',
      },
    })
    expect(monitor.read()).toMatchObject({
      msSinceSuccess: undefined,
      failure: { load },
      waitingRows: 1,
    })
  }

  await store.writer.execute(statement(sql`RENAME TABLE ${away!} TO ${rows!}`))
  const monitor = createLoaderMonitor()
  aLoader(store, [], monitor)
  await settled(project, 1)
  await until(() => monitor.read().msSinceSuccess !== undefined)
  expect(monitor.read()).toEqual({
    msSinceSuccess: expect.any(Number),
    failure: undefined,
    waitingRows: 0,
    oldestWaitingMs: 0,
  })
})
