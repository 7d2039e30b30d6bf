/** The limits of batches: the rate, how many are answered at a time, one moment for all, and errors of single queries. */
import { afterEach, expect, test } from '@jest/globals'
import { createQueryQueue } from '../../../src/http/query/queue/query-queue.js'
import { ANSWER, ROWS, startApp, type Given, type RunningApp } from '../http/harness.js'

type ReadRows = NonNullable<Given['readRows']>

const limited = (limit: number) => ({
  ...ANSWER,
  query: { ...ANSWER.query, limit },
  pagination: { ...ANSWER.pagination, limit },
})

let app: RunningApp | undefined
afterEach(async () => {
  await app?.stop()
  app = undefined
})

/** Starts the application, and sends it a batch of this number of queries. */
async function send(count: number, given: Given = {}, init: RequestInit = {}): Promise<Response> {
  app = await startApp(given)
  const queries = Array.from({ length: count }, (_, i) => ({
    id: `q${i}`,
    body: { date_range: 'today', limit: i + 1 },
  }))
  return app.get('/v1/analytics/batch', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ queries }),
    ...init,
  })
}

interface Results {
  readonly results: readonly {
    readonly status: number
    readonly retry_after?: number
    body: object
  }[]
}
const readResults = async (response: Response) => ((await response.json()) as Results).results

test('each query counts for the rate limit: those beyond it get 429', async () => {
  const response = await send(5, { rateLimit: 3 })
  expect([response.status, response.headers.get('retry-after')]).toEqual([200, null])
  expect(response.headers.get('ratelimit')).toMatch(/^"key"; ?r=0; ?t=\d+$/)
  const results = await readResults(response)
  expect(results.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429])
  expect(results.slice(3)).toEqual(
    ['q3', 'q4'].map((id) => ({
      id,
      status: 429,
      body: {
        error: {
          code: 'RATE_LIMIT_EXCEEDED',
          message: expect.stringMatching(/per minute/),
          docs: '/docs/errors#rate_limit_exceeded',
        },
      },
      retry_after: expect.any(Number),
    })),
  )
  expect((await app!.ask()).status).toBe(429)
})

test('the header says how many requests are left after a batch', async () => {
  const response = await send(5, { rateLimit: 30 })
  expect(response.headers.get('ratelimit')).toMatch(/^"key"; ?r=25; ?t=\d+$/)
  expect(response.headers.get('ratelimit-policy')).not.toContain(',')
  expect((await app!.ask()).headers.get('ratelimit')).toMatch(/r=24/)
})

test('without a limit, no header says how many are left', async () => {
  const response = await send(2)
  expect([response.status, response.headers.get('ratelimit')]).toEqual([200, null])
})

test('four queries are answered at a time, all at the same moment, and the results have their order', async () => {
  let running = 0
  let most = 0
  const moments = new Set<string | undefined>()
  const readRows: ReadRows = async ({ limit, now }) => {
    moments.add(now?.toISOString())
    running += 1
    most = Math.max(most, running)
    await new Promise((resolve) => setTimeout(resolve, 20 - limit))
    running -= 1
    return ROWS
  }
  let clock = Date.parse('2026-03-01T23:59:59Z')
  const results = await readResults(
    await send(12, { readRows, now: () => new Date((clock += 1_000)) }),
  )
  expect([most, [...moments]]).toEqual([4, ['2026-03-02T00:00:00.000Z']])
  expect(results).toEqual(
    Array.from({ length: 12 }, (_, i) => ({
      id: `q${i}`,
      status: 200,
      body: {
        ...limited(i + 1),
        period: { from: '2026-03-02T00:00:00Z', to: '2026-03-02T00:00:00Z' },
      },
    })),
  )
})

test('a query that fails is an error of its own, and is logged', async () => {
  const readRows: ReadRows = ({ limit }) =>
    limit === 2 ? Promise.reject(new Error('secret of the store')) : Promise.resolve(ROWS)
  const results = await readResults(await send(3, { readRows }))
  expect(results.map(({ status }) => status)).toEqual([200, 500, 200])
  expect(results[1]?.body).toEqual({
    error: {
      code: 'INTERNAL_ERROR',
      message: 'Something went wrong.',
      docs: '/docs/errors#internal_error',
    },
  })
  expect(app!.log()).toContain('secret of the store')
})

test('a query that the queue refuses says when to try again', async () => {
  const queue = createQueryQueue({ perKey: 1, inAll: 1, waiting: 1, timeoutMs: 10_000 })
  const results = await readResults(await send(4, { queue }))
  const refused = results.filter(({ status }) => status !== 200)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.every(({ status, retry_after }) => status === 429 && retry_after === 1)).toBe(true)
})

test('the queries of a client that leaves are not begun', async () => {
  const left = new AbortController()
  let begun = 0
  const readRows: ReadRows = ({ signal }) =>
    new Promise((_resolve, reject) => {
      begun += 1
      signal.addEventListener('abort', () => reject(new Error('left')), { once: true })
      if (begun === 4) left.abort()
    })
  await expect(send(12, { readRows }, { signal: left.signal })).rejects.toThrow()
  await app!.stop()
  expect(begun).toBe(4)
})

const NDJSON = { 'Content-Type': 'application/json', Accept: 'application/x-ndjson' }

test('with NDJSON each result is sent as soon as it is there', async () => {
  const ends = new Map<number, () => void>()
  const readRows: ReadRows = ({ limit }) =>
    new Promise((resolve) => ends.set(limit, () => resolve(ROWS)))
  // Its headers come before any result.
  const response = await send(3, { readRows, rateLimit: 2 }, { headers: NDJSON })
  expect([
    response.status,
    response.headers.get('content-type'),
    response.headers.get('vary'),
  ]).toEqual([200, 'application/x-ndjson', 'Accept'])
  const lines = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const next = async () => JSON.parse((await lines.read()).value!) as { id: string; status: number }
  // It is beyond the limit, so nothing is waited for.
  expect(await next()).toMatchObject({ id: 'q2', status: 429, retry_after: expect.any(Number) })
  ends.get(2)!()
  expect(await next()).toEqual({ id: 'q1', status: 200, body: limited(2) })
  ends.get(1)!()
  expect(await next()).toEqual({ id: 'q0', status: 200, body: limited(1) })
  expect((await lines.read()).done).toBe(true)
})

test('NDJSON has no end if the service stops on the way', async () => {
  const readRows: ReadRows = ({ limit, signal }) =>
    limit === 1
      ? Promise.resolve(ROWS)
      : new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true })
        })
  const response = await send(2, { readRows }, { headers: NDJSON })
  const lines = response.body!.getReader()
  expect((await lines.read()).done).toBe(false)
  const stopped = app!.stop({ grace: 100, refusal: 500 })
  await expect(lines.read()).rejects.toThrow()
  await stopped
})
