/** The package `@tallyhouse/client` sends events: in batches, again until they are accepted, and nothing is lost in silence. */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createTracker,
  QueueFullError,
  type Exclusion,
  type SentEvent,
  type TrackerOptions,
} from '../../../clients/typescript/src/index.js'
import { until } from '../../support/until.js'

/** How the server answers: with a status and a body, or it breaks the connection, or says nothing. */
type Answer = readonly [status: number, body: object] | 'breaks' | 'is silent'

let server: Server
/** What the server does with the first requests; it accepts all others. */
let script: readonly Answer[]
let retryAfter: string | undefined
let received: { readonly token: string | undefined; readonly events: readonly SentEvent[] }[]
/** What `onError` was told: the code, and the names of the lost events. */
let errors: (readonly [code: string, lost: readonly (string | null | undefined)[]])[]
/** The waits in milliseconds. They pass at once, except the one of `close`. */
let waits: number[]

const CLOSE_SECONDS = 600

beforeEach(async () => {
  ;[script, retryAfter, received, errors, waits] = [[], undefined, [], [], []]
  const requests = received
  server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (part: string) => (body += part))
    request.on('end', () => {
      const events = JSON.parse(body) as readonly SentEvent[]
      const answer = script[requests.length] ?? [202, { accepted: events.length }]
      requests.push({ token: request.headers.authorization, events })
      if (answer === 'is silent') return
      if (answer === 'breaks') return void request.socket.destroy()
      if (retryAfter !== undefined) response.setHeader('Retry-After', retryAfter)
      response.writeHead(answer[0], { 'Content-Type': 'application/json' })
      response.end(JSON.stringify(answer[1]))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { setTimeout } = globalThis
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(((end: () => void, ms: number) => {
    if (ms === CLOSE_SECONDS * 1_000) return setTimeout(end, ms)
    waits.push(ms)
    return setTimeout(end, 0)
  }) as unknown as typeof setTimeout)
})
afterEach(async () => {
  jest.restoreAllMocks()
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const connect = (options: Partial<TrackerOptions> = {}) =>
  createTracker({
    url: url(),
    token: 'tallypub_1',
    closeSeconds: CLOSE_SECONDS,
    onError: ({ code }, lost) => errors.push([code, lost.map(({ name }) => name)]),
    ...options,
  })
const USER = { user_id: 'u1' }
const failure = (status: number, details?: readonly object[]): Answer => [
  status,
  { error: { code: `CODE_${status}`, message: 'no', ...(details && { details }) } },
]
const names = () => received.map(({ events }) => events.map(({ name }) => name).join(''))

test('an event has a name, an id and a time, unless it has its own', async () => {
  const tracker = connect()
  const id = tracker.track('signup', { user_id: 'u1', properties: { plan: 'pro' } })
  const visitor = { ip: '203.0.113.7', user_agent: 'Firefox' }
  const own = { event_id: 'order-1', timestamp: '2026-06-14T10:00:00Z' }
  expect(tracker.track('order', { ...visitor, ...own, url: 'https://shop.example/' })).toBe(
    'order-1',
  )
  await tracker.close()
  const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/)
  expect(received).toEqual([
    {
      token: 'Bearer tallypub_1',
      events: [
        { event_id: id, timestamp, name: 'signup', user_id: 'u1', properties: { plan: 'pro' } },
        { ...visitor, ...own, name: 'order', url: 'https://shop.example/' },
      ],
    },
  ])
  expect(id).toMatch(/^[\da-f-]{36}$/)
})

test('events are sent together after a while, and at once when there are many', async () => {
  const tracker = connect({ flushSeconds: 3 })
  tracker.track('a', USER)
  tracker.track('b', USER)
  await until(() => received.length === 1)
  expect([names(), waits]).toEqual([['ab'], [3_000]])
  for (let i = 0; i < 2_500; i++) tracker.track('c', USER)
  await tracker.flush()
  expect(received.slice(1).map(({ events }) => events.length)).toEqual([1_000, 1_000, 500])
  expect(waits).toEqual([3_000, 3_000])
  await tracker.close()
})

test('a request is not larger than it may be', async () => {
  const tracker = connect()
  for (let i = 0; i < 100; i++) tracker.track('a', { ...USER, path: 'ü'.repeat(15_000) })
  await tracker.close()
  const bytes = received.map(({ events }) => Buffer.byteLength(JSON.stringify(events)))
  expect(bytes.filter((size) => size > 500_000)).toEqual([])
  expect(received.flatMap(({ events }) => events)).toHaveLength(100)
})

test('events are sent until they are accepted, and those that follow after them', async () => {
  script = [failure(503), 'breaks', failure(500), failure(502), failure(504), failure(429)]
  const tracker = connect()
  tracker.track('a', USER)
  const flushed = tracker.flush()
  tracker.track('b', USER)
  await flushed
  expect(names()).toEqual(['a', 'a', 'a', 'a', 'a', 'a', 'a'])
  await tracker.close()
  expect(names().at(-1)).toBe('b')
  expect(new Set(received.slice(0, 7).map(({ events }) => JSON.stringify(events))).size).toBe(1)
  const codes = ['CODE_503', 'NO_RESPONSE', 'CODE_500', 'CODE_502', 'CODE_504', 'CODE_429']
  expect(errors).toEqual(codes.map((code) => [code, []]))
})

test('waits double, are a little random, and at most half a minute', async () => {
  script = Array<Answer>(8).fill(failure(503))
  const tracker = connect()
  tracker.track('a', USER)
  await tracker.close()
  const [, ...pauses] = waits
  const shares = pauses.map((ms, i) => ms / (1_000 * 2 ** i))
  expect(pauses.filter((ms) => ms > 30_000)).toEqual([])
  expect(shares.slice(0, 5).filter((share) => share <= 0.5 || share > 1)).toEqual([])
})

test('waits as long as the service says', async () => {
  ;[script, retryAfter] = [[failure(429), failure(503)], '77']
  const tracker = connect({ flushSeconds: 1 })
  tracker.track('a', USER)
  await tracker.close()
  expect(waits).toEqual([1_000, 77_000, 77_000])
})

test.each<[string, Answer, readonly string[], readonly [string, readonly string[]]]>([
  [
    'the invalid ones alone',
    failure(400, [
      { field: '1.url', message: 'must be an absolute URL' },
      { field: '1.ip', message: 'must be an address' },
      { field: '3.name', message: 'must not be empty' },
    ]),
    ['abcd', 'ac'],
    ['CODE_400', ['b', 'd']],
  ],
  ['all, if none is named', failure(400), ['abcd'], ['CODE_400', ['a', 'b', 'c', 'd']]],
  ['all, if the token is wrong', failure(401), ['abcd'], ['CODE_401', ['a', 'b', 'c', 'd']]],
])('refused events are lost: %s', async (_, answer, want, error) => {
  script = [answer]
  const tracker = connect()
  for (const name of ['a', 'b', 'c', 'd']) tracker.track(name, USER)
  await tracker.flush()
  tracker.track('e', USER)
  await tracker.close()
  expect([names(), errors]).toEqual([[...want, 'e'], [error]])
})

test('events that get 500 three times are lost, and those that follow are sent', async () => {
  script = [failure(500), failure(503), failure(500), failure(500)]
  const tracker = connect()
  tracker.track('a', USER)
  await tracker.flush()
  tracker.track('b', USER)
  await tracker.close()
  expect(names()).toEqual(['a', 'a', 'a', 'a', 'b'])
  expect(errors).toEqual([
    ['CODE_500', []],
    ['CODE_503', []],
    ['CODE_500', []],
    ['CODE_500', ['a']],
  ])
})

test('a full queue is an error, or the event is lost and told', async () => {
  script = ['is silent']
  const small = { maxQueueBytes: 300 }
  const strict = connect(small)
  strict.track('a', USER)
  strict.track('b', USER)
  expect(() => strict.track('c', USER)).toThrow(
    new QueueFullError('The queue is full: 2 events wait, and it may have 300 bytes.'),
  )
  const lenient = connect({ ...small, whenFull: 'drop' })
  for (const name of ['a', 'b', 'c']) lenient.track(name, USER)
  expect(errors).toEqual([['NO_RESPONSE', ['c']]])
  await until(() => received.length === 2)
  server.closeAllConnections()
  await Promise.all([strict.close(), lenient.close()])
})

test('what was accepted makes room', async () => {
  const tracker = connect({ maxQueueBytes: 300 })
  for (let i = 0; i < 5; i++) {
    tracker.track('a', USER)
    tracker.track('b', USER)
    await tracker.flush()
  }
  expect(names()).toEqual(Array(5).fill('ab'))
  await tracker.close()
})

test.each([
  ['nothing', {}],
  ['an empty user_id', { user_id: '' }],
  ['the ip alone', { ip: '203.0.113.7' }],
  ['the user agent alone', { user_agent: 'Firefox' }],
])('an event whose visitor has %s is an error', async (_, visitor) => {
  const tracker = connect()
  expect(() => tracker.track('a', visitor as typeof USER)).toThrow(
    new TypeError('The event a needs user_id, or the ip and user_agent of the user.'),
  )
  await tracker.close()
  expect(received).toEqual([])
})

test('what is not accepted before the end is lost, and told', async () => {
  script = ['is silent']
  const tracker = connect({ closeSeconds: 1 })
  tracker.track('a', USER)
  const flushed = tracker.flush()
  tracker.track('b', USER)
  await Promise.all([tracker.close(), tracker.close(), flushed])
  expect(errors).toEqual([
    ['NO_RESPONSE', ['a']],
    ['NO_RESPONSE', ['b']],
  ])
  expect(() => tracker.track('c', USER)).toThrow('The tracker is closed: c is not sent.')
})

test('what the service will not count is told', async () => {
  const excluded: Exclusion[] = []
  const warnings = [{ field: '1.user_agent', message: "is missing, and the agent is a bot's" }]
  script = [[202, { accepted: 2, excluded: { bots: 2 }, warnings }]]
  const tracker = connect({ onExcluded: (exclusion) => excluded.push(exclusion) })
  tracker.track('a', USER)
  tracker.track('b', USER)
  await tracker.flush()
  tracker.track('c', USER)
  await tracker.close()
  const message = "user_agent is missing, and the agent is a bot's"
  const event = received[0]!.events[1]
  expect(excluded).toEqual([{ excluded: { bots: 2 }, warnings: [{ event, message }] }])
})

test('errors and exclusions are written to the console, unless somebody listens', async () => {
  const written = jest.spyOn(console, 'error').mockImplementation(() => undefined)
  const warned = jest.spyOn(console, 'warn').mockImplementation(() => undefined)
  const warnings = [{ field: '0.user_agent', message: 'is missing' }]
  script = [failure(503), failure(401), [202, { accepted: 1, excluded: { bots: 1 }, warnings }]]
  const tracker = createTracker({ url: url(), token: 'tallypub_1', closeSeconds: CLOSE_SECONDS })
  tracker.track('a', USER)
  await tracker.flush()
  expect(written.mock.calls).toEqual([
    ['tallyhouse: events are sent again: CODE_503: no'],
    ['tallyhouse: events are lost (1): CODE_401: no'],
  ])
  tracker.track('b', USER)
  await tracker.close()
  expect(warned.mock.calls).toEqual([
    ['tallyhouse: events are not counted: {"bots":1}: user_agent is missing'],
  ])
})
