/** The engine of a service is killed or suspended while clients ask: what they see, and when the service is back. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEngine, type Engine } from '../../../../src/clickhouse/embedded/engine.js'
import { migrate } from '../../../../src/clickhouse/migrations/migrate.js'
import { createQueryRunner } from '../../../../src/clickhouse/run.js'
import { sql, statement } from '../../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../../src/clickhouse/store.js'
import {
  startFaultyService,
  type Answer,
  type FaultyService,
} from '../../../support/faults/faulty-service.js'
import { ensureRollups } from '../../../support/store/loading.js'
import { createKeys, type TestKeys } from '../../../support/world/keys.js'
import { fillDefaults, NOW } from '../../../support/world/world.js'

const LANES = 4
/** A refusal takes some milliseconds, or 250 while it waits for the public keys. The machine may be busy. */
const PROMPT_MS = 1_000
const QUERY = fillDefaults({ date_range: '7days', group_by: ['page:path'] })

let dataDir: string
let engine: Engine
let direct: Store
let keys: TestKeys
let service: FaultyService
let whole: Answer
const restarts: number[] = []
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-away-'))
  engine = await startEngine({
    dataDir,
    purpose: 'a test',
    onEvent: ({ kind }) => kind === 'restarted' && restarts.push(performance.now()),
  })
  await migrate(engine.endpoint)
  direct = connectStore(engine.endpoint)
  await ensureRollups(direct)
  keys = await createKeys(direct)
  service = await startFaultyService({
    direct,
    keys,
    endpoint: engine.endpoint,
    env: { QUERY_TIMEOUT_MS: '3000', MAX_QUERIES_PER_KEY: '16' },
    events: Array.from({ length: 50 }, (_, n) => ({
      timestamp: new Date(NOW.getTime() - n * 1_000).toISOString(),
      user_id: `u${n % 9}`,
      path: `/path/${n}`,
    })),
  })
  whole = await service.ask(QUERY)
})
afterAll(async () => {
  await service.stop()
  await direct.close()
  await engine.stop()
  await Promise.all([keys.remove(), rm(dataDir, { recursive: true })])
})

interface Seen extends Answer {
  /** When it was asked and answered. */
  readonly from: number
  readonly to: number
}

let answers: Seen[]
let probes: { readonly at: number; readonly status: number }[]
beforeEach(() => {
  answers = []
  probes = []
})

/** Sends queries and probes until `work` is done. Every answer has all rows, or is an error. */
async function underLoad(work: () => Promise<void>): Promise<void> {
  let isOver = false
  const lane = async (): Promise<void> => {
    while (!isOver) {
      const from = performance.now()
      const answer = await service.ask(QUERY)
      answers.push({ ...answer, from, to: performance.now() })
      await sleep(20)
    }
  }
  const probe = async (): Promise<void> => {
    while (!isOver) {
      const { status } = await fetch(`${service.address}/readyz`)
      probes.push({ at: performance.now(), status })
      await sleep(50)
    }
  }
  const load = [...Array.from({ length: LANES }, lane), probe()]
  await work().finally(() => (isOver = true))
  await Promise.all(load)
  expect(whole.status).toBe(200)
  for (const { status, text } of answers) if (status === 200) expect(text).toBe(whole.text)
}

/** Kills the engine and every one that replaces it. */
async function killFor(ms: number): Promise<void> {
  let killed: number | undefined
  for (const end = performance.now() + ms; performance.now() < end;) {
    if (engine.pid !== killed) process.kill(engine.pid, 'SIGKILL')
    killed = engine.pid
    await sleep(5)
  }
}

test('killed: 503 at once, and back soon after the restart', async () => {
  let killedAt = 0
  await underLoad(async () => {
    await sleep(300)
    const slow = createQueryRunner(service.store, 10_000)(statement(sql`SELECT sleep(3)`))
    const failed = slow.catch((error: unknown) => ({ error, at: performance.now() }))
    await sleep(200)
    killedAt = performance.now()
    await killFor(2_500)
    const { error, at } = (await failed) as { error: unknown; at: number }
    expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(at - killedAt).toBeLessThan(PROMPT_MS)
    // The engine may be started more than once.
    while (performance.now() < (restarts.at(-1) ?? Infinity) + 3_300) await sleep(20)
  })
  const statuses = new Set(answers.map(({ status, code }) => `${status} ${code}`))
  expect(statuses).toEqual(new Set(['200 undefined', '503 SERVICE_UNAVAILABLE']))
  const restartedAt = restarts.at(-1)!
  const slowest = answers
    .filter(({ from, to, status }) => status === 503 && to > killedAt && from < restartedAt)
    .map(({ from, to }) => Math.round(to - Math.max(from, killedAt)))
  expect(Math.max(...slowest)).toBeLessThan(PROMPT_MS)
  const between = probes.filter(({ at }) => at > killedAt + 2_000 && at < restartedAt)
  expect(new Set(between.map(({ status }) => status))).toEqual(new Set([503]))
  const late = answers.filter(({ from }) => from > restartedAt + 3_000)
  expect(new Set(late.map(({ status }) => status))).toEqual(new Set([200]))
})

test('suspended: soon 503 at once, also for keys that are not known yet, and back within 2 s', async () => {
  let [stoppedAt, continuedAt] = [0, 0]
  const before = service.changes.length
  const other = await service.issue()
  await underLoad(async () => {
    await sleep(300)
    stoppedAt = performance.now()
    process.kill(engine.pid, 'SIGSTOP')
    try {
      while (service.changes.length === before) await sleep(20)
      await sleep(1_000)
      expect(await service.ask(QUERY, other)).toMatchObject({ status: 503, retryAfter: '1' })
    } finally {
      continuedAt = performance.now()
      process.kill(engine.pid, 'SIGCONT')
    }
    await sleep(2_300)
  })
  expect(service.changes.slice(before)).toEqual([true, false])
  const statuses = new Set(answers.map(({ status }) => status))
  expect([...statuses].filter((status) => ![200, 503, 504].includes(status))).toEqual([])
  const refused = answers.filter(({ from, to }) => from > continuedAt - 900 && to < continuedAt)
  expect(refused.length).toBeGreaterThan(LANES)
  expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['SERVICE_UNAVAILABLE']))
  expect(Math.max(...refused.map(({ ms }) => ms))).toBeLessThan(PROMPT_MS)
  const between = probes.filter(({ at }) => at > stoppedAt + 2_500 && at < continuedAt)
  expect(new Set(between.map(({ status }) => status))).toEqual(new Set([503]))
  const late = answers.filter(({ from }) => from > continuedAt + 2_000)
  expect(new Set(late.map(({ status }) => status))).toEqual(new Set([200]))
})
