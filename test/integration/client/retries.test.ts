/** The package `@tallyhouse/client` sends a request again where that may help, as docs/errors.md says. */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createTallyhouse,
  IncompleteResponseError,
  type ClientOptions,
} from '../../../clients/typescript/src/index.js'

/** How the server answers: with a status, or it breaks the connection before or within its answer, or says nothing. */
type Answer = number | 'breaks' | 'breaks off' | 'is silent'

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
