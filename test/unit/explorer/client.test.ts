/** How the page gets its key, which answers it asks again, and how failures are put. */
import { expect, test } from '@jest/globals'
import {
  findAccess,
  forgetKey,
  keepKey,
  type Browser,
} from '../../../src/explorer/client/access.js'
import { createResponses } from '../../../src/explorer/client/responses.js'
import type { BatchResult, Query } from '../../../src/explorer/client/contract.js'
import { describeFailure, type Refusal } from '../../../src/explorer/client/failure.js'
import { readLines } from '../../../src/explorer/client/api.js'

/** A browser at an address that remembers what happens to it. */
function createBrowser(address: string): Browser & { readonly addresses: string[] } {
  const stored = new Map<string, string>()
  const addresses: string[] = []
  return {
    addresses,
    location: new URL(address),
    history: { replaceState: (_data, _title, url) => void addresses.push(url) },
    sessionStorage: {
      getItem: (name) => stored.get(name) ?? null,
      setItem: (name, value) => void stored.set(name, value),
      removeItem: (name) => void stored.delete(name),
    },
  }
}

test('a key in the fragment moves from the address to the storage of the tab', () => {
  const browser = createBrowser('http://stats.example/explore?period=7days#key=abc.def')
  const access = { base: 'http://stats.example', key: 'abc.def' }
  expect(findAccess(browser)).toEqual(access)
  expect(browser.addresses).toEqual(['/explore?period=7days'])
  const later = { ...browser, location: new URL('http://stats.example/explore') }
  expect(findAccess(later)).toEqual(access)
  forgetKey(browser, access)
  expect(findAccess(later)).toBeUndefined()
  expect(keepKey(later, 'other')).toEqual({ ...access, key: 'other' })
  expect(findAccess(later)).toEqual({ ...access, key: 'other' })
})

test('an admin key opens each project with a key of its own', () => {
  const browser = createBrowser('http://stats.example/explore/shop#key=tallyadmin_1.abc')
  const admin = { base: 'http://stats.example', key: 'tallyadmin_1.abc' }
  const opening = { ...admin, project: 'shop' }
  expect(findAccess(browser)).toEqual(opening)
  const opened = { ...opening, key: 'abc.def' }
  expect(keepKey(browser, 'abc.def', opening)).toEqual(opened)
  const later = (path: string) => ({ ...browser, location: new URL(path, admin.base) })
  expect(findAccess(later('/explore/shop?period=7days'))).toEqual(opened)
  expect(findAccess(later('/explore/blog'))).toEqual({ ...admin, project: 'blog' })
  expect(findAccess(later('/explore'))).toEqual(admin)
  forgetKey(browser, opened)
  expect(findAccess(later('/explore/shop'))).toEqual(opening)
  forgetKey(browser, opening)
  expect(findAccess(later('/explore/shop'))).toBeUndefined()
})

test('a public dashboard has no key, even if the tab has one', () => {
  const browser = createBrowser('http://stats.example/share/shop?metric=visits')
  browser.sessionStorage.setItem('tallyhouse-key', 'abc')
  expect(findAccess(browser)).toEqual({ base: 'http://stats.example/share/shop', key: undefined })
})

test('a key in the fragment of a public dashboard leaves the address, and is not kept', () => {
  const browser = createBrowser('http://stats.example/share/shop?metric=visits#key=abc')
  expect(findAccess(browser)).toEqual({ base: 'http://stats.example/share/shop', key: undefined })
  expect(browser.addresses).toEqual(['/share/shop?metric=visits'])
  expect(browser.sessionStorage.getItem('tallyhouse-key')).toBeNull()
})

const ask = (id: string, date_range: 'today' | 'live'): Query => ({
  id,
  operation: 'query',
  body: { date_range },
})
const response = (id: string, status = 200): BatchResult => ({
  id,
  status,
  body: { error: { code: 'QUERY_TIMEOUT', message: '' } },
})
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000)

test('a response is asked again when it is no longer fresh, or was a failure that may pass', () => {
  const [now, cards, chart] = [ask('now', 'live'), ask('cards', 'today'), ask('chart', 'live')]
  const responses = createResponses()
  const all = [now, cards]
  expect(responses.listMissing(all, at(0))).toEqual(all)
  responses.keep(all, [response('now'), response('cards')], at(0))
  const listed = [1, 8, 10, 239, 241].map((seconds) => responses.listMissing(all, at(seconds)))
  expect(listed).toEqual([[], [], [now], [now], all])
  responses.keep([chart], [response('chart', 503)], at(241))
  expect(responses.listMissing([chart], at(242))).toEqual([chart])
  expect(responses.get(chart)?.result.status).toBe(503)
  responses.keep([chart], [response('chart', 429)], at(242))
  expect(responses.listMissing([chart], at(243))).toEqual([chart])
  for (const status of [400, 403, 404, 422]) {
    responses.keep([chart], [response('chart', status)], at(243))
    expect(responses.listMissing([chart], at(9999))).toEqual([])
  }
  responses.clear()
  expect(responses.listMissing([cards], at(241))).toEqual([cards])
})

const error = { error: { code: 'RATE_LIMIT_EXCEEDED', message: 'Too many requests.' } } as const
const BUSY = 'The service is busy. Try again after the seconds given in Retry-After.'

test.each<[Refusal | undefined, object]>([
  [
    undefined,
    {
      message: 'The service does not answer. It may be restarting, or the network may be down.',
      needsKey: false,
      canRetry: true,
    },
  ],
  [
    { status: 401, error: { error: { code: 'UNAUTHORIZED', message: 'It has expired.' } } },
    { message: 'The key is not accepted: It has expired.', needsKey: true, canRetry: false },
  ],
  [
    { status: 429, error, retryAfter: 12 },
    { message: 'Too many requests. Try again in 12 seconds.', needsKey: false, canRetry: true },
  ],
  [
    {
      status: 503,
      error: { error: { code: 'SERVICE_UNAVAILABLE', message: BUSY } },
      retryAfter: 1,
    },
    { message: 'The service is busy. Try again in 1 second.', needsKey: false, canRetry: true },
  ],
  [
    { status: 503, error, retryAfter: NaN },
    { message: 'Too many requests.', needsKey: false, canRetry: true },
  ],
  [
    { status: 502, error: undefined },
    { message: 'The service answered with status 502.', needsKey: false, canRetry: true },
  ],
  [
    { status: 400, error },
    { message: 'Too many requests.', needsKey: false, canRetry: false },
  ],
])('%j is put as %j', (refusal, want) => {
  expect(describeFailure(refusal)).toEqual(want)
})

const LINES: readonly (readonly [string, readonly string[], readonly (readonly string[])[]])[] = [
  ['a line at a time', ['{"a":1}\n', '{"b":2}\n'], [['{"a":1}'], ['{"b":2}']]],
  ['lines in two parts', ['{"a"', ':1}\n{"b":', '2}\n'], [['{"a":1}'], ['{"b":2}']]],
  [
    'several lines at once',
    ['{"a":1}\n{"b":2}\n{"c"', ':3}\n'],
    [['{"a":1}', '{"b":2}'], ['{"c":3}']],
  ],
  ['a character in two parts', ['"é\n'], [['"é']]],
  ['no end', ['{"a":1}\n{"b":2}'], [['{"a":1}']]],
  ['nothing', [], []],
]
test.each(LINES)('reads lines: %s', async (what, parts, expected) => {
  const bytes = parts.map((part) => new TextEncoder().encode(part))
  const chunks = what.startsWith('a character')
    ? bytes.flatMap((one) => [...one].map((byte) => Uint8Array.of(byte)))
    : bytes
  const read = []
  for await (const lines of readLines(ReadableStream.from(chunks), failLines)) read.push(lines)
  expect(read).toEqual(expected)
})

test('a text that breaks off', async () => {
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"a":1}\n{"b"')),
    pull: (controller) => controller.error(new Error('broken')),
  })
  const lines = readLines(stream, failLines)
  expect(await lines.next()).toEqual({ done: false, value: ['{"a":1}'] })
  await expect(lines.next()).rejects.toThrow('Error: broken, seen')
})
const failLines = (error: unknown): never => {
  throw new Error(`${String(error)}, seen`)
}
