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
import { until } from '../../../support/until.js'
import { createKeys, type TestKeys } from '../../../support/world/keys.js'
import { fillDefaults, NOW } from '../../../support/world/world.js'

const LANES = 4
const ENDLESS = sql`SELECT sum(sipHash64(number)) FROM numbers(1000000000000)`
const RUNNING = statement(
  sql`SELECT 1 FROM system.processes WHERE query LIKE 'SELECT sum(sipHash64%'`,
)
const QUERY = fillDefaults({ date_range: '7days', group_by: ['page:path'] })

let dataDir: string
let engine: Engine
let direct: Store
let keys: TestKeys
let service: FaultyService
let whole: Answer
/** How often the engine has been ready again since it was killed last. */
let restarts = 0
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-away-'))
  engine = await startEngine({
    dataDir,
    purpose: 'a test',
    onEvent: ({ kind }) => {
      if (kind === 'restarted') restarts++
    },
  })
  await migrate(engine.endpoint)
  direct = connectStore(engine.endpoint)
  await ensureRollups(direct)
  keys = await createKeys(direct)
  service = await startFaultyService({
    direct,
    keys,
    endpoint: engine.endpoint,
    env: { QUERY_TIMEOUT_MS: '20000', MAX_QUERIES_PER_KEY: '16' },
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

let answers: Answer[]
/** The statuses of the probes. */
let probes: number[]
beforeEach(() => {
  answers = []
  probes = []
})

/** Sends queries and probes until `work` is done. Every answer has all rows, or is an error. */
async function underLoad(work: () => Promise<void>): Promise<void> {
  let isOver = false
  const lane = async (): Promise<void> => {
    while (!isOver) {
      answers.push(await service.ask(QUERY))
      await sleep(20)
    }
  }
  const probe = async (): Promise<void> => {
    while (!isOver) {
      probes.push((await fetch(`${service.address}/readyz`)).status)
      await sleep(50)
    }
  }
  const load = [...Array.from({ length: LANES }, lane), probe()]
  await work().finally(() => (isOver = true))
  await Promise.all(load)
  expect(whole.status).toBe(200)
  for (const { status, text } of answers) if (status === 200) expect(text).toBe(whole.text)
}

/** Kills the engine, and each one that replaces it, for a while. */
async function killFor(ms: number): Promise<void> {
  let killed: number | undefined
  for (const end = performance.now() + ms; performance.now() < end;) {
    if (engine.pid !== killed) {
      process.kill(engine.pid, 'SIGKILL')
      restarts = 0
    }
    killed = engine.pid
    await sleep(5)
  }
}

/** Waits until every lane has got more answers, and the probe one. Returns the later of them, asked meanwhile. */
async function seeMore(): Promise<
  readonly [answers: readonly Answer[], probes: readonly number[]]
> {
  const [answered, probed] = [answers.length + LANES, probes.length + 1]
  await until(() => answers.length > answered + LANES && probes.length > probed)
  return [answers.slice(answered), probes.slice(probed)]
}

const isAnswered = async (): Promise<boolean> => (await service.ask(QUERY)).status === 200
const isReady = (): boolean => probes.at(-1) === 200
const getCodes = (seen: readonly Answer[]) =>
  new Set(seen.map(({ status, code }) => `${status} ${code}`))

test('killed: 503 and not the deadline of a query, and back after the restart', async () => {
  await underLoad(async () => {
    await until(() => answers.length > LANES)
    const endless = createQueryRunner(service.store, 60_000)(statement(ENDLESS))
    const failed = endless.catch((error: unknown) => error)
    await until(async () => (await direct.admin.query(RUNNING)).rows.length > 0)
    await killFor(2_500)
    expect(await failed).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    await until(() => probes.includes(503))
    // The engine may be started more than once.
    await until(async () => restarts > 0 && (await isAnswered()) && isReady())
    const [late, ready] = await seeMore()
    expect([getCodes(late), new Set(ready)]).toEqual([new Set(['200 undefined']), new Set([200])])
  })
  expect(getCodes(answers)).toEqual(new Set(['200 undefined', '503 SERVICE_UNAVAILABLE']))
})

test('suspended: then 503 and not the deadline of a query, also for keys that are not known yet, and back', async () => {
  const before = service.changes.length
  const other = await service.issue()
  await underLoad(async () => {
    await until(() => answers.length > LANES)
    process.kill(engine.pid, 'SIGSTOP')
    try {
      await until(() => service.changes.length > before && probes.at(-1) === 503)
      expect(await service.ask(QUERY, other)).toMatchObject({ status: 503, retryAfter: '1' })
      const [refused, ready] = await seeMore()
      expect([getCodes(refused), new Set(ready)]).toEqual([
        new Set(['503 SERVICE_UNAVAILABLE']),
        new Set([503]),
      ])
    } finally {
      process.kill(engine.pid, 'SIGCONT')
    }
    await until(async () => (await isAnswered()) && isReady())
    const [late, ready] = await seeMore()
    expect([getCodes(late), new Set(ready)]).toEqual([new Set(['200 undefined']), new Set([200])])
  })
  expect(service.changes.slice(before)).toEqual([true, false])
  const statuses = new Set(answers.map(({ status }) => status))
  expect([...statuses].filter((status) => ![200, 503, 504].includes(status))).toEqual([])
})
