/** Exports over HTTP: scopes of keys, formats, errors, and streams that break off visibly. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { issueKey } from '../../../../src/auth/api-keys.js'
import type { RunningService } from '../../../../src/bootstrap/serving/start-service.js'
import { sql, statement } from '../../../../src/clickhouse/sql.js'
import { MEDIA_TYPES, type TableFormat } from '../../../../src/contract/response-formats.js'
import type { ExportResponse } from '../../../../src/contract/api.js'
import type { Scope } from '../../../../src/contract/scopes.js'
import type { ByteProxy } from '../../../support/faults/byte-proxy.js'
import {
  startHarmedService,
  type ChangeRows,
  type HarmedService,
} from '../../../support/faults/harmed-store.js'
import { readTable } from '../../../support/formats/read-table.js'
import { createDatabase, type TestDatabase } from '../../../support/store/database.js'
import { createKeys, type TestKeys } from '../../../support/world/keys.js'
import { createWorld, newProject, send, type SentEvent } from '../../../support/world/world.js'
import { outcome } from '../harness.js'

const NOW = new Date('2026-06-15T12:00:00Z')
/** Enough for the rows to come in several parts. */
const EVENTS = 12_000
const DAY = { date_range: ['2026-06-14', '2026-06-14'] }
const EXPORT = '/v1/events/export'
const QUERY = '/v1/analytics/query'
const TABLES = Object.keys(MEDIA_TYPES).filter((name) => name !== 'json') as TableFormat[]

let database: TestDatabase
let keys: TestKeys
let harmed: HarmedService
let proxy: ByteProxy
let service: RunningService
let project: string
/** Keys of the project, by their scopes. */
const tokens = new Map<string, string>()

/** What is done with the rows of a stream on their way to the service. */
let change: ChangeRows | undefined

const createEvent = (i: number): SentEvent => ({
  timestamp: `2026-06-14T10:00:${String(i % 60).padStart(2, '0')}.${String(i % 1000).padStart(3, '0')}Z`,
  user_id: `u${i % 500}`,
  name: i % 3 === 0 ? 'sign, "up"\n' : 'pageview',
  url: `https://example.com/${'p'.repeat(40)}/${i}`,
  properties: i % 2 === 0 ? {} : { plan: 'pro', amount: i, 'ü"': '=1' },
})

beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
  const events = Array.from({ length: EVENTS }, (_, i) => createEvent(i))
  ;({ id: project } = await createWorld(database.store, events, { retentionDays: 30 }))
  for (const scopes of [['read'], ['export'], ['read', 'export']] as const) {
    tokens.set(scopes.join(), await issue(scopes))
  }
  harmed = await startHarmedService(database, {
    dataDir: keys.dataDir,
    now: NOW,
    // Those of counts are few, and stay.
    changeRows: (rows, batch) =>
      rows.some((row) => 'start' in row) ? rows : (change?.(rows, batch) ?? rows),
  })
  ;({ service, proxy } = harmed)
})
afterEach(() => {
  proxy.set()
  change = undefined
})
afterAll(async () => {
  await harmed.stop()
  await database.drop()
  await keys.remove()
})

async function issue(scopes: readonly Scope[]): Promise<string> {
  const request = { projectId: project, name: '', scopes, expiresAt: null }
  return (await issueKey(database.store, keys.signingKey, request, NOW)).token
}

interface Asked {
  readonly path?: string
  readonly accept?: string
  readonly token?: string | undefined
  readonly signal?: AbortSignal
}

const ask = (
  body: object,
  { path = EXPORT, accept, token = tokens.get('export'), signal }: Asked = {},
): Promise<Response> =>
  fetch(service.address + path, {
    method: path === '/v1/project' ? 'GET' : 'POST',
    ...(path === '/v1/project' ? {} : { body: JSON.stringify(body) }),
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      ...(accept === undefined ? {} : { Accept: accept }),
    },
    ...(signal === undefined ? {} : { signal }),
  })

const READS = [
  QUERY,
  '/v1/analytics/values',
  '/v1/analytics/retention',
  '/v1/analytics/funnel',
  '/v1/analytics/explain',
  '/v1/analytics/batch',
  '/v1/project',
]
test.each<{ scopes: string; path: string; allowed: boolean }>([
  ...READS.map((path) => ({ scopes: 'read', path, allowed: true })),
  { scopes: 'read', path: EXPORT, allowed: false },
  ...READS.map((path) => ({ scopes: 'export', path, allowed: false })),
  { scopes: 'export', path: EXPORT, allowed: true },
  ...[...READS, EXPORT].map((path) => ({ scopes: 'read,export', path, allowed: true })),
])('a key with $scopes, $path: $allowed', async ({ scopes, path, allowed }) => {
  const token = tokens.get(scopes)!
  const response = await ask({}, { path, token })
  const text = await response.text()
  if (allowed) {
    // The body is not valid: what comes after the key is looked at.
    expect(response.status).toBe(path === '/v1/project' ? 200 : 400)
    return
  }
  const needed = path === EXPORT ? 'export' : 'read'
  expect([response.status, JSON.parse(text)]).toEqual([
    403,
    {
      error: {
        code: 'INSUFFICIENT_SCOPE',
        message: `This operation needs an API key with the scope ${needed}. This key has: ${scopes}.`,
        docs: '/docs/errors#insufficient_scope',
      },
    },
  ])
  expect(text).not.toContain(token.split('.')[2])
})

const readJson = async (body: object): Promise<ExportResponse> =>
  (await (await ask(body)).json()) as ExportResponse

test('all events in every format', async () => {
  const { period, query, data } = await readJson(DAY)
  expect(period).toEqual({ from: '2026-06-14T00:00:00Z', to: '2026-06-14T23:59:59Z' })
  expect(query).toMatchObject({ ...DAY, filters: [], filtersOperator: 'and' })
  expect(data).toHaveLength(EVENTS)
  expect(data[0]).toEqual({
    timestamp: '2026-06-14T10:00:00.000Z',
    name: 'sign, "up"\n',
    user_id: 'u0',
    anonymous: false,
    session_id: expect.stringMatching(/^session-[0-9a-f]{16}$/),
    origin: 'https://example.com',
    path: expect.stringMatching(/^\/p{40}\/\d+$/),
    hash: '',
    ...{ country: '', region: '', city: '', browser: '', device_type: '', os: '', language: '' },
    ...{ referrer: '', referrer_url: '', referrer_type: 'direct' },
    ...{ utm_source: '', utm_medium: '', utm_campaign: '', utm_content: '', utm_term: '' },
    properties: {},
  })
  expect(data.map(({ path }) => Number(path!.split('/').at(-1))).sort((a, b) => a - b)).toEqual(
    Array.from({ length: EVENTS }, (_, i) => i),
  )
  expect(data.find(({ path }) => path!.endsWith('/3'))).toMatchObject({
    name: 'sign, "up"\n',
    properties: { plan: 'pro', amount: '3', 'ü"': '=1' },
  })
  for (const format of TABLES) {
    const response = await ask(DAY, { accept: MEDIA_TYPES[format] })
    expect(response.headers.get('tally-period')).toBe(`${period.from}/${period.to}`)
    const { names, rows } = await readTable(format, new Uint8Array(await response.arrayBuffer()))
    expect(names).toEqual(query.fields)
    const want = format === 'ndjson' ? data : data.map((row) => toCells(row, format))
    expect(rows).toEqual(want)
  }
})

const toCells = (row: ExportResponse['data'][number], format: TableFormat): object => ({
  ...row,
  anonymous: format === 'csv' ? String(row.anonymous) : row.anonymous,
  properties: JSON.stringify(row.properties),
})

test('as many events as a query counts, and the first of them', async () => {
  const filters = [{ type: 'page', path: { operator: 'endsWith', value: '7' } }]
  const token = tokens.get('read')
  const body = { ...DAY, filters, metrics: ['pageviews', 'events'] }
  const counted = (await (await ask(body, { path: QUERY, token })).json()) as {
    data: [{ metrics: { pageviews: number; events: number } }]
  }
  const { pageviews, events } = counted.data[0].metrics
  const { data } = await readJson({ ...DAY, filters, fields: ['path'] })
  expect(data).toHaveLength(pageviews + events)
  const first = await readJson({ ...DAY, filters, fields: ['path'], limit: 3 })
  expect(first.data).toEqual(data.slice(0, 3))
})

test('an export can be imported: its numbers are the same', async () => {
  const text = await (await ask(DAY, { accept: MEDIA_TYPES.ndjson })).text()
  const copy = await newProject(database.store)
  const lines = text.split('\n').slice(0, -1)
  await send(
    database.store,
    copy,
    lines.map((line) => JSON.parse(line) as SentEvent),
  )
  const body = {
    ...DAY,
    metrics: ['users', 'visits', 'pageviews', 'events', 'bounce_rate', 'visit_duration'],
    group_by: ['interval:hour'],
  }
  const [one, other] = await Promise.all(
    [tokens.get('read'), await keys.issue(copy.id, NOW)].map(async (token) =>
      (await ask(body, { path: QUERY, token })).json(),
    ),
  )
  expect(other).toEqual(one)
})

test('no events: tables without rows', async () => {
  const body = { date_range: ['2026-06-01', '2026-06-02'], fields: ['timestamp', 'path'] }
  expect((await readJson(body)).data).toEqual([])
  expect(await (await ask(body, { accept: 'text/csv' })).text()).toBe('timestamp,path\r\n')
})

test.each([
  {
    what: 'a period before the retention',
    body: { date_range: ['2026-01-01', '2026-06-14'] },
    want: { status: 403, code: 'PLAN_LIMIT_EXCEEDED' },
  },
  {
    what: 'an invalid body',
    body: { ...DAY, fields: ['ip'] },
    want: { status: 400, code: 'VALIDATION_ERROR' },
  },
  {
    what: 'a pattern that the store refuses',
    body: {
      ...DAY,
      filters: [{ type: 'entry_page', operator: 'matches', value: '(((a{100}){100}){100})' }],
    },
    want: { status: 400, code: 'VALIDATION_ERROR' },
  },
])('an error is JSON: $what', async ({ body, want }) => {
  expect(await outcome(await ask(body, { accept: 'text/csv' }))).toEqual(want)
})

test('INTERNAL_ERROR: events of another project before the first byte', async () => {
  change = (rows) => rows.map((row) => ({ ...row, of_project: 'other' }))
  expect(await outcome(await ask(DAY, { accept: 'text/csv' }))).toEqual({
    status: 500,
    code: 'INTERNAL_ERROR',
  })
})

test.each<{ what: string; harm: typeof change }>([
  {
    what: 'events of another project',
    harm: (rows, batch) =>
      batch === 0 ? rows : rows.map((row) => ({ ...row, of_project: 'other' })),
  },
  { what: 'missing events', harm: (rows, batch) => (batch === 0 ? rows : rows.slice(1)) },
  {
    what: 'events that come twice',
    harm: (rows, batch) => (batch === 0 ? rows : [...rows, rows[0]!]),
  },
])('the connection breaks: $what', async ({ harm }) => {
  change = harm
  for (const accept of [MEDIA_TYPES.json, MEDIA_TYPES.csv, MEDIA_TYPES.ndjson]) {
    const response = await ask(DAY, { accept })
    expect(response.status).toBe(200)
    await expect(response.arrayBuffer()).rejects.toThrow('terminated')
  }
})

test.each(['cut', 'reset', 'drop'] as const)(
  'the connection breaks when that to the store does: %s',
  async (harm) => {
    await (await ask(DAY, { accept: 'text/csv' })).text()
    proxy.set({ harm, direction: 'response', after: 1_000_000, isOnce: true })
    const response = await ask(DAY, { accept: 'text/csv' })
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
  },
)

test('a third export of a project waits; a client that leaves ends its statement', async () => {
  const counting = statement(
    sql`SELECT count() AS n FROM system.processes WHERE query LIKE '%AS own%' AND query NOT LIKE '%processes%'`,
  )
  const countRunning = async (): Promise<number> =>
    Number((await database.store.admin.query<{ n: number }>(counting)).rows[0]?.n)
  proxy.set({ harm: 'slow', direction: 'response', after: 200_000 })
  const leaving = new AbortController()
  const running = await Promise.all(
    [1, 2].map(() => ask(DAY, { accept: 'text/csv', signal: leaving.signal })),
  )
  expect(running.map(({ status }) => status)).toEqual([200, 200])
  const waiting = ask({ ...DAY, fields: ['path'] })
  expect((await ask(DAY, { path: QUERY, token: tokens.get('read') })).status).toBe(200)
  leaving.abort()
  proxy.set()
  for (const response of running) await expect(response.text()).rejects.toThrow()
  const next = await waiting
  expect(((await next.json()) as ExportResponse).data).toHaveLength(EVENTS)
  while ((await countRunning()) > 0) await sleep(50)
})
