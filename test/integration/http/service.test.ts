/** The service with a real store: from an API key to the response. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { issueKey, revokeKey } from '../../../src/auth/api-keys.js'
import { connectStore } from '../../../src/clickhouse/store.js'
import { readConfig } from '../../../src/config/config.js'
import { createLogger } from '../../../src/lib/log.js'
import { createProject } from '../../../src/projects/store.js'
import { startService, type RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { toCluster } from '../../../src/cluster/cluster.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { until } from '../../support/until.js'
import { outcome } from './harness.js'

const NOW = new Date('2026-03-10T12:00:00.000Z')

let database: TestDatabase
let keys: TestKeys
let service: RunningService
let token: string
beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
  const fields = { id: 'shop', name: 'Shop', domain: 'shop.example', retentionDays: 90 }
  await createProject(database.store, fields, NOW)
  token = await newKey()
  service = await start()
})
afterAll(async () => {
  await service.stop()
  await database.drop()
  await keys.remove()
})

async function newKey(): Promise<string> {
  const request = { projectId: 'shop', name: '', expiresAt: null }
  const issued = await issueKey(database.store, keys.signingKey, request, NOW)
  return issued.token
}

const start = (env: NodeJS.ProcessEnv = {}, store = database.store): Promise<RunningService> =>
  startService({
    config: readConfig({ DATA_DIR: keys.dataDir, PORT: '0', NODE_ENV: 'test', ...env }),
    cluster: toCluster(store),
    logger: createLogger('silent'),
    now: () => NOW,
  })

const project = (authorization: string, { address } = service): Promise<Response> =>
  fetch(`${address}/v1/project`, { headers: { Authorization: authorization } })

const ask = (body: object, path = '/v1/analytics/query'): Promise<Response> =>
  fetch(`${service.address}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })

test('a key reads its project', async () => {
  const response = await project(`Bearer ${token}`)
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'application/json; charset=utf-8',
  ])
  expect(await response.json()).toMatchObject({ project: { id: 'shop', firstEventAt: null } })
})

test('in production, where the contract is compiled before the first request', async () => {
  const production = await start({ NODE_ENV: 'production' })
  const response = await project(`Bearer ${token}`, production)
  expect(await response.json()).toMatchObject({ project: { id: 'shop' } })
  await production.stop()
})

test.each<[env: NodeJS.ProcessEnv, statuses: readonly number[]]>([
  [{}, [200, 404]],
  [{ SCRIPT_NAME: 'hello.js' }, [200, 200]],
])('with %j, /tally.js and /hello.js get %j', async (env, statuses) => {
  const named = await start(env)
  const responses = ['/tally.js', '/hello.js'].map((path) => fetch(named.address + path))
  expect((await Promise.all(responses)).map(({ status }) => status)).toEqual(statuses)
  await named.stop()
})

test('a key runs a query', async () => {
  const response = await ask({ date_range: ['2026-03-01', '2026-03-09'], metrics: ['users'] })
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({
    period: { from: '2026-03-01T00:00:00Z', to: '2026-03-09T23:59:59Z' },
    data: [{ group: {}, metrics: { users: 0 } }],
  })
})

test('a key lists the values of a field', async () => {
  const body = { field: 'country', date_range: ['2026-03-01', '2026-03-09'] }
  const response = await ask(body, '/v1/analytics/values')
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({
    period: { from: '2026-03-01T00:00:00Z', to: '2026-03-09T23:59:59Z' },
    query: { ...body, search: '', limit: 100 },
    pagination: { limit: 100, offset: 0, returned: 0, total: 0 },
    data: [],
  })
})

test('a key asks for retention', async () => {
  const body = { interval: 'day', date_range: ['2026-03-09', '2026-03-10'] }
  const response = await ask(body, '/v1/analytics/retention')
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({
    period: { from: '2026-03-09T00:00:00Z', to: '2026-03-10T23:59:59Z' },
    query: { ...body, intervals: 1, filters: [], filtersOperator: 'and' },
    data: [
      { start: '2026-03-09T00:00:00Z', size: 0, counts: [0] },
      { start: '2026-03-10T00:00:00Z', size: 0, counts: [null] },
    ],
  })
})

test('a key asks for a funnel', async () => {
  const step = { filters: [] }
  const body = { date_range: ['2026-03-09', '2026-03-10'], steps: [step, step], within: 60 }
  const response = await ask(body, '/v1/analytics/funnel')
  expect(response.status).toBe(200)
  const filled = { ...step, filtersOperator: 'and' }
  const nobody = { users: 0, share_of_first: null, share_of_previous: null, median_seconds: null }
  expect(await response.json()).toEqual({
    period: { from: '2026-03-09T00:00:00Z', to: '2026-03-10T23:59:59Z' },
    query: { ...body, steps: [filled, filled], filters: [], filtersOperator: 'and' },
    data: [
      { step: 1, ...nobody },
      { step: 2, ...nobody },
    ],
  })
})

test('PLAN_LIMIT_EXCEEDED: the plan of the project keeps 90 days', async () => {
  const response = await ask({ date_range: '12months' })
  expect(await outcome(response)).toEqual({ status: 403, code: 'PLAN_LIMIT_EXCEEDED' })
})

test.each([
  ['', 401],
  ['Bearer', 401],
  ['Bearer ', 401],
  ['Bearer x', 401],
  ['Basic TOKEN', 401],
  ['TOKEN', 401],
  ['Bearer  TOKEN', 401],
  ['Bearer\tTOKEN', 401],
  ['Bearer TOKEN TOKEN', 401],
  ['Bearer TOKEN,TOKEN', 401],
  ['Bearer "TOKEN"', 401],
  ['Bearer TOKENx', 401],
  ['Bearer TOKEN=', 401],
  ['Bearer TOKEN.', 401],
  ['Token TOKEN', 401],
  ['Bearer TOKEN', 200],
  ['bearer TOKEN', 200],
  ['BEARER TOKEN', 200],
])('UNAUTHORIZED or not: "%s" is %d', async (authorization, status) => {
  const response = await project(authorization.replaceAll('TOKEN', token))
  expect(response.status).toBe(status)
  if (status === 401) expect(response.headers.get('www-authenticate')).toBe('Bearer')
})

test('UNAUTHORIZED: a key in use is refused after it was revoked', async () => {
  const revoked = await newKey()
  expect((await project(`Bearer ${revoked}`)).status).toBe(200)
  const [, payload = ''] = revoked.split('.')
  const { jti } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { jti: string }
  await revokeKey(database.store, jti, NOW)
  await until(async () => (await project(`Bearer ${revoked}`)).status === 401)
})

test('the lowest rate limit allows a first request', async () => {
  const strict = await start({ RATE_LIMIT: '1' })
  expect((await project(`Bearer ${token}`, strict)).status).toBe(200)
  expect((await project(`Bearer ${token}`, strict)).status).toBe(429)
  await strict.stop()
})

test('SERVICE_UNAVAILABLE: without the store neither keys nor queries work', async () => {
  const store = connectStore(database.endpoint)
  const lonely = await start({}, store)
  // Nothing listens at this address.
  const nowhere = connectStore({ ...database.endpoint, url: 'http://127.0.0.1:1' })
  Object.assign(store.reader, nowhere.reader)
  Object.assign(store.lookups, nowhere.lookups)
  const response = await project(`Bearer ${token}`, lonely)
  expect(response.headers.get('retry-after')).toBe('1')
  expect(await outcome(response)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' })
  expect((await fetch(`${lonely.address}/readyz`)).status).toBe(503)
  expect((await fetch(`${lonely.address}/livez`)).status).toBe(200)
  await lonely.stop()
  await Promise.all([store.close(), nowhere.close()])
})

test('QUERY_TIMEOUT: a query that exceeds its time limit', async () => {
  const hasty = await start({ QUERY_TIMEOUT_MS: '1' })
  const response = await project(`Bearer ${token}`, hasty)
  expect(await outcome(response)).toEqual({ status: 504, code: 'QUERY_TIMEOUT' })
  await hasty.stop()
})
