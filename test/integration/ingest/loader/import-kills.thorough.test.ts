/** The engine or the importing process is killed during large imports: each row counts once. */
import { expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Endpoint } from '../../../../src/clickhouse/endpoint.js'
import { migrate } from '../../../../src/clickhouse/migrations/migrate.js'
import { sql, string } from '../../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../../src/clickhouse/store.js'
import { packagePath } from '../../../../src/lib/package-path.js'
import { expectConsistentFacts, listLeftovers, select } from '../../../support/store/facts.js'
import { ARRIVAL, newProject } from '../../../support/world/world.js'
import { aClient, aDataDir, anEngine, answering, gone } from '../../clickhouse/embedded/support.js'
import { until } from '../../../support/until.js'
import { checkRollups, ensureRollups, importEvents } from '../../../support/store/loading.js'

const ROWS = 300_000
const CHUNK = 8 * 1024 * 1024
const START = Date.parse('2026-01-01T00:00:00Z')

/** Writes a line. Sessions have five events, a minute apart; every tenth event comes a day late. */
const line = (n: number): string =>
  `${JSON.stringify({
    timestamp: new Date(
      START + Math.floor(n / 5) * 2_000 + (n % 5) * 60_000 - (n % 10 === 0 ? 600_000 : 0),
    ).toISOString(),
    event_id: `e${n}`,
    user_id: `u${Math.floor(n / 5) % 9_999}`,
    path: `/${n % 100}`,
  })}\n`

const buildBytes = (rows: number): Buffer =>
  Buffer.from(Array.from({ length: rows }, (_, n) => line(n)).join(''))

async function* inChunks(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_536) {
    yield await Promise.resolve(bytes.subarray(at, at + 65_536))
  }
}

async function openDatabase(endpoint: Endpoint): Promise<Store> {
  await migrate(endpoint)
  const store = connectStore(endpoint)
  await ensureRollups(store)
  return store
}

/** Checks that each row is one event, that rollups count it once, and that no working tables are left. */
async function expectAll(store: Store, projectId: string, rows: number): Promise<void> {
  const [counts] = await select(
    store,
    sql`
SELECT
  (SELECT count() FROM events WHERE project_id = ${string(projectId)}) AS events,
  (SELECT uniqExact(event_id) FROM event_ids WHERE project_id = ${string(projectId)}) AS ids,
  (SELECT sum(sign * (pageviews + events)) FROM sessions WHERE project_id = ${string(projectId)}) AS told`,
  )
  expect(counts).toEqual({ events: rows, ids: rows, told: rows })
  await expectConsistentFacts(store, projectId)
  expect(await listLeftovers(store)).toEqual([])
  expect(await checkRollups(store.writer, {})).toEqual({
    months: 2,
    groups: expect.any(Number),
    different: 0,
    differences: [],
  })
}

test('the engine is killed during imports, which are then started again', async () => {
  const engine = await anEngine(await aDataDir())
  const store = await openDatabase(engine.endpoint)
  const reader = aClient(engine.endpoint, 'reader')
  const project = await newProject(store)
  const bytes = buildBytes(ROWS)
  const run = (): Promise<unknown> =>
    importEvents(store, inChunks(bytes), {
      now: ARRIVAL,
      projectId: project.id,
      chunkSize: CHUNK,
      onRejected: (rows) => expect(rows).toEqual([]),
    })
  for (const [from, upTo] of [
    [500, 2_500],
    [1_000, 4_000],
  ] as const) {
    const importing = run().then(
      () => 'done',
      () => 'failed',
    )
    await sleep(from + Math.random() * (upTo - from))
    const { pid } = engine
    process.kill(pid, 'SIGKILL')
    await gone(pid)
    await importing
    await answering(reader)
  }
  await run()
  await expectAll(store, project.id, ROWS)
  await store.close()
})

test('the command is killed during an import, and run again', async () => {
  const engine = await anEngine(await aDataDir())
  const { endpoint } = engine
  const store = await openDatabase(endpoint)
  const project = await newProject(store)
  const rows = 100_000
  const file = path.join(await aDataDir(), 'events.ndjson')
  await writeFile(file, buildBytes(rows))
  const url = new URL(`/${endpoint.database}`, endpoint.url)
  const { username, password } = endpoint.accounts.admin
  Object.assign(url, { username, password })
  const start = () =>
    spawn(process.execPath, [packagePath('dist/cli.js'), 'import', '--project', project.id, file], {
      cwd: packagePath('.'),
      stdio: 'ignore',
      env: {
        PATH: process.env['PATH'],
        CLICKHOUSE_URL: url.href,
      },
    })
  const first = start()
  await until(async () => {
    const [loads] = await select<{ n: number }>(store, sql`SELECT count() AS n FROM loads`)
    return loads!.n > 0
  })
  await sleep(Math.random() * 1_000)
  first.kill('SIGKILL')
  const [code] = (await once(start(), 'close')) as [number]
  expect(code).toBe(0)
  await expectAll(store, project.id, rows)
  await store.close()
})
