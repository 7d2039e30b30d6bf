/** Responses of any length: they stream, and break off visibly. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, statement } from '../../../../src/clickhouse/sql.js'
import type { RunningService } from '../../../../src/bootstrap/serving/start-service.js'
import type { AnalyticsQueryResponse, Row } from '../../../../src/contract/api.js'
import { MEDIA_TYPES, type TableFormat } from '../../../../src/contract/response-formats.js'
import type { ByteProxy } from '../../../support/faults/byte-proxy.js'
import {
  startHarmedService,
  type ChangeRows,
  type HarmedService,
} from '../../../support/faults/harmed-store.js'
import { toExpectedTable } from '../../../support/formats/expected-table.js'
import { readTable } from '../../../support/formats/read-table.js'
import { createDatabase, type TestDatabase } from '../../../support/store/database.js'
import { createKeys, type TestKeys } from '../../../support/world/keys.js'
import { createWorld } from '../../../support/world/world.js'
import { outcome } from '../harness.js'

const NOW = new Date('2026-06-15T12:00:00Z')
/** Enough for the rows to come in several parts. */
const PAGES = 6_000
const BY_PAGE = {
  date_range: ['2026-06-14', '2026-06-14'],
  group_by: ['page:path'],
  metrics: ['users', 'pageviews', 'bounce_rate'],
  include: { totals: true },
}
const TABLES = Object.keys(MEDIA_TYPES).filter((name) => name !== 'json') as TableFormat[]

let database: TestDatabase
let keys: TestKeys
let harmed: HarmedService
let proxy: ByteProxy
let service: RunningService
let token: string

/** What is done with the rows of a stream on their way to the service. */
let change: ChangeRows | undefined

beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
  const events = Array.from({ length: PAGES }, (_, i) => ({
    timestamp: `2026-06-14T10:00:${String(i % 60).padStart(2, '0')}Z`,
    user_id: `u${i % 500}`,
    url: `https://example.com/${'p'.repeat(40)}/${i}`,
  }))
  const { id } = await createWorld(database.store, events, { retentionDays: 30 })
  token = await keys.issue(id, NOW)
  harmed = await startHarmedService(database, {
    dataDir: keys.dataDir,
    now: NOW,
    changeRows: (rows, batch) => change?.(rows, batch) ?? rows,
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

const ask = (body: object, accept?: string, signal?: AbortSignal): Promise<Response> =>
  fetch(`${service.address}/v1/analytics/query`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      ...(accept === undefined ? {} : { Accept: accept }),
    },
    ...(signal === undefined ? {} : { signal }),
  })

async function readPages(): Promise<AnalyticsQueryResponse> {
  const data: Row[] = []
  for (;;) {
    const body = { ...BY_PAGE, limit: 1000, offset: data.length }
    const page = (await (await ask(body)).json()) as AnalyticsQueryResponse
    data.push(...page.data)
    if (page.data.length < 1000 || data.length === page.pagination.total) return { ...page, data }
  }
}

test('all rows, in every format', async () => {
  const answer = await readPages()
  expect(answer.data).toHaveLength(PAGES)
  for (const format of TABLES) {
    const response = await ask({ ...BY_PAGE, limit: 'all' }, MEDIA_TYPES[format])
    const { headers } = response
    const read = await readTable(format, new Uint8Array(await response.arrayBuffer()))
    const expected = toExpectedTable(format, answer)
    const isTold = 'tally.limit' in expected.metadata
    expect(read).toEqual({
      ...expected,
      metadata: {
        ...expected.metadata,
        ...(isTold ? { 'tally.limit': 'all', 'tally.offset': '0' } : {}),
      },
    })
    expect([
      headers.get('tally-total'),
      headers.get('tally-limit'),
      headers.get('tally-totals'),
    ]).toEqual([String(PAGES), 'all', JSON.stringify(answer.totals)])
    expect([headers.get('content-length'), headers.get('etag')]).toEqual([null, null])
  }
})

test.each([
  { what: 'rows after an offset', body: { offset: PAGES - 2 }, rows: 2 },
  { what: 'no rows after the last one', body: { offset: PAGES + 2 }, rows: 0 },
])('$what', async ({ body, rows }) => {
  const response = await ask({ ...BY_PAGE, ...body, limit: 'all' }, MEDIA_TYPES.ndjson)
  expect((await response.text()).split('\n')).toHaveLength(rows + 1)
  expect(response.headers.get('tally-total')).toBe(String(PAGES))
  expect(response.headers.get('tally-totals')).toContain('"users":500')
})

test.each([
  { what: 'JSON', accept: undefined, body: {}, status: 400, code: 'VALIDATION_ERROR' },
  {
    what: 'a period before the retention',
    accept: 'text/csv',
    body: { date_range: ['2026-01-01', '2026-06-14'] },
    status: 403,
    code: 'PLAN_LIMIT_EXCEEDED',
  },
])('an error is JSON: $what', async ({ accept, body, status, code }) => {
  const response = await ask({ ...BY_PAGE, limit: 'all', ...body }, accept)
  expect(await outcome(response)).toEqual({ status, code })
})

test('an invalid limit', async () => {
  const { error } = (await (await ask({ ...BY_PAGE, limit: 'none' })).json()) as {
    error: { details: unknown }
  }
  expect(error.details).toEqual([
    { field: 'limit', message: 'must be an integer from 1 to 1000, or all' },
  ])
})

test('INTERNAL_ERROR: rows of another project before the first byte', async () => {
  change = (rows) => rows.map((row) => ({ ...row, of_project: 'other' }))
  const response = await ask({ ...BY_PAGE, limit: 'all' }, 'text/csv')
  expect(await outcome(response)).toEqual({ status: 500, code: 'INTERNAL_ERROR' })
})

test.each<{ what: string; harm: typeof change }>([
  {
    what: 'rows of another request',
    harm: (rows, batch) =>
      batch === 0 ? rows : rows.map((row) => ({ ...row, of_request: 'other' })),
  },
  { what: 'missing rows', harm: (rows, batch) => (batch === 0 ? rows : rows.slice(1)) },
  {
    what: 'rows that come twice',
    harm: (rows, batch) => (batch === 0 ? rows : [...rows, rows[0]!]),
  },
])('the connection breaks: $what', async ({ harm }) => {
  for (const format of TABLES) {
    change = harm
    const response = await ask({ ...BY_PAGE, limit: 'all' }, MEDIA_TYPES[format])
    if (format === 'csv' || format === 'ndjson') {
      expect(response.status).toBe(200)
      await expect(response.arrayBuffer()).rejects.toThrow('terminated')
    } else {
      // Its first bytes are those of 8,192 rows, so it has not begun.
      expect((await outcome(response)).status).toBeGreaterThanOrEqual(500)
    }
  }
})

// Rows have no checksum: a byte that is changed within a text or a report of the progress is left to TCP, and to TLS.
test.each(['cut', 'reset', 'drop'] as const)(
  'the connection breaks when that to the store does: %s',
  async (harm) => {
    // The proxy harms the first connection that comes so far: no other is under way.
    await (await ask({ ...BY_PAGE, limit: 'all' }, 'text/csv')).text()
    proxy.set({ harm, direction: 'response', after: 400_000, isOnce: true })
    const response = await ask({ ...BY_PAGE, limit: 'all' }, 'text/csv')
    expect(response.status).toBe(200)
    const text = await response.text().then(
      () => 'complete',
      () => 'broken',
    )
    expect(text).toBe('broken')
  },
)

test('a client that leaves ends the statement', async () => {
  const running = statement(
    sql`SELECT count() AS n FROM system.processes WHERE query LIKE '%row_count%' AND query NOT LIKE '%processes%'`,
  )
  const countRunning = async (): Promise<number> =>
    Number((await database.store.admin.query<{ n: number }>(running)).rows[0]?.n)
  proxy.set({ harm: 'slow', direction: 'response', after: 200_000 })
  const leaving = new AbortController()
  const response = await ask({ ...BY_PAGE, limit: 'all' }, 'text/csv', leaving.signal)
  expect(response.status).toBe(200)
  leaving.abort()
  await expect(response.text()).rejects.toThrow()
  while ((await countRunning()) > 0) await sleep(50)
  proxy.set()
  const again = await ask({ ...BY_PAGE, limit: 'all' }, 'text/csv')
  expect((await again.text()).split('\r\n')).toHaveLength(PAGES + 2)
})
