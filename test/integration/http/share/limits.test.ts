/** What viewers of public dashboards may ask at most, and when a request of theirs ends. */
import { expect, test } from '@jest/globals'
import { createQueryQueue } from '../../../../src/http/query/queue/query-queue.js'
import type { FindReader, ShareDependencies } from '../../../../src/http/share/read-share.js'
import { until } from '../../../support/until.js'
import { CALLER, outcome, QUESTION, startApp, type Given, type RunningApp } from '../harness.js'

/** Each name without a hyphen is that of a public project. */
const find: FindReader = (name) =>
  Promise.resolve(
    name.includes('-')
      ? undefined
      : { ...CALLER, principal: { keyId: `public:${name}`, projectId: name }, leftMs: 4_000 },
  )

const share = (limits: Partial<ShareDependencies['limits']>, others: object = {}) => ({
  shares: {
    find,
    recall: () => undefined,
    limits: { perDashboard: 0, perAddress: 0, ...limits },
    streams: createQueryQueue({ perKey: 1, inAll: 2, waiting: 0, timeoutMs: 10_000 }),
    ...others,
  },
})

const withApp = async (given: Given, work: (app: RunningApp) => Promise<void>): Promise<void> => {
  const app = await startApp(given)
  await work(app).finally(() => app.stop())
}

const view = (
  { url }: RunningApp,
  name: string,
  address = '192.0.2.1',
  body: object = QUESTION,
  operation = 'query',
): Promise<Response> =>
  fetch(`${url}/share/${name}/v1/analytics/${operation}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': address },
    body: JSON.stringify(body),
  })

const REFUSED = { status: 429, code: 'RATE_LIMIT_EXCEEDED' }

test('an address has a number of requests per minute to all dashboards, pages and made-up names included', () =>
  withApp({ ...share({ perAddress: 4 }), trustedProxies: 1 }, async (app) => {
    const first = await view(app, 'shop')
    expect(first.headers.get('ratelimit-policy')).toMatch(/^"address"; q=4; w=60; pk=:[\w+/=]+:$/)
    expect(first.headers.get('ratelimit')).toMatch(/^"address"; r=3; t=\d+$/)
    expect(await outcome(await view(app, 'made-up'))).toEqual({ status: 404, code: 'NOT_FOUND' })
    expect((await view(app, 'cafe')).status).toBe(200)
    const page = (name: string) =>
      fetch(`${app.url}/share/${name}`, { headers: { 'X-Forwarded-For': '192.0.2.1' } })
    expect((await page('shop')).status).toBe(200)
    const refused = await page('shop')
    expect([refused.status, refused.headers.get('content-type')]).toEqual([
      429,
      'text/html; charset=utf-8',
    ])
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(60)
    expect(await outcome(await view(app, 'shop'))).toEqual(REFUSED)
    expect((await view(app, 'shop', '192.0.2.2')).status).toBe(200)
    expect((await app.ask()).status).toBe(200)
  }))

test('the addresses of a network of 56 bits are one', () =>
  withApp({ ...share({ perAddress: 1 }), trustedProxies: 1 }, async (app) => {
    expect((await view(app, 'shop', '2001:db8:0:1::1')).status).toBe(200)
    expect((await view(app, 'shop', '2001:db8:0:2::1')).status).toBe(429)
    expect((await view(app, 'shop', '2001:db8:1:0::1')).status).toBe(200)
  }))

test('a dashboard has a number of requests per minute of all addresses, others and keys have their own', () =>
  withApp({ ...share({ perDashboard: 2 }), trustedProxies: 1 }, async (app) => {
    const first = await view(app, 'shop')
    expect(first.headers.get('ratelimit')).toMatch(/^"dashboard"; r=1; t=\d+$/)
    expect((await view(app, 'shop', '192.0.2.2')).status).toBe(200)
    const refused = await view(app, 'shop', '192.0.2.3')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await outcome(refused)).toEqual(REFUSED)
    expect((await view(app, 'cafe')).status).toBe(200)
    expect((await app.ask()).status).toBe(200)
  }))

test('each query of a batch counts, by both limits', () =>
  withApp(share({ perAddress: 3, perDashboard: 100 }), async (app) => {
    const queries = [1, 2, 3, 4].map((id) => ({ id: `${id}`, operation: 'query', body: QUESTION }))
    const response = await view(app, 'shop', undefined, { queries }, 'batch')
    expect(response.headers.get('ratelimit')).toMatch(/^"address"; r=0; t=\d+$/)
    const { results } = (await response.json()) as { results: { status: number }[] }
    expect(results.map(({ status }) => status)).toEqual([200, 200, 200, 429])
  }))

test('too many questions at once are those of the dashboard; keys have turns of their own', async () => {
  const done: (() => void)[] = []
  const readRows: Given['readRows'] = async () => {
    await new Promise<void>((resolve) => done.push(resolve))
    throw new Error('not answered here')
  }
  const queue = createQueryQueue({ perKey: 1, inAll: 2, waiting: 1, timeoutMs: 10_000 })
  await withApp({ ...share({}), readRows, queue }, async (app) => {
    const ask = (limit: number) => view(app, 'shop', undefined, { ...QUESTION, limit })
    const asked = [ask(1)]
    await until(() => queue.count().running === 1)
    asked.push(ask(2))
    await until(() => queue.count().waiting === 1)
    const { error } = (await (await ask(3)).json()) as { error: object }
    expect(error).toEqual({
      code: 'RATE_LIMIT_EXCEEDED',
      message:
        'The public dashboard has too many queries at once. Wait for their responses, or the seconds given in Retry-After.',
      docs: '/docs/errors#rate_limit_exceeded',
    })
    const ofKey = app.ask()
    await until(() => queue.count().running === 2)
    for (let ended = 0; ended < 3; ended++) {
      await until(() => done.length > ended)
      done[ended]!()
    }
    await Promise.all([...asked, ofKey])
  })
})

test('a known dashboard without a free turn is refused before its body is read', async () => {
  const context = { ...CALLER, principal: { keyId: 'public:shop', projectId: 'shop' } }
  const recall = (name: string) => (name === 'shop' ? context : undefined)
  const queue = createQueryQueue({ perKey: 0, inAll: 1, waiting: 0, timeoutMs: 10_000 })
  await withApp({ ...share({ perAddress: 2 }, { recall }), queue }, async (app) => {
    const send = (path: string): Promise<Response> =>
      fetch(app.url + path, { method: 'POST', body: 'no JSON' })
    const refused = await send('/share/shop/v1/analytics/query')
    expect(refused.headers.get('ratelimit')).toMatch(/^"address"; r=1; t=\d+$/)
    expect(await outcome(refused)).toEqual(REFUSED)
    expect((await send('/share/cafe/v1/analytics/query')).status).toBe(415)
    expect((await send('/share/shop/v1/project')).status).toBe(404)
  })
})

test('a request that is under way when the project is no longer public breaks off, and its query ends', async () => {
  let begin: (() => void) | undefined
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const asked: string[] = []
  const findTwice: FindReader = async (name) => {
    asked.push(name)
    // It is public until the query runs.
    if (asked.length > 1) await begun
    return asked.length > 2 ? undefined : { ...CALLER, leftMs: 10 }
  }
  let end: (reason: unknown) => void
  const ended = new Promise((resolve) => (end = resolve))
  const readRows: Given['readRows'] = ({ signal }) =>
    new Promise((_resolve, reject) => {
      begin?.()
      signal.addEventListener('abort', () => {
        end(signal.reason)
        reject(signal.reason as Error)
      })
    })
  await withApp({ ...share({}, { find: findTwice }), readRows }, async (app) => {
    await expect(view(app, 'shop')).rejects.toThrow('fetch failed')
    expect(asked).toEqual(['shop', 'shop', 'shop'])
    expect(await ended).toEqual(new Error('the client disconnected'))
  })
})
