/** Queries over HTTP that have to wait for others: of their own key, and of other keys. */
import { describe, expect, test } from '@jest/globals'
import net, { type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectStore } from '../../../src/clickhouse/store.js'
import { createQueryQueue, type QueueLimits } from '../../../src/http/query/queue/query-queue.js'
import { createDatabase } from '../../support/store/database.js'
import { createKeys } from '../../support/world/keys.js'
import { startTestService } from '../../support/world/service.js'
import { newProject } from '../../support/world/world.js'
import { until } from '../clickhouse/embedded/support.js'
import { ANSWER, CALLER, KEY, outcome, startApp, type RunningApp } from './harness.js'

const LIMITS: QueueLimits = { perKey: 2, inAll: 3, waiting: 1, timeoutMs: 10_000 }

/** Starts an application that accepts every key, and whose queries take 300 ms. */
const startBusyApp = (limits: Partial<QueueLimits> = {}): Promise<RunningApp> =>
  startApp({
    authenticate: (header = '') =>
      Promise.resolve({ ...CALLER, principal: { keyId: header, projectId: 'project-1' } }),
    queue: createQueryQueue({ ...LIMITS, ...limits }),
    runQuery: () => sleep(300, ANSWER),
  })

const askAs = (app: RunningApp, key: string): Promise<Response> =>
  app.ask(undefined, { headers: { Authorization: `Bearer ${key}` } })

test('RATE_LIMIT_EXCEEDED: a key with too many queries at once; another key is served', async () => {
  const app = await startBusyApp()
  const asked = [askAs(app, 'a'), askAs(app, 'a'), askAs(app, 'a')]
  await sleep(100)
  const [refused, other] = await Promise.all([askAs(app, 'a'), askAs(app, 'b')])
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await outcome(refused)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' })
  expect(other.status).toBe(200)
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200])
  await app.stop()
})

test('SERVICE_UNAVAILABLE: a key that would wait for other keys', async () => {
  const app = await startBusyApp({ perKey: 1, waiting: 0 })
  const asked = ['a', 'b', 'c'].map((key) => askAs(app, key))
  await sleep(100)
  const refused = await askAs(app, 'd')
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await outcome(refused)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' })
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200])
  await app.stop()
})

describe('a key that is known and has no place', () => {
  const start = () =>
    startApp({
      recall: (header) => (header === `Bearer ${KEY}` ? CALLER : undefined),
      queue: createQueryQueue({ ...LIMITS, inAll: 0, waiting: 0 }),
      rateLimit: 2,
    })

  test('is refused before the body is read, with the headers of any response', async () => {
    const app = await start()
    const [known, project, other] = [
      await app.ask('not JSON', { headers: { 'X-Request-Id': 'request-1' } }),
      await app.get('/v1/project'),
      await askAs(app, 'another'),
    ]
    expect(Object.fromEntries(known.headers)).toMatchObject({
      'retry-after': '1',
      'x-request-id': 'request-1',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ratelimit: expect.stringMatching(/^"key"; r=1; t=\d+$/),
    })
    expect(await outcome(known)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' })
    expect(await outcome(project)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' })
    expect(other.status).toBe(401)
    const limited = await app.ask()
    expect(await outcome(limited)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' })
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(1)
    await app.stop()
  })

  test('has one line of the log per second and error code', async () => {
    const app = await start()
    for (let n = 0; n < 5; n++) await app.ask()
    const isLogged = () => app.log().split('\n').length > 2
    await until(() => Promise.resolve(isLogged()), 10_000)
    await app.stop()
    const lines = app
      .log()
      .trimEnd()
      .split('\n')
      .map((line) => ({ ...(JSON.parse(line) as object), time: '' }))
    const common = { level: 'warn', time: '', keyId: 'key-1', projectId: 'project-1' }
    const msg = 'requests refused early'
    expect(lines).toEqual([
      { ...common, code: 'SERVICE_UNAVAILABLE', requests: 2, msg },
      { ...common, code: 'RATE_LIMIT_EXCEEDED', requests: 3, msg },
    ])
  })

  test('is observed like any other request', async () => {
    const ended: unknown[] = []
    let started = 0
    const app = await startApp({
      recall: () => CALLER,
      queue: createQueryQueue({ ...LIMITS, inAll: 0, waiting: 0 }),
      observer: {
        onRequestStart: () => {
          started++
        },
        onRequestEnd: (request) => ended.push({ ...request, seconds: 0 }),
      },
    })
    await app.ask()
    await app.stop()
    expect({ started, ended }).toEqual({
      started: 1,
      ended: [
        {
          method: 'POST',
          route: '/v1/analytics/query',
          status: 503,
          errorCode: 'SERVICE_UNAVAILABLE',
          seconds: 0,
        },
      ],
    })
  })
})

test('a refused query counts as a request of the minute', async () => {
  const app = await startApp({
    rateLimit: 10,
    queue: createQueryQueue({ ...LIMITS, inAll: 0, waiting: 0 }),
  })
  await app.ask()
  const response = await app.ask()
  expect(response.headers.get('ratelimit')).toMatch(/^"key"; r=8; t=\d+$/)
  await app.stop()
})

test('SERVICE_UNAVAILABLE: while the store answers no query, keys are still looked up', async () => {
  const silent = net.createServer().listen(0, '127.0.0.1')
  const database = await createDatabase()
  const keys = await createKeys(database.store)
  const store = connectStore(database.endpoint)
  const { port } = silent.address() as AddressInfo
  const hanging = connectStore({ ...database.endpoint, url: `http://127.0.0.1:${port}` })
  Object.assign(store.reader, hanging.reader)
  const service = await startTestService({
    store,
    now: () => new Date(),
    env: { MAX_QUERIES: '2', MAX_QUERIES_PER_KEY: '1', QUERY_TIMEOUT_MS: '1500' },
  })
  const issue = async (): Promise<string> => {
    const { id: projectId } = await newProject(database.store)
    return keys.issue(projectId, new Date())
  }
  const get = (key: string): Promise<Response> =>
    fetch(`${service.address}/v1/project`, { headers: { Authorization: `Bearer ${key}` } })

  const [first, second, third] = [await issue(), await issue(), await issue()]
  const asked = [get(first), get(second), get(third)]
  await sleep(200)
  const begun = performance.now()
  expect((await get(`${third}x`)).status).toBe(401)
  expect(performance.now() - begun).toBeLessThan(1_000)
  const codes = (await Promise.all(asked.map(async (one) => outcome(await one)))).map(
    ({ code }) => code,
  )
  expect(codes.sort()).toEqual(['QUERY_TIMEOUT', 'QUERY_TIMEOUT', 'SERVICE_UNAVAILABLE'])
  await service.stop()
  silent.close()
  await Promise.all([store.close(), hanging.close(), database.drop(), keys.remove()])
})
