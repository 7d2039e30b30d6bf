/** Queries over HTTP that have to wait for others: of their own key, and of other keys. */
import { describe, expect, test } from '@jest/globals'
import net, { type AddressInfo } from 'node:net'
import { connectStore } from '../../../src/clickhouse/store.js'
import { createQueryQueue, type QueueLimits } from '../../../src/http/query/queue/query-queue.js'
import { createDatabase } from '../../support/store/database.js'
import { createKeys } from '../../support/world/keys.js'
import { startTestService } from '../../support/world/service.js'
import { newProject } from '../../support/world/world.js'
import { until } from '../../support/until.js'
import { CALLER, KEY, outcome, startApp, type RunningApp } from './harness.js'

const LIMITS: QueueLimits = { perKey: 2, inAll: 3, waiting: 1, timeoutMs: 60_000 }

interface BusyApp {
  readonly app: RunningApp
  /** Waits until these numbers of queries run and wait. */
  readonly busy: (running: number, waiting: number) => Promise<unknown>
  /** Lets all queries end. */
  readonly answer: () => void
}

/** Starts an application that accepts every key, and whose queries run until they are told to end. */
async function startBusyApp(limits: Partial<QueueLimits> = {}): Promise<BusyApp> {
  const queue = createQueryQueue({ ...LIMITS, ...limits })
  let answer = (): void => undefined
  const answered = new Promise<void>((resolve) => (answer = resolve))
  const app = await startApp({
    authenticate: (header = '') =>
      Promise.resolve({ ...CALLER, principal: { keyId: header, projectId: 'project-1' } }),
    queue,
    readRows: () => answered.then(() => []),
  })
  const isBusy = (running: number, waiting: number): boolean =>
    queue.count().running === running && queue.count().waiting === waiting
  return { app, busy: (running, waiting) => until(() => isBusy(running, waiting)), answer }
}

const askAs = (app: RunningApp, key: string): Promise<Response> =>
  app.ask(undefined, { headers: { Authorization: `Bearer ${key}` } })

test('RATE_LIMIT_EXCEEDED: a key with too many queries at once; another key is served', async () => {
  const { app, busy, answer } = await startBusyApp()
  const asked = [askAs(app, 'a'), askAs(app, 'a'), askAs(app, 'a')]
  await busy(2, 1)
  const served = askAs(app, 'b')
  await busy(3, 1)
  const refused = await askAs(app, 'a')
  answer()
  const other = await served
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await outcome(refused)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' })
  expect(other.status).toBe(200)
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200])
  await app.stop()
})

test('SERVICE_UNAVAILABLE: a key that would wait for other keys', async () => {
  const { app, busy, answer } = await startBusyApp({ perKey: 1, waiting: 0 })
  const asked = ['a', 'b', 'c'].map((key) => askAs(app, key))
  await busy(3, 0)
  const refused = await askAs(app, 'd')
  answer()
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
    const readLines = () =>
      app
        .log()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { code: string; requests: number })
    const count = (code: string): number =>
      readLines().reduce((sum, line) => sum + (line.code === code ? line.requests : 0), 0)
    await Promise.all(Array.from({ length: 50 }, () => app.ask()))
    await until(() => count('SERVICE_UNAVAILABLE') === 2 && count('RATE_LIMIT_EXCEEDED') === 48)
    await app.stop()
    // If the machine is busy, the requests arrive in several seconds.
    expect(readLines().length).toBeLessThan(25)
    expect(readLines()[0]).toEqual({
      level: 'warn',
      time: expect.anything(),
      keyId: 'key-1',
      projectId: 'project-1',
      code: 'SERVICE_UNAVAILABLE',
      requests: expect.any(Number),
      msg: 'requests refused early',
    })
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
  const connections: net.Socket[] = []
  const silent = net
    .createServer((socket) => connections.push(socket.on('error', () => undefined)))
    .listen(0, '127.0.0.1')
  const database = await createDatabase()
  const keys = await createKeys(database.store)
  const store = connectStore(database.endpoint)
  const { port } = silent.address() as AddressInfo
  const hanging = connectStore({ ...database.endpoint, url: `http://127.0.0.1:${port}` })
  Object.assign(store.reader, hanging.reader)
  const service = await startTestService({
    store,
    now: () => new Date(),
    env: { MAX_QUERIES: '2', MAX_QUERIES_PER_KEY: '1', QUERY_TIMEOUT_MS: '60000' },
  })
  const issue = async (): Promise<string> => {
    const { id: projectId } = await newProject(database.store)
    return keys.issue(projectId, new Date())
  }
  const get = (key: string): Promise<Response> =>
    fetch(`${service.address}/v1/project`, { headers: { Authorization: `Bearer ${key}` } })

  const [first, second, third] = [await issue(), await issue(), await issue()]
  const codes: string[] = []
  const asked = [first, second, third].map(async (key) =>
    codes.push((await outcome(await get(key))).code),
  )
  await until(() => connections.length >= 2)
  expect([(await get(`${third}x`)).status, codes]).toEqual([401, []])
  silent.close()
  for (const connection of connections) connection.destroy()
  await Promise.all(asked)
  expect(new Set(codes)).toEqual(new Set(['SERVICE_UNAVAILABLE']))
  await service.stop()
  await Promise.all([store.close(), hanging.close(), database.drop(), keys.remove()])
})
