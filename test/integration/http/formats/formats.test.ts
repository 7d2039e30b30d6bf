/** Responses in every format, over HTTP: the numbers are those of the JSON. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RunningService } from '../../../../src/bootstrap/serving/start-service.js'
import {
  MEDIA_TYPES,
  TABLE_TYPES,
  type ResponseFormat,
  type TableFormat,
} from '../../../../src/contract/response-formats.js'
import type {
  AnalyticsQueryResponse,
  FunnelResponse,
  JourneysResponse,
  Period,
  RetentionResponse,
  ValuesResponse,
} from '../../../../src/contract/api.js'
import { readTable } from '../../../support/formats/read-table.js'
import { toExpectedTable } from '../../../support/formats/expected-table.js'
import { createDatabase, type TestDatabase } from '../../../support/store/database.js'
import { createKeys, type TestKeys } from '../../../support/world/keys.js'
import { startTestService } from '../../../support/world/service.js'
import { createWorld } from '../../../support/world/world.js'
import { outcome } from '../harness.js'

const NOW = new Date('2026-06-15T12:00:00Z')
const TABLES = Object.keys(MEDIA_TYPES).filter((name) => name !== 'json') as TableFormat[]
const CONTENT_TYPES: Readonly<Record<ResponseFormat, string>> = {
  ...MEDIA_TYPES,
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
}

let database: TestDatabase
let keys: TestKeys
let service: RunningService
let token: string

beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
  const paths = ['/', '/a,b', '/"quoted"', '/=1+1', '/line\nbreak', '/ü']
  const events = paths.flatMap((path, i) => [
    {
      timestamp: `2026-06-1${i % 4}T10:0${i}:00Z`,
      user_id: `u${i % 3}`,
      url: `https://example.com${encodeURI(path)}`,
      country: ['DE', 'FR', ''][i % 3],
    },
    {
      timestamp: `2026-06-1${i % 4}T10:0${i}:30Z`,
      user_id: `u${i % 3}`,
      name: 'signup',
      properties: { 'plan, "x"': path, ms: i / 10 },
    },
  ])
  const { id } = await createWorld(database.store, events)
  token = await keys.issue(id, NOW)
  service = await startTestService({
    store: database.store,
    env: { DATA_DIR: keys.dataDir },
    now: () => NOW,
  })
})
afterAll(async () => {
  await service.stop()
  await database.drop()
  await keys.remove()
})

const ask = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.address}/v1/analytics/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      ...headers,
    },
  })

const readBytes = async (response: Response): Promise<Uint8Array> =>
  new Uint8Array(await response.arrayBuffer())

type Cell = string | number | null
interface Answer {
  readonly period: Period
  readonly data: readonly unknown[]
}
interface Operation {
  readonly operation: string
  readonly body: object
  readonly names: readonly string[]
  readonly toRows: (data: Answer['data']) => readonly (readonly Cell[])[]
}

/** The operations beside the query, the columns of their tables, and the rows as the JSON has them. */
const OPERATIONS: readonly Operation[] = [
  {
    operation: 'values',
    body: { field: 'page:path' },
    names: ['value', 'pageviews', 'events'],
    toRows: (data) =>
      (data as ValuesResponse['data']).map((row) => [row.value, row.pageviews, row.events]),
  },
  {
    operation: 'retention',
    body: { interval: 'day', intervals: 4 },
    names: ['cohort', 'size', 'interval', 'users'],
    toRows: (data) =>
      (data as RetentionResponse['data']).flatMap(({ start, size, counts }): Cell[][] => [
        [start, size, 0, size],
        ...counts.map((users, i) => [start, size, i + 1, users]),
      ]),
  },
  {
    operation: 'funnel',
    body: {
      steps: [
        { filters: [] },
        { filters: [{ type: 'page', path: { operator: 'eq', value: '/' } }] },
      ],
      within: 86_400,
    },
    names: ['step', 'users', 'share_of_first', 'share_of_previous', 'median_seconds'],
    toRows: (data) =>
      (data as FunnelResponse['data']).map((row) => [
        row.step,
        row.users,
        row.share_of_first,
        row.share_of_previous,
        row.median_seconds,
      ]),
  },
  {
    operation: 'journeys',
    body: { from: { filters: [] }, kinds: ['page', 'event'], limit: 2 },
    names: ['step', 'kind', 'value', 'visits', 'users', 'share_of_visits'],
    toRows: (data) =>
      (data as JourneysResponse['data']).map((row) => [
        row.step,
        row.kind,
        row.value,
        row.visits,
        row.users,
        row.share_of_visits,
      ]),
  },
]

/** Asks until the answer is the known one: on a busy machine the store may say too late that nothing changed. */
async function askUntilKnown(body: object, type: string): Promise<Response> {
  const response = await ask('query', body, { Accept: type })
  return response.headers.get('tally-cache') === 'hit' ? response : askUntilKnown(body, type)
}

describe.each(TABLES)('%s', (format) => {
  test.each([
    { what: 'a total', body: {} },
    {
      what: 'a breakdown with nulls in any order',
      body: { group_by: ['event:name'], metrics: ['bounce_rate', 'users', 'visits'] },
    },
    { what: 'a breakdown by page', body: { group_by: ['page:path'], metrics: ['pageviews'] } },
    {
      what: 'numbers, compared',
      body: {
        group_by: ['country'],
        metrics: [
          { metric: 'sum', of: 'event:prop:ms', as: 'total' },
          { metric: 'p95', of: 'event:prop:ms', as: 'slow' },
          { metric: 'count', of: 'event:prop:ms', as: 'timed' },
        ],
        compare: 'previous_period',
        include: { totals: true, lost: true },
      },
    },
    { what: 'a property', body: { group_by: ['event:prop:plan, "x"'], metrics: ['events'] } },
    {
      what: 'a series in a zone, with totals',
      body: {
        group_by: ['interval:day'],
        time_zone: 'Asia/Kathmandu',
        metrics: ['users', 'views_per_visit', 'visit_duration'],
        include: { totals: true },
      },
    },
    { what: 'a page', body: { group_by: ['country'], limit: 1, offset: 1 } },
    { what: 'a page without rows', body: { group_by: ['country'], limit: 1, offset: 100 } },
  ])('$what', async ({ body }) => {
    const asked = { date_range: ['2026-06-10', '2026-06-14'], ...body }
    const json = (await (await ask('query', asked)).json()) as AnalyticsQueryResponse
    const response = await askUntilKnown(asked, MEDIA_TYPES[format])
    const bytes = await readBytes(response)
    expect(await readTable(format, bytes)).toEqual(toExpectedTable(format, json))
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': CONTENT_TYPES[format],
      'content-length': String(bytes.length),
      vary: 'Accept',
      'tally-period': `${json.period.from}/${json.period.to}`,
      'tally-total': String(json.pagination.total),
      'tally-limit': String(json.pagination.limit),
      'tally-offset': String(json.pagination.offset),
    })
    const totals = json.totals === undefined ? null : JSON.stringify(json.totals)
    expect(response.headers.get('tally-totals')).toBe(totals)
  })

  test.each(OPERATIONS)('$operation', async ({ operation, body, names, toRows }) => {
    const asked = { date_range: ['2026-06-10', '2026-06-14'], ...body }
    const json = (await (await ask(operation, asked)).json()) as Answer
    const response = await ask(operation, asked, { Accept: MEDIA_TYPES[format] })
    const bytes = await readBytes(response)
    const table = await readTable(format, bytes)
    const want = toRows(json.data)
    const write = (cell: Cell): Cell => (format === 'csv' && cell !== null ? String(cell) : cell)
    expect([table.names, table.rows]).toEqual([
      names,
      want.map((cells) => Object.fromEntries(cells.map((cell, i) => [names[i]!, write(cell)]))),
    ])
    expect(want.length).toBeGreaterThan(1)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': CONTENT_TYPES[format],
      'content-length': String(bytes.length),
      vary: 'Accept',
      'tally-period': `${json.period.from}/${json.period.to}`,
      'tally-total': String(want.length),
    })
  })

  test('an error is JSON', async () => {
    const response = await ask('query', { date_range: 'never' }, { Accept: MEDIA_TYPES[format] })
    expect(response.headers.get('content-type')).toBe(CONTENT_TYPES.json)
    expect(await outcome(response)).toEqual({ status: 400, code: 'VALIDATION_ERROR' })
  })
})

describe('Accept', () => {
  test.each<readonly [string | undefined, ResponseFormat]>([
    [undefined, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['application/*', 'json'],
    ['text/*', 'csv'],
    ['text/html, */*;q=0.1', 'json'],
    ['application/json; charset=utf-8', 'json'],
    ['application/json;odata=verbose;q=0.5, text/csv;q=0.4', 'json'],
    ['application/json;q=0.4, text/csv;header="a,b";q=0.5', 'csv'],
    ['TEXT/CSV', 'csv'],
    ['application/json;q=0, */*', 'csv'],
    ['application/x-ndjson', 'ndjson'],
    ['application/vnd.apache.parquet, application/vnd.apache.arrow.stream', 'parquet'],
  ])('%j: %s', async (accept, format) => {
    const headers = accept === undefined ? {} : { Accept: accept }
    const response = await ask('query', { date_range: 'today' }, headers)
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      CONTENT_TYPES[format],
    ])
  })

  test.each(['text/html', 'application/json;q=0', 'application/vnd.apache.arrow.file, image/*'])(
    '%j: NOT_ACCEPTABLE with the list',
    async (accept) => {
      for (const path of ['query', ...OPERATIONS.map(({ operation }) => operation)]) {
        const response = await ask(path, { date_range: 'today' }, { Accept: accept })
        expect([response.status, await response.json()]).toEqual([
          406,
          {
            error: {
              code: 'NOT_ACCEPTABLE',
              message: `Accept allows none of the formats: ${['application/json', ...TABLE_TYPES].join(', ')}.`,
              docs: '/docs/errors#not_acceptable',
            },
          },
        ])
      }
    },
  )
})

test.each([
  ['batch', 'application/json, application/x-ndjson'],
  ['explain', 'application/json'],
  ['retention/explain', 'application/json'],
  ['funnel/explain', 'application/json'],
  ['journeys/explain', 'application/json'],
])('%s has no tables', async (path, formats) => {
  const response = await ask(path, {}, { Accept: 'text/csv' })
  expect([response.status, await response.json()]).toEqual([
    406,
    {
      error: {
        code: 'NOT_ACCEPTABLE',
        message: `Accept allows none of the formats: ${formats}.`,
        docs: '/docs/errors#not_acceptable',
      },
    },
  ])
  expect(await outcome(await ask(path, {}, { Accept: 'text/csv, */*;q=0.1' }))).toEqual({
    status: 400,
    code: 'VALIDATION_ERROR',
  })
})

test('the project is JSON, whatever Accept says', async () => {
  const response = await fetch(`${service.address}/v1/project`, {
    headers: { Authorization: `Bearer ${token}`, Accept: 'text/csv' },
  })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, CONTENT_TYPES.json])
})

test('each format has an entity tag of its own, which is the same the next time', async () => {
  const body = { date_range: ['2026-06-10', '2026-06-14'], group_by: ['country'] }
  const types = Object.values(MEDIA_TYPES)
  const tags = await Promise.all(
    types.map(async (type) => (await ask('query', body, { Accept: type })).headers.get('etag')),
  )
  expect(new Set(tags).size).toBe(types.length)
  for (const [i, type] of types.entries()) {
    const again = { Accept: type, 'If-None-Match': tags[i]! }
    expect((await ask('query', body, again)).status).toBe(304)
    const other = { Accept: types.at(i - 1)!, 'If-None-Match': tags[i]! }
    expect((await ask('query', body, other)).status).toBe(200)
  }
})
