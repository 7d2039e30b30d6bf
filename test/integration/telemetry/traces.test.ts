/** Traces: a span for each request and, below it, one for each of its statements. */
import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  trace,
  type Context,
  type ContextManager,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { AsyncLocalStorage } from 'node:async_hooks'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { createQueryQueue } from '../../../src/http/query/queue/query-queue.js'
import { createProject } from '../../../src/projects/store.js'
import { connectTraces, type Traces } from '../../../src/telemetry/traces.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { until } from '../../support/until.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { startTestService } from '../../support/world/service.js'
import { CALLER, startApp } from '../http/harness.js'

const NOW = new Date('2026-03-10T12:00:00.000Z')

const active = new AsyncLocalStorage<Context>()
/** What an SDK for Node.js registers, too. */
const contexts: ContextManager = {
  active: () => active.getStore() ?? ROOT_CONTEXT,
  with: (given, work, self, ...args) => active.run(given, () => work.apply(self, args)),
  bind: (_context, target) => target,
  enable: () => contexts,
  disable: () => contexts,
}

const exporter = new InMemorySpanExporter()
let before: Traces | undefined
let traces: Traces
let database: TestDatabase
let keys: TestKeys
let store: Store
let service: RunningService
let key: string
let token: string
beforeAll(async () => {
  before = connectTraces('1')
  context.setGlobalContextManager(contexts)
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  )
  traces = connectTraces('1')!
  database = await createDatabase()
  keys = await createKeys(database.store)
  const fields = { id: 'shop', name: 'Shop', domain: 'shop.example' }
  token = (await createProject(database.store, fields, NOW)).token
  key = await keys.issue('shop', NOW)
  store = connectStore(database.endpoint, undefined, traces.traceStatement)
  service = await startTestService({ store, now: () => NOW, traces })
})
afterAll(async () => {
  await service.stop()
  await store.close()
  await database.drop()
  await keys.remove()
  trace.disable()
  context.disable()
})
beforeEach(() => exporter.reset())

/** Sends a request, and returns its span and those of its statements. */
async function request(
  path: string,
  init: RequestInit = {},
): Promise<{ readonly root: ReadableSpan; readonly children: readonly ReadableSpan[] }> {
  await (await fetch(service.address + path, init)).arrayBuffer()
  const isRoot = ({ kind }: ReadableSpan): boolean => kind === SpanKind.SERVER
  await until(() => exporter.getFinishedSpans().some(isRoot))
  const spans = exporter.getFinishedSpans()
  const [root] = spans.filter(isRoot)
  return {
    root: root!,
    children: spans.filter(
      ({ parentSpanContext }) => parentSpanContext?.spanId === root!.spanContext().spanId,
    ),
  }
}

const authorize = (): Record<string, string> => ({ Authorization: `Bearer ${key}` })

test('without an SDK there are no traces', () => {
  expect(before).toBeUndefined()
})

test('a query is a span with the spans of its statements', async () => {
  const { root, children } = await request('/v1/analytics/query?secret=path', {
    method: 'POST',
    headers: { ...authorize(), 'Content-Type': 'application/json' },
    body: '{ "metrics": ["visits"], "date_range": ["2026-01-01", "2026-01-31"] }',
  })
  expect([root.name, root.kind, root.attributes]).toEqual([
    'POST /v1/analytics/query',
    1,
    expect.objectContaining({
      'http.request.method': 'POST',
      'http.route': '/v1/analytics/query',
      'url.scheme': 'http',
    }),
  ])
  expect(children.length).toBeGreaterThan(0)
  for (const { name, kind, attributes } of children) {
    expect([name, kind, attributes]).toEqual([
      'clickhouse query',
      2,
      {
        'db.system': 'clickhouse',
        'db.operation.name': 'query',
        'db.clickhouse.query_id': expect.stringMatching(/^[\w-]{36,}$/),
      },
    ])
  }
})

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLING_SPAN = 'b7ad6b7169203331'
const NEW_TRACE = expect.not.stringMatching(TRACE)

describe('the span of a request, with a propagator', () => {
  beforeAll(() => {
    propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  })
  afterAll(() => propagation.disable())

  test.each<[string, Record<string, string>, unknown, string | undefined]>([
    [
      'the span of its caller',
      { traceparent: `00-${TRACE}-${CALLING_SPAN}-01` },
      TRACE,
      CALLING_SPAN,
    ],
    ['no span without the header', {}, NEW_TRACE, undefined],
    ['no span that has an invalid id', { traceparent: `00-${TRACE}-0-01` }, NEW_TRACE, undefined],
    ['no span of an invalid header', { traceparent: 'x'.repeat(4_000) }, NEW_TRACE, undefined],
  ])('is below %s', async (_what, headers, traceId, parent) => {
    const { root } = await request('/v1/project', { headers: { ...authorize(), ...headers } })
    expect([root.spanContext().traceId, root.parentSpanContext?.spanId]).toEqual([traceId, parent])
  })
})

test('without a propagator, a request begins a trace', async () => {
  const headers = { ...authorize(), traceparent: `00-${TRACE}-${CALLING_SPAN}-01` }
  const { root } = await request('/v1/project', { headers })
  expect([root.spanContext().traceId, root.parentSpanContext]).toEqual([NEW_TRACE, undefined])
})

test('collected events are a span with the statement that stores them', async () => {
  const body = JSON.stringify({ token, user_id: 'somebody' })
  const { root, children } = await request('/v1/events', { method: 'POST', body })
  expect([root.name, root.attributes['http.response.status_code']]).toEqual([
    'POST /v1/events',
    202,
  ])
  expect(children.map(({ name }) => name)).toContain('clickhouse upload')
})

test.each<[string, string, RequestInit, string, object]>([
  [
    'a made-up path',
    '/made/up',
    {},
    'GET',
    {
      'http.request.method': 'GET',
      'http.response.status_code': 404,
      'url.scheme': 'http',
      'error.type': 'NOT_FOUND',
    },
  ],
  [
    'a method that HTTP itself does not define',
    '/made/up',
    { method: 'PROPFIND' },
    'HTTP',
    {
      'http.request.method': '_OTHER',
      'http.response.status_code': 404,
      'url.scheme': 'http',
      'error.type': 'NOT_FOUND',
    },
  ],
])('%s', async (_why, path, init, name, attributes) => {
  const { root } = await request(path, init)
  expect([root.name, root.attributes]).toEqual([name, attributes])
})

test('a query that is refused before it is read is a span, too', async () => {
  const app = await startApp({
    recall: () => CALLER,
    queue: createQueryQueue({ perKey: 1, inAll: 0, waiting: 0, timeoutMs: 1_000 }),
    startSpan: traces.startRequest,
  })
  await app.ask('not JSON')
  await app.stop()
  const spans = exporter.getFinishedSpans()
  expect(spans.map(({ name, attributes }) => [name, attributes])).toEqual([
    [
      'POST /v1/analytics/query',
      {
        'http.request.method': 'POST',
        'http.route': '/v1/analytics/query',
        'http.response.status_code': 503,
        'url.scheme': 'http',
        'error.type': 'SERVICE_UNAVAILABLE',
      },
    ],
  ])
})

test('a statement that fails has its code, and not its text', async () => {
  const span = traces.startRequest({})
  let failing: Promise<unknown> = Promise.resolve()
  span.run(() => {
    failing = store.reader.query(statement(sql`SELECT 1 FROM no_table_of_ours`))
  })
  await expect(failing).rejects.toThrow()
  const [failed] = exporter.getFinishedSpans()
  expect(failed).toMatchObject({
    attributes: { 'error.type': 'UNKNOWN_TABLE' },
    status: { code: 2 },
    events: [],
  })
  expect(JSON.stringify(failed!.attributes)).not.toContain('no_table_of_ours')
})

test('a statement of no request has no span', async () => {
  await store.reader.query(statement(sql`SELECT 1`))
  expect(exporter.getFinishedSpans()).toEqual([])
})

test('no span has a key, a token, a path or a value', async () => {
  await request('/v1/project?secret=path', { headers: authorize() })
  const text = JSON.stringify(
    exporter.getFinishedSpans().map((span) => [span.name, span.attributes]),
  )
  for (const secret of [key, token, 'secret', 'shop']) expect(text).not.toContain(secret)
})
