/** The breaker: queries fail at once while the store does not answer, and only then. */
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Connection } from '../../../../src/clickhouse/connection.js'
import { createBreaker, type Breaker } from '../../../../src/clickhouse/breaker.js'
import { StoreUnavailableError } from '../../../../src/clickhouse/errors.js'
import { sql, statement } from '../../../../src/clickhouse/sql.js'
import { formatServerUrl } from '../../../support/cli/commands.js'
import { startServe } from '../../../support/cli/serve.js'
import { getTestEndpoint } from '../../../support/engine/engine.js'
import {
  startChaosProxy,
  type ChaosProxy,
  type Fault,
} from '../../../support/faults/chaos-proxy.js'
import { createDatabase } from '../../../support/store/database.js'
import { until } from '../../../support/until.js'

const ONE = statement(sql`SELECT 1 AS n`)
const SLOW = statement(sql`SELECT sleep(2)`)
const WRONG = statement(sql`SELECT nothing`)
/** Longer than a failure is put down to the query itself, because the store has answered others. */
const SILENCE_MS = 1_100

let proxy: ChaosProxy
let pings: Connection
let plain: Connection
let breaker: Breaker
let guarded: Connection
let sent: number
/** How long a ping waits. */
let patienceMs: number
/** Whether it opened or closed, and the number of pings until then. */
let changes: (readonly [isOpen: boolean, pings: number])[]
beforeEach(async () => {
  proxy = await startChaosProxy(getTestEndpoint().url)
  const endpoint = { ...getTestEndpoint(), url: proxy.url }
  pings = connect(endpoint, 'reader', { killsCancelled: false })
  plain = connect(endpoint, 'reader', { killsCancelled: false })
  sent = 0
  patienceMs = 60_000
  changes = []
  breaker = createBreaker(
    () => {
      sent++
      return pings.query(ONE, { signal: AbortSignal.timeout(patienceMs) })
    },
    (isOpen) => changes.push([isOpen, sent]),
  )
  guarded = breaker.guard(plain)
})
afterEach(async () => {
  breaker.stop()
  await Promise.all([pings.close(), plain.close()])
  await proxy.stop()
})

/** Fails after `ms`, unless the store answers before. */
const ask = (ms = 50): Promise<string> =>
  guarded.query(ONE, { signal: AbortSignal.timeout(ms) }).then(
    () => 'answered',
    (error: unknown) => (error as Error).name,
  )

test.each<Fault>([
  { kind: 'reject' },
  { kind: 'black hole' },
  { kind: 'cut', after: 9, by: 'RST' },
])('%j: it opens after three pings, and closes when the store answers', async (fault) => {
  patienceMs = 100
  proxy.fail(fault)
  const waiting = guarded.query(ONE).catch((error: unknown) => error)
  await ask()
  await until(() => changes.length > 0)
  expect(changes).toEqual([[true, 3]])
  // A query that waits is given up, and none is sent.
  expect(await waiting).toBeInstanceOf(StoreUnavailableError)
  await until(() => proxy.connections() === 0)
  await expect(guarded.query(ONE)).rejects.toThrow(/^the store does not answer$/)
  patienceMs = 60_000
  proxy.fail({ kind: 'none' })
  await until(() => changes.length > 1)
  expect(changes.map(([isOpen]) => isOpen)).toEqual([true, false])
  const before = sent
  expect(await ask(60_000)).toBe('answered')
  await sleep(600)
  expect(sent).toBe(before)
})

test('nothing is sent while the store answers, with results or with errors', async () => {
  await expect(guarded.query(WRONG)).rejects.toThrow(/nothing/)
  for (let i = 0; i < 20; i++) expect(await ask(60_000)).toBe('answered')
  expect(await Promise.all(Array.from({ length: 20 }, () => ask(0)))).not.toContain('answered')
  await sleep(50)
  expect([sent, changes]).toEqual([0, []])
})

test('a query that takes too long does not open it, while the store answers', async () => {
  await guarded.query(ONE)
  const signal = AbortSignal.timeout(SILENCE_MS)
  await expect(guarded.query(SLOW, { signal })).rejects.toThrow('the query was cancelled')
  await sleep(50)
  expect([sent, changes, await ask(60_000)]).toEqual([1, [], 'answered'])
})

test('answers to queries count, when pings have none', async () => {
  let isPinged = false
  let fail = (_error: Error): void => undefined
  breaker.stop()
  breaker = createBreaker(
    () => {
      sent++
      isPinged = true
      return new Promise((_resolve, reject) => (fail = reject))
    },
    (isOpen) => changes.push([isOpen, sent]),
  )
  guarded = breaker.guard(plain)
  await ask(0)
  await until(() => isPinged)
  expect(await ask(60_000)).toBe('answered')
  fail(new StoreUnavailableError('no answer to the ping'))
  await sleep(600)
  expect([sent, changes]).toEqual([1, []])
})

test('an error of ClickHouse is an answer to a ping', async () => {
  breaker.stop()
  breaker = createBreaker(
    () => {
      sent++
      return pings.query(WRONG)
    },
    (isOpen) => changes.push([isOpen, sent]),
  )
  guarded = breaker.guard(plain)
  await ask(0)
  await sleep(600)
  expect([sent, changes]).toEqual([1, []])
})

test('once it is stopped, it sends nothing', async () => {
  proxy.fail({ kind: 'reject' })
  await ask()
  breaker.stop()
  await sleep(600)
  expect([sent, changes]).toEqual([1, []])
})

test('a service logs when it opens and when it closes, once each', async () => {
  const database = await createDatabase()
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-breaker-'))
  const service = startServe({
    CLICKHOUSE_URL: formatServerUrl({ ...database.endpoint, url: proxy.url }),
    DATA_DIR: dataDir,
  })
  await service.listening()
  proxy.fail({ kind: 'reject' })
  proxy.killAll()
  // The loader asks, though no client does.
  const [opened] = await service.logged(/.*the store does not answer; queries are refused.*/)
  expect(JSON.parse(opened)).toMatchObject({
    level: 'warn',
    err: { type: 'StoreUnavailableError' },
  })
  proxy.fail({ kind: 'none' })
  await service.logged(/the store answers again/)
  service.child.kill('SIGTERM')
  expect(await service.exit).toBe(0)
  expect(
    service.log().match(/the store (?:does not answer; queries are refused|answers again)/g),
  ).toHaveLength(2)
  await Promise.all([database.drop(), rm(dataDir, { recursive: true })])
})
