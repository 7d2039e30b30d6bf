/** `/mcp` as a route: its checks, its log line, and how calls end early. */
import { afterEach, expect, test } from '@jest/globals'
import { EventEmitter, once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { ANSWER, KEY, QUESTION, startApp, type Given, type RunningApp } from '../http/harness.js'

let app: RunningApp | undefined
afterEach(async () => {
  await app?.stop()
  app = undefined
})

const CALL = {
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name: 'query', arguments: QUESTION },
}

/** Starts the application, and sends a message. */
async function send(message: unknown = CALL, init: RequestInit = {}, given: Given = {}) {
  app ??= await startApp(given)
  const response = await app.get('/mcp', {
    method: 'POST',
    body: typeof message === 'string' ? message : JSON.stringify(message),
    ...init,
    headers: { 'Content-Type': 'application/json', ...(init.headers as object) },
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : (JSON.parse(text) as unknown),
  }
}

const header = (name: string, value: string): RequestInit => ({ headers: { [name]: value } })

test('a call needs no connection before it: each request stands alone', async () => {
  const { status, headers, body } = await send()
  expect([status, headers.get('content-type'), headers.get('mcp-session-id')]).toEqual([
    200,
    'application/json; charset=utf-8',
    null,
  ])
  expect(headers.get('cache-control')).toBe('no-store')
  expect(body).toEqual({
    jsonrpc: '2.0',
    id: 7,
    result: { content: [{ type: 'text', text: JSON.stringify(ANSWER) }] },
  })
})

test.each([
  ['2024-11-05', { content: [{ type: 'text', text: JSON.stringify(ANSWER) }] }],
  [
    '2025-06-18',
    {
      content: [{ type: 'text', text: 'The result is the structured content.' }],
      structuredContent: ANSWER,
    },
  ],
])(
  'a client of version %s gets the body once, in the form that it knows',
  async (version, result) => {
    const { body } = await send(CALL, header('MCP-Protocol-Version', version))
    expect(body).toEqual({ jsonrpc: '2.0', id: 7, result })
  },
)

test.each([
  ['/mcp', false],
  ['/mcp?explain=true', true],
])('%s offers plans: %s', async (path, offered) => {
  app ??= await startApp({})
  const response = await app.get(path, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    headers: { 'Content-Type': 'application/json' },
  })
  const { result } = (await response.json()) as { result: { tools: { name: string }[] } }
  expect(result.tools.some(({ name }) => name === 'explain')).toBe(offered)
})

test('a notification has no answer', async () => {
  const { status, body } = await send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  expect([status, body]).toEqual([202, undefined])
})

test.each<[string, unknown, RequestInit, number, object]>([
  ['no key', CALL, header('Authorization', ''), 401, { code: 'UNAUTHORIZED' }],
  ['a page', CALL, header('Origin', 'http://127.0.0.1'), 403, { code: -32_000 }],
  [
    'another type',
    CALL,
    header('Content-Type', 'text/plain'),
    415,
    { code: 'UNSUPPORTED_MEDIA_TYPE' },
  ],
  ['no JSON', '{', {}, 400, { code: 'VALIDATION_ERROR' }],
  [
    'several messages',
    [CALL],
    {},
    400,
    { details: [{ field: 'body', message: 'must be a JSON object' }] },
  ],
  ['more than 64 kB', { ...CALL, x: 'x'.repeat(65_536) }, {}, 413, { code: 'PAYLOAD_TOO_LARGE' }],
  ['no message', {}, {}, 400, { code: -32_700 }],
  ['another version', CALL, header('MCP-Protocol-Version', '2020-01-01'), 400, { code: -32_000 }],
  ['another method', { ...CALL, method: 'prompts/list' }, {}, 200, { code: -32_601 }],
  [
    'arguments that are no object',
    { ...CALL, params: { name: 'query', arguments: [] } },
    {},
    200,
    { code: -32_603 },
  ],
])('%s is refused', async (_, message, init, status, error) => {
  const answer = await send(message, init)
  expect([answer.status, answer.body]).toMatchObject([status, { error }])
  expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
})

test.each(['GET', 'DELETE', 'OPTIONS'])('%s is not supported', async (method) => {
  app = await startApp()
  const response = await app.get('/mcp', { method, headers: { Accept: 'text/event-stream' } })
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
})

test('each request counts for the rate limit', async () => {
  const given = { rateLimit: 2 }
  expect((await send(CALL, {}, given)).headers.get('ratelimit')).toMatch(/^"key"; ?r=1; ?t=\d+$/)
  expect((await send({ ...CALL, method: 'tools/list', params: {} })).status).toBe(200)
  const { status, headers, body } = await send()
  expect([status, headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)])
  expect(body).toMatchObject({ error: { code: 'RATE_LIMIT_EXCEEDED' } })
})

test('a call is one line in the log, which has neither the key nor the arguments', async () => {
  await send({ ...CALL, params: { name: 'query', arguments: { date_range: 'do-not-log-me' } } })
  await app?.stop()
  const lines = app!.log().trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { route: '/mcp', method: 'POST', status: 200, keyId: 'key-1', projectId: 'project-1' },
  ])
  expect(app!.log()).not.toMatch(new RegExp(`do-not-log-me|${KEY}`))
})

test('an unexpected error of an operation is logged, and its cause is not sent', async () => {
  const { status, body } = await send(
    CALL,
    {},
    {
      readRows: () => Promise.reject(new Error('the cause')),
    },
  )
  const error = {
    code: 'INTERNAL_ERROR',
    message: 'Something went wrong.',
    docs: '/docs/errors#internal_error',
  }
  expect([status, body]).toEqual([
    200,
    {
      jsonrpc: '2.0',
      id: 7,
      result: { content: [{ type: 'text', text: JSON.stringify({ error }) }], isError: true },
    },
  ])
  expect(app!.log()).toContain('the cause')
})

/** A query that lasts until it is aborted. */
function createEndlessQuery() {
  const events = new EventEmitter()
  const readRows: Given['readRows'] = ({ signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        events.emit('aborted')
        reject(new Error('aborted'))
      })
      events.emit('begun')
    })
  return { readRows, begun: once(events, 'begun'), aborted: once(events, 'aborted') }
}

test('a call whose client disconnects is stopped', async () => {
  const { readRows, begun, aborted } = createEndlessQuery()
  const controller = new AbortController()
  const sent = send(CALL, { signal: controller.signal }, { readRows }).catch(() => 'disconnected')
  await begun
  controller.abort()
  await aborted
  expect(await sent).toBe('disconnected')
})

test('SERVICE_UNAVAILABLE: a call that exceeds the grace period of a stop', async () => {
  const { readRows, begun } = createEndlessQuery()
  const sent = send(CALL, {}, { readRows })
  await begun
  await sleep(50)
  await app?.stop({ grace: 100 })
  expect(await sent).toMatchObject({
    status: 503,
    body: { error: { code: 'SERVICE_UNAVAILABLE' } },
  })
})
