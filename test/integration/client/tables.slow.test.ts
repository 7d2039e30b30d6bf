/** The package `@tallyhouse/client` reads tables: in all formats, all rows, as streams, objects and files. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { tableFromIPC } from 'apache-arrow'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import {
  createTallyhouse,
  type Result,
  type TableFormat,
  type TableRequests,
} from '../../../clients/typescript/src/index.js'
import { isAnswered, OPERATIONS } from '../../../src/analytics/operations/list.js'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { MEDIA_TYPES } from '../../../src/contract/response-formats.js'
import { getExampleBody } from '../../contract/document.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { startTestService } from '../../support/world/service.js'
import { createWorld } from '../../support/world/world.js'

const NOW = new Date('2026-06-15T12:00:00Z')
const DAY = ['2026-06-14', '2026-06-14'] as const
const PERIOD = { from: '2026-06-14T00:00:00Z', to: '2026-06-14T23:59:59Z' }
const FORMATS: readonly TableFormat[] = ['csv', 'ndjson', 'arrow', 'parquet']
/** More than a page has. */
const PATHS = 1_200

let database: TestDatabase
let keys: TestKeys
let service: RunningService
let apiKey: string
let folder: string

beforeAll(async () => {
  database = await createDatabase()
  const { store } = database
  keys = await createKeys(store)
  const project = await createWorld(
    store,
    Array.from({ length: PATHS }, (_, i) => ({
      timestamp: new Date(Date.parse('2026-06-14T10:00:00Z') + i * 1_000).toISOString(),
      user_id: `u${i % 7}`,
      path: `/${String(i).padStart(4, '0')}`,
      country: i % 3 === 0 ? 'DE' : 'FR',
      properties: { plan: 'pro' },
    })),
  )
  apiKey = await keys.issue(project.id, NOW)
  service = await startTestService({ store, now: () => NOW })
})
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-tables-'))
})
afterEach(() => rm(folder, { recursive: true }))
afterAll(async () => {
  await service.stop()
  await keys.remove()
  await database.drop()
})

const connect = (options: object = {}) =>
  createTallyhouse({ url: service.address, apiKey, ...options })

function unwrap<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.error.message)
  return result.data
}

/** Returns the body that the service sends. */
async function download(operation: string, format: TableFormat, body: object): Promise<Buffer> {
  const response = await fetch(`${service.address}/v1/analytics/${operation}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${apiKey}`,
      'Content-Type': 'application/json',
      Accept: MEDIA_TYPES[format],
    },
    body: JSON.stringify(body),
  })
  return Buffer.from(await response.arrayBuffer())
}

const BY_PATH = { date_range: DAY, metrics: ['users', 'visits'], group_by: ['page:path'] } as const
const BODIES: TableRequests = {
  ...(Object.fromEntries(
    OPERATIONS.filter(isAnswered).map(({ name, path }) => [
      name,
      { ...getExampleBody(path), date_range: DAY },
    ]),
  ) as unknown as TableRequests),
  query: BY_PATH,
  values: { field: 'page:path', date_range: DAY },
}
/** What the body has if it does not say how many rows. */
const LIMITS: Partial<Record<keyof TableRequests, object>> = {
  query: { limit: 'all' },
  values: { limit: 1_000 },
}
const CASES = (Object.keys(BODIES) as (keyof TableRequests)[]).flatMap((operation) =>
  FORMATS.map((format) => [operation, format] as const),
)

test.each(CASES)('%s as %s: the bytes of the service', async (operation, format) => {
  const body = BODIES[operation]
  const want = await download(operation, format, { ...body, ...LIMITS[operation] })
  const { stream, ...info } = unwrap(await connect().table(body, { operation, format }))
  expect((await buffer(stream)).equals(want)).toBe(true)
  expect(info).toMatchObject({ period: PERIOD, ...LIMITS[operation] })

  const file = path.join(folder, `table.${format}`)
  expect(unwrap(await connect().tableToFile(body, file, { operation }))).toEqual(info)
  expect((await readFile(file)).equals(want)).toBe(true)
  expect(await readdir(folder)).toEqual([`table.${format}`])
})

test('what the service says beside the rows', async () => {
  const compared = {
    ...BY_PATH,
    group_by: ['country'],
    compare: 'previous_period',
    include: { totals: true },
    limit: 1,
    offset: 1,
  } as const
  const { stream, ...info } = unwrap(await connect().table(compared))
  await stream.cancel()
  const { comparison, totals } = unwrap(await connect().query(compared))
  expect(info).toEqual({ period: PERIOD, total: 2, limit: 1, offset: 1, comparison, totals })
})

test('all rows of a query, as they arrive, are those of its pages', async () => {
  const rows: object[] = []
  for await (const part of connect().rows(BY_PATH)) rows.push(...unwrap(part))
  const paged = unwrap(await connect().allRows(BY_PATH))
  expect(rows).toEqual(paged.map(({ group, metrics }) => ({ ...group, ...metrics })))
  expect(rows).toHaveLength(PATHS)
  expect(await connect().allRows({ ...BY_PATH, limit: 'all' })).toEqual({ ok: true, data: paged })
})

test('a row has the columns of its type', async () => {
  for await (const part of connect().rows({
    date_range: DAY,
    metrics: ['users', 'bounce_rate'],
    group_by: ['interval:day'],
    then_by: [{ property: 'plan' }],
    compare: 'previous_period',
  })) {
    const [row] = unwrap(part)
    const numbers = {
      users: 7,
      bounce_rate: row!.bounce_rate,
      comparison_users: 0,
      comparison_bounce_rate: null,
      comparison_change_users: row!.comparison_change_users,
      comparison_change_bounce_rate: null,
    }
    expect(row).toEqual({ date: row!.date, 'event:prop:plan': 'pro', ...numbers })
  }
})

test('Arrow is read by its library', async () => {
  const { stream } = unwrap(await connect().table(BY_PATH, { format: 'arrow' }))
  const table = await tableFromIPC(stream)
  expect(table.numRows).toBe(PATHS)
  expect(table.schema.names).toEqual(['page:path', 'users', 'visits'])
})

test('a refused table is an error', async () => {
  const client = connect({ apiKey: 'none' })
  const parts = []
  for await (const part of client.rows(BY_PATH)) parts.push(part)
  const file = path.join(folder, 'table.csv')
  const results = [await client.table(BY_PATH), await client.tableToFile(BY_PATH, file), ...parts]
  const error = { status: 401, code: 'UNAUTHORIZED' }
  expect(results).toMatchObject(Array(3).fill({ ok: false, error }))
  await expect(client.tableToFile(BY_PATH, `${file}.json`)).rejects.toThrow(TypeError)
  expect(await readdir(folder)).toEqual([])
})
