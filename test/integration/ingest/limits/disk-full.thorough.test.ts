/** A store whose disk becomes full: events are refused in time, and whatever fails goes on once there is space. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import {
  startService,
  type RunningService,
} from '../../../../src/bootstrap/serving/start-service.js'
import { startEngine, type Engine } from '../../../../src/clickhouse/embedded/engine.js'
import { migrate } from '../../../../src/clickhouse/migrations/migrate.js'
import { sql, string, uint32 } from '../../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../../src/clickhouse/store.js'
import { readConfig } from '../../../../src/config/config.js'
import { StoreFullError } from '../../../../src/ingest/inbox/disk-space.js'
import { createInboxWriter } from '../../../../src/ingest/inbox/inbox-writer.js'
import { createLogger } from '../../../../src/lib/log.js'
import { createInstruments } from '../../../../src/telemetry/instruments.js'
import { toCluster } from '../../../../src/cluster/cluster.js'
import { importLines, toLines } from '../../../support/sources/sources.js'
import { expectConsistentFacts, listLeftovers, select } from '../../../support/store/facts.js'
import { checkRollups, ensureRollups } from '../../../support/store/loading.js'
import { feed, loadInbox } from '../../../support/store/stream.js'
import { createKeys } from '../../../support/world/keys.js'
import { startTestService } from '../../../support/world/service.js'
import { newProject, NOW } from '../../../support/world/world.js'
import { until } from '../../../support/until.js'

const MB = 1024 ** 2
const DISK_MB = 192

const disk = mkdtempSync(path.join(os.tmpdir(), 'tallyhouse-disk-'))
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m`, 'tmpfs', disk])
const isMounted = mounted.status === 0
const reason = mounted.error?.message ?? mounted.stderr.toString().trim()

/** Runs a test, or skips it where this process may not mount a disk. */
const diskTest = (name: string, work: () => Promise<void>): void =>
  isMounted ? test(name, work, 180_000) : test.skip(`${name} (skipped: ${reason})`, work)

let engine: Engine
let store: Store
beforeAll(async () => {
  if (!isMounted) return
  engine = await startEngine({ dataDir: disk, purpose: 'jest' })
  await migrate(engine.endpoint)
  store = connectStore(engine.endpoint)
  await ensureRollups(store)
})
afterAll(async () => {
  if (isMounted) {
    await store.close()
    await engine.stop()
    spawnSync('umount', [disk])
  }
  rmSync(disk, { recursive: true, force: true })
})

const filler = path.join(disk, 'filler')
const empty = (): void => rmSync(filler, { force: true })

/** Fills the disk, up to some bytes. */
function fill(left: number): void {
  empty()
  const { bavail, bsize } = statfsSync(disk)
  try {
    writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - left)))
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOSPC') throw error
  }
}

const countEvents = async (id: string): Promise<{ n: number; paths: number } | undefined> =>
  (
    await select<{ n: number; paths: number }>(
      store,
      sql`SELECT count() AS n, uniqExact(path) AS paths FROM events WHERE project_id = ${string(id)}`,
    )
  )[0]

const text = (n: number): string =>
  Array.from({ length: 12 }, (_, i) => ((n + 1) * 7_919 * (i + 3)).toString(36)).join('')
/** Half of them have no id, so one that is loaded twice counts twice. */
const visit = (n: number): object => ({
  timestamp: new Date(Date.UTC(2026, 0, 31, 10) + n * 500).toISOString(),
  user_id: `u${n % 50}`,
  path: `/${n}`,
  properties: { text: text(n) },
  ...(n % 2 === 0 ? { event_id: `e${n}` } : {}),
})

diskTest('the collector refuses events before the disk is full; all else goes on', async () => {
  const { id, token } = await newProject(store)
  const lines: string[] = []
  const logger = createLogger('info', { write: (line: string) => void lines.push(line) })
  const told = (part: string): number => lines.filter((line) => line.includes(part)).length
  const instruments = createInstruments({ version: '1', countDroppedLines: () => 0 })
  const service: RunningService = await startService({
    config: readConfig({ PORT: '0', NODE_ENV: 'test', ROLE: 'all' }),
    cluster: toCluster(store),
    logger,
    now: () => new Date(),
    instruments,
  })
  const send = (): Promise<Response> =>
    fetch(`${service.address}/v1/events`, {
      method: 'POST',
      body: JSON.stringify({ token, user_id: 'u' }),
    })
  const answers = (status: number) => async () => (await send()).status === status
  try {
    expect((await send()).status).toBe(202)
    fill(0.045 * DISK_MB * MB)
    await until(answers(503))
    const refused = await send()
    expect(refused.headers.get('Retry-After')).toBe('30')
    expect(await refused.json()).toEqual({
      error: {
        code: 'SERVICE_UNAVAILABLE',
        message:
          'The store has no room for events right now. Wait the seconds given in Retry-After.',
        docs: '/docs/errors#service_unavailable',
      },
    })
    const [, free] = /^tallyhouse_store_free_bytes (\d+)$/m.exec(await instruments.write()) ?? []
    expect(Number(free)).toBeGreaterThan(0)
    expect(Number(free)).toBeLessThan(0.05 * DISK_MB * MB)
    expect((await fetch(`${service.address}/readyz`)).status).toBe(200)
    await loadInbox(store)
    expect((await countEvents(id))?.n).toBeGreaterThan(0)
    await expect(importLines(store, toLines([visit(0)]), { projectId: id })).rejects.toThrow(
      StoreFullError,
    )
    expect([told('almost full'), told('space again')]).toEqual([1, 0])
    empty()
    await until(answers(202))
    expect([told('almost full'), told('space again')]).toEqual([1, 1])
  } finally {
    empty()
    await service.stop()
    instruments.close()
  }
  await loadInbox(store)
})

diskTest('a full disk loses nothing and doubles nothing', async () => {
  const { id } = await newProject(store)
  const failures = new Set<string>()
  let fed = 0
  for (const left of [0, 0.4, 1.2, 2.5, 5]) {
    await feed(
      store,
      id,
      Array.from({ length: 3_000 }, () => visit(fed++)),
    )
    fill(left * MB)
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await loadInbox(store).catch((error: unknown) => failures.add((error as Error).message))
      fill(left * MB)
    }
    if (left === 0) {
      // A write that fails may have been stored all the same, so this one repeats an event.
      const lines = [JSON.stringify({ user_id: 'u', event_id: 'e0' })]
      const writer = createInboxWriter(store.writer, { timeoutMs: 300 })
      await expect(
        writer.write({ projectId: id, lines, receivedAt: new Date() }),
      ).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    }
    empty()
    await loadInbox(store)
    expect({ left, ...(await countEvents(id)) }).toEqual({ left, n: fed, paths: fed })
  }
  expect([...failures].join('\n')).toMatch(/space/i)
  expect(await select(store, sql`SELECT reason FROM rejections`)).toEqual([])
  await expectConsistentFacts(store, id)
  expect(await listLeftovers(store)).toEqual([])
  expect(await checkRollups(store.writer, {})).toMatchObject({ different: 0 })
})

const LARGE_ROWS = 8_000
/** Reads 8 MB. */
const readLarge = (): Promise<readonly object[]> =>
  select(store, sql`SELECT repeat('x', 1000) AS text FROM numbers(${uint32(LARGE_ROWS)})`)

diskTest('queries are answered on a disk without a free byte', async () => {
  const { id } = await newProject(store)
  const visits = Array.from({ length: 3_000 }, (_, n) => visit(n))
  await feed(store, id, visits)
  await loadInbox(store)
  const keys = await createKeys(store)
  const key = await keys.issue(id, NOW)
  // Every query is computed.
  const service = await startTestService({
    store,
    now: () => NOW,
    env: { ROLE: 'api', CACHE_MB: '0' },
  })
  const ask = async (query: object): Promise<unknown> => {
    fill(0)
    const response = await fetch(`${service.address}/v1/analytics/query`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ date_range: ['2026-01-01', '2026-01-31'], ...query }),
    })
    return { status: response.status, body: await response.json() }
  }
  try {
    for (let n = 0; n < 10; n++) {
      expect(await ask({ metrics: ['pageviews', 'users'] })).toMatchObject({
        status: 200,
        body: { data: [{ metrics: { pageviews: 3_000, users: 50 } }] },
      })
    }
    expect(
      await ask({ metrics: ['pageviews'], group_by: ['page:path'], limit: 1_000 }),
    ).toMatchObject({
      status: 200,
      body: { pagination: { returned: 1_000, total: 3_000 } },
    })
    // Larger responses wait in a file. Without room for it the query fails, and the next one is answered.
    empty()
    expect((await readLarge()).length).toBe(LARGE_ROWS)
    fill(0)
    await expect(readLarge()).rejects.toThrow()
    expect(await ask({ metrics: ['users'] })).toMatchObject({
      status: 200,
      body: { data: [{ metrics: { users: 50 } }] },
    })
  } finally {
    empty()
    await service.stop()
    await keys.remove()
  }
})
