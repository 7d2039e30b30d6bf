/** The package `@tallyhouse/client` sends a request again where that may help, as docs/errors.md says. */
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { once } from 'node:events'
import { createServer, STATUS_CODES, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createTallyhouse,
  IncompleteResponseError,
  type ClientOptions,
} from '../../../clients/typescript/src/index.js'

/** How the server answers: with a status, or it breaks the connection before or within its answer, or says nothing. */
type Answer = number | 'breaks' | 'breaks off' | 'is silent' | Foreign

/** A response that another server could send. */
interface Foreign {
  readonly status: number
  readonly type?: string
  readonly body: string
}

const BODY = { date_range: 'today', metrics: ['users'] } as const
const ANSWER = JSON.stringify({ data: [] })

let server: Server
/** What the server does with the first requests; it answers all others with 200. */
let script: readonly Answer[]
let retryAfter: string | undefined
let bodies: string[]
/** The waits between requests in milliseconds. They pass at once. */
let waits: number[]

beforeEach(async () => {
  ;[script, retryAfter, waits] = [[], undefined, []]
  // A request of an earlier test may end late: it is not one of this server.
  const received: string[] = (bodies = [])
  server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (part: string) => (body += part))
    request.on('end', () => {
      const answer = script[received.length] ?? 200
      received.push(body)
      if (answer === 'is silent') return
      if (answer === 'breaks') return void request.socket.destroy()
      if (typeof answer === 'object') {
        // Without a length: it ends where the connection does.
        const head = answer.type === undefined ? '' : `Content-Type: ${answer.type}\r\n`
        const line = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`
        return void request.socket.end(`${line}\r\n${head}Connection: close\r\n\r\n${answer.body}`)
      }
      const type = request.headers.accept?.startsWith('application/x-ndjson')
        ? 'application/x-ndjson'
        : 'application/json'
      response.setHeader('Content-Type', type)
      if (retryAfter !== undefined) response.setHeader('Retry-After', retryAfter)
      if (answer === 'breaks off') {
        response.setHeader('Content-Length', 1_000)
        response.write('{', () => request.socket.destroy())
      } else if (answer === 200) response.end(ANSWER)
      else response.writeHead(answer).end('{ "error": { "code": "SOME_CODE", "message": "no" } }')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(((end: () => void, ms: number) => {
    waits.push(ms)
    return setImmediate(end)
  }) as unknown as typeof setTimeout)
})
afterEach(async () => {
  jest.restoreAllMocks()
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

const connect = (options: Partial<ClientOptions> = {}) =>
  createTallyhouse({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey: 'key',
    ...options,
  })

const OK = { ok: true, data: { data: [] } }
const refused = (status: number) => ({ ok: false, error: { status, code: 'SOME_CODE' } })
const LOST = { ok: false, error: { status: 0, code: 'NO_RESPONSE' } }

test.each<[string, readonly Answer[], object, number, object]>([
  ['429 and 503, until it is answered', [429, 503, 429], {}, 4, OK],
  ['503, three times at most', Array(9).fill(503), {}, 4, refused(503)],
  ['503, as often as wanted', Array(9).fill(503), { retries: 5 }, 6, refused(503)],
  ['500, until it is answered', [500, 500], {}, 3, OK],
  ['500, twice at most', Array(9).fill(500), { retries: 5 }, 3, refused(500)],
  ['500, as seldom as wanted', Array(9).fill(500), { retries: 1 }, 2, refused(500)],
  ['502, twice at most', Array(9).fill(502), {}, 3, refused(502)],
  ['a lost connection, until it is answered', ['breaks', 'breaks'], {}, 3, OK],
  ['a lost connection, twice at most', Array(9).fill('breaks'), { retries: 5 }, 3, LOST],
  ['an answer that breaks off', ['breaks off', 'breaks off'], {}, 3, OK],
  ['different failures', ['breaks', 500, 503], {}, 4, OK],
  ['two retries of others: not after 500', [429, 429, 500], {}, 3, refused(500)],
  ['no retries', [429], { retries: 0 }, 1, refused(429)],
  ['400: never', [400], {}, 1, refused(400)],
  ['504: never', [504], {}, 1, refused(504)],
])('%s', async (_, answers, options, requests, result) => {
  script = answers
  expect(await connect(options).query(BODY)).toMatchObject(result)
  expect(bodies).toEqual(Array(requests).fill(JSON.stringify(BODY)))
})

test.each<[string, readonly Answer[], string, object, readonly number[]]>([
  ['the seconds of Retry-After', [429, 500], '7', {}, [7_000, 7_000]],
  ['but not longer than wanted', [429, 429], '61', {}, []],
  ['all together not longer than wanted', [503, 503, 503], '40', {}, [40_000]],
  ['as long as wanted', [429, 429], '90', { maxWaitSeconds: 200 }, [90_000, 90_000]],
])('waits %s', async (_, answers, header, options, want) => {
  ;[script, retryAfter] = [answers, header]
  const result = await connect(options).query(BODY)
  expect(waits).toEqual(want)
  expect(result.ok).toBe(want.length === answers.length)
})

test.each<[string, string | undefined]>([
  ['without Retry-After', undefined],
  ['if it is a date', 'Wed, 21 Oct 2026 07:28:00 GMT'],
  ['if it is no number', 'soon'],
])('%s the wait doubles each time, and is a little random', async (_, header) => {
  ;[script, retryAfter] = [Array(9).fill(503), header]
  await connect().query(BODY)
  await connect().query(BODY)
  const [first, second] = [waits.slice(0, 3), waits.slice(3)]
  for (const some of [first, second]) {
    const parts = some.map((ms, i) => ms / (1_000 * 2 ** i))
    expect(parts.map((part) => part > 0.5 && part <= 1)).toEqual([true, true, true])
  }
  expect(first).not.toEqual(second)
})

test('a service that is not reached is tried three times', async () => {
  let tried = 0
  const send = (request: Request): Promise<Response> => {
    tried += 1
    return fetch(request)
  }
  const client = connect({ url: 'http://127.0.0.1:1', fetch: send })
  expect(await client.project()).toMatchObject(LOST)
  expect([tried, waits.length]).toEqual([3, 2])
})

const PAGE = { type: 'text/html; charset=utf-8', body: '<html>Sign in</html>' }

test.each<[string, readonly Answer[], number, object]>([
  [
    'a page instead of JSON',
    [{ status: 200, ...PAGE }],
    1,
    {
      status: 200,
      message: expect.stringContaining('(200 OK, text/html) is not one of the service'),
    },
  ],
  [
    'a page of a proxy that does not reach the service',
    Array<Answer>(3).fill({ status: 502, ...PAGE }),
    3,
    { status: 502, message: expect.stringContaining('(502 Bad Gateway, text/html) is not one of') },
  ],
  [
    'an error of no type',
    [{ status: 404, body: '' }],
    1,
    { status: 404, message: expect.stringContaining('(404 Not Found, of no type) is not one of') },
  ],
  [
    'half a response without a length',
    Array<Answer>(3).fill({ status: 200, type: 'application/json', body: '{"data":[' }),
    3,
    { status: 0, message: 'The response ended too early: it is not complete JSON.' },
  ],
])('%s is an error that says so', async (_, answers, requests, error) => {
  script = answers
  const result = await connect().query(BODY)
  expect(result).toMatchObject({ ok: false, error: { code: 'NO_RESPONSE', ...error } })
  expect(bodies).toHaveLength(requests)
})

test('a response that takes longer than wanted is an error, and is not asked for again', async () => {
  script = ['is silent']
  expect(await connect({ timeoutSeconds: 0.05 }).query(BODY)).toMatchObject({
    ok: false,
    error: { status: 0, message: 'The service did not respond within 0.05 seconds.' },
  })
  expect(bodies).toHaveLength(1)
})

describe('a batch', () => {
  const query = (id: string) => ({ id, body: BODY })
  const failure = (id: string, status: number, seconds?: number) => ({
    id,
    status,
    body: { error: { code: 'SOME_CODE', message: 'no' } },
    ...(seconds === undefined ? {} : { retry_after: seconds }),
  })
  const success = (id: string) => ({ id, status: 200, body: { data: [] } })
  type BatchAnswer = readonly { readonly id: string; readonly status: number }[]
  const respond = (results: BatchAnswer): Answer => ({
    status: 200,
    type: 'application/json',
    body: JSON.stringify({ results }),
  })
  const ask = (options: Partial<ClientOptions> = {}) =>
    connect(options).batch({ queries: [query('a'), query('b'), query('c')] })
  const asked = () =>
    bodies.map((body) =>
      (JSON.parse(body) as { queries: readonly { id: string }[] }).queries
        .map(({ id }) => id)
        .join(''),
    )

  test.each<
    [string, readonly BatchAnswer[], object, readonly string[], readonly number[], BatchAnswer]
  >([
    [
      'only what failed for now, after the longest wait',
      [
        [success('a'), failure('b', 429, 7), failure('c', 503, 3)],
        [success('b'), success('c')],
      ],
      {},
      ['abc', 'bc'],
      [7_000],
      [success('a'), success('b'), success('c')],
    ],
    [
      'nothing that would fail again',
      [[success('a'), failure('b', 400), failure('c', 504)]],
      {},
      ['abc'],
      [],
      [success('a'), failure('b', 400), failure('c', 504)],
    ],
    [
      'three times at most',
      Array<BatchAnswer>(4).fill([
        failure('a', 503, 1),
        failure('b', 503, 1),
        failure('c', 503, 1),
      ]),
      {},
      ['abc', 'abc', 'abc', 'abc'],
      [1_000, 1_000, 1_000],
      [failure('a', 503, 1), failure('b', 503, 1), failure('c', 503, 1)],
    ],
    [
      'nothing if it may not',
      [[success('a'), failure('b', 429, 7), success('c')]],
      { retries: 0 },
      ['abc'],
      [],
      [success('a'), failure('b', 429, 7), success('c')],
    ],
    [
      'nothing after a wait that is too long',
      [[success('a'), failure('b', 429, 61), success('c')]],
      {},
      ['abc'],
      [],
      [success('a'), failure('b', 429, 61), success('c')],
    ],
  ])('sends %s again', async (_, answers, options, want, seconds, results) => {
    script = answers.map(respond)
    expect(await ask(options)).toEqual({ ok: true, data: { results } })
    expect([asked(), waits]).toEqual([want, seconds])
  })

  test('keeps what it has if the service is not reached any more', async () => {
    const results = [success('a'), failure('b', 429, 7), success('c')]
    script = [respond(results), ...Array<Answer>(3).fill('breaks')]
    expect(await ask()).toEqual({ ok: true, data: { results } })
    expect(asked()).toEqual(['abc', 'b', 'b', 'b'])
  })
})

test('a request that took too long is not sent again', async () => {
  script = ['is silent', 'is silent']
  let tried = 0
  const send = (request: Request): Promise<Response> => {
    tried += 1
    return fetch(request, { signal: AbortSignal.timeout(50) })
  }
  expect(await connect({ fetch: send }).query(BODY)).toMatchObject(LOST)
  expect(tried).toBe(1)
})

const ENOUGH = { ok: false, error: { code: 'NO_RESPONSE', message: 'enough' } }

test('a signal ends a request, which is not sent again', async () => {
  const left = new AbortController()
  script = ['is silent']
  server.once('request', (request: IncomingMessage) => {
    request.once('end', () => left.abort(new Error('enough')))
  })
  expect(await connect().query(BODY, { signal: left.signal })).toMatchObject(ENOUGH)
  expect(waits).toEqual([])
})

test('a signal ends the wait for the next request', async () => {
  const left = new AbortController()
  jest.spyOn(globalThis, 'setTimeout').mockImplementation((() => {
    setImmediate(() => left.abort(new Error('enough')))
  }) as unknown as typeof setTimeout)
  script = [429]
  expect(await connect().query(BODY, { signal: left.signal })).toMatchObject(ENOUGH)
  expect(bodies).toHaveLength(1)
})

test('an export is sent again until it begins, and not once it has begun', async () => {
  script = ['breaks', 503, 200]
  expect(await connect().export({ date_range: 'today' })).toMatchObject({ ok: true })
  script = [...Array<Answer>(bodies.length), 'breaks off', 200]
  const parts = []
  for await (const part of connect().events({ date_range: 'today' })) parts.push(part)
  expect(parts).toMatchObject([
    { ok: false, error: { cause: expect.any(IncompleteResponseError) } },
  ])
  expect(bodies).toHaveLength(4)
})
