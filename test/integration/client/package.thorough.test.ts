/** The package `@tallyhouse/client`: it is built, loaded as both kinds of module, and asks a running service. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { createTallyhouse } from '../../../clients/typescript/src/index.js'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { startTestService } from '../../support/world/service.js'
import { createWorld } from '../../support/world/world.js'

const run = promisify(execFile)
let database: TestDatabase
let keys: TestKeys
let service: RunningService
let apiKey: string
let clock = Date.parse('2026-06-15T12:00:00Z')

beforeAll(async () => {
  database = await createDatabase()
  const { store } = database
  keys = await createKeys(store)
  const project = await createWorld(
    store,
    Array.from({ length: 7 }, (_, i) => ({
      timestamp: '2026-06-15T10:00:00Z',
      user_id: `u${i}`,
      path: `/${i}`,
    })),
  )
  apiKey = await keys.issue(project.id, new Date(clock))
  service = await startTestService({ store, now: () => new Date((clock += 1_000)) })
})
afterAll(async () => {
  await service.stop()
  await keys.remove()
  await database.drop()
})

const connect = (options: object = {}) =>
  createTallyhouse({ url: `${service.address}/`, apiKey, ...options })
const BY_PATH = { date_range: 'today', metrics: ['users'], group_by: ['page:path'] } as const

test('each operation is answered', async () => {
  const client = connect()
  const queried = await client.query({ ...BY_PATH, limit: 1 })
  expect(queried).toMatchObject({ ok: true, data: { pagination: { total: 7, returned: 1 } } })
  const values = await client.values({ field: 'page:path', date_range: 'today', limit: 1 })
  expect(values).toMatchObject({ ok: true, data: { data: [{ value: '/0', pageviews: 1 }] } })
  const batch = await client.batch({ queries: [{ id: 'a', operation: 'query', body: BY_PATH }] })
  expect(batch).toMatchObject({ ok: true, data: { results: [{ id: 'a', status: 200 }] } })
  const explained = await client.explain(BY_PATH)
  expect(explained).toMatchObject({ ok: true, data: { shards: 1 } })
  const cohorts = { interval: 'day', date_range: 'today' } as const
  expect(await client.retention(cohorts)).toMatchObject({ ok: true, data: { data: [{ size: 7 }] } })
  const explains = { ok: true, data: { shards: 1, query: { date_range: 'today' } } }
  expect(await client.explainRetention(cohorts)).toMatchObject(explains)
  const path = (value: string) => [{ type: 'page', path: { value, operator: 'eq' } }] as const
  const steps = {
    date_range: 'today',
    steps: [{ filters: path('/0') }, { filters: path('/1') }],
  } as const
  const funnel = await client.funnel(steps)
  expect(funnel).toMatchObject({ ok: true, data: { data: [{ users: 1 }, { users: 0 }] } })
  expect(await client.explainFunnel(steps)).toMatchObject(explains)
  expect(await client.project()).toMatchObject({ ok: true, data: { domain: 'example.com' } })
})

test('all pages have the period of the first', async () => {
  const periods = new Set<string>()
  const rows: unknown[] = []
  for await (const page of connect().pages({ ...BY_PATH, limit: 3 })) {
    if (!page.ok) throw new Error(page.error.message)
    periods.add(JSON.stringify(page.data.period))
    rows.push(...page.data.data.map(({ group }) => group['page:path']))
  }
  expect([periods.size, rows]).toEqual([1, ['/0', '/1', '/2', '/3', '/4', '/5', '/6']])
  const all = await connect().allRows({ ...BY_PATH, limit: 2, offset: 4 })
  expect(all).toMatchObject({ ok: true, data: [{}, {}, {}] })
})

test('errors are values, also on a later page', async () => {
  const invalid = await connect().query({ date_range: ['2026-01-02', '2026-01-01'] })
  expect(invalid).toEqual({
    ok: false,
    error: {
      status: 400,
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('date_range'),
      details: [{ field: 'date_range', message: 'must not start after its end' }],
      requestId: expect.any(String),
      docs: '/docs/errors#validation_error',
    },
  })
  expect(await connect({ apiKey: 'th_none' }).project()).toMatchObject({
    ok: false,
    error: { status: 401, code: 'UNAUTHORIZED' },
  })
  expect(await connect({ url: 'http://127.0.0.1:1', retries: 0 }).project()).toMatchObject({
    ok: false,
    error: { status: 0, code: 'NO_RESPONSE' },
  })
  let sent = 0
  const failing = connect({
    retries: 0,
    fetch: (request: Request) => (++sent === 2 ? Promise.reject(new Error('cut')) : fetch(request)),
  })
  expect(await failing.allRows({ ...BY_PATH, limit: 3 })).toMatchObject({
    ok: false,
    error: { code: 'NO_RESPONSE', message: 'cut' },
  })
})

describe('the built package', () => {
  let folder: string
  beforeAll(async () => {
    // Beside node_modules, so that imports are resolved.
    folder = await mkdtemp(packagePath('clients/typescript/dist-'))
    await run('node', [packagePath('clients/typescript/build.mjs'), folder])
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test.each([
    ['an ES module', 'mjs', "import { createTallyhouse } from './index.js'"],
    ['CommonJS', 'cjs', "const { createTallyhouse } = require('./index.cjs')"],
  ])('runs as %s', async (_, extension, load) => {
    const file = path.join(folder, `sample.${extension}`)
    await writeFile(
      file,
      `${load}
       const client = createTallyhouse({ url: ${JSON.stringify(service.address)}, apiKey: process.env.KEY })
       client.project().then(({ data }) => console.log(data.domain))`,
    )
    const { stdout } = await run('node', [file], {
      env: { ...process.env, NODE_OPTIONS: '', KEY: apiKey },
    })
    expect(stdout.trim()).toBe('example.com')
  })

  test('its types are those of the contract', async () => {
    const contract = await readFile(packagePath('generated/openapi.d.ts'), 'utf8')
    expect(await readFile(path.join(folder, 'openapi.d.ts'), 'utf8')).toBe(contract)
    expect(await readFile(path.join(folder, 'openapi.d.cts'), 'utf8')).toBe(contract)
    const names = await readFile(path.join(folder, 'contract.d.cts'), 'utf8')
    expect(names).toContain("from './openapi.cjs'")
  })
})
