/** The number of requests per minute and key is limited, and responses say how many are left. */
import { expect, jest, test } from '@jest/globals'
import { until } from '../../../support/until.js'
import { outcome, startApp } from '../harness.js'

test('every response to a key has the limit, and RATE_LIMIT_EXCEEDED says when to retry', async () => {
  const app = await startApp({ rateLimit: 3 })
  const first = await app.get('/v1/project')
  expect(first.headers.get('ratelimit-policy')).toMatch(/^"key"; q=3; w=60; pk=:[\w+/=]+:$/)
  expect(first.headers.get('ratelimit')).toMatch(/^"key"; r=2; t=\d+$/)

  const faulty = await app.ask('{')
  expect([faulty.status, faulty.headers.get('ratelimit')?.split(';')[1]]).toEqual([400, ' r=1'])
  await app.ask()

  const refused = await app.ask('{')
  expect(refused.headers.get('ratelimit')).toMatch(/^"key"; r=0; t=\d+$/)
  const wait = Number(refused.headers.get('retry-after'))
  expect(wait).toBeGreaterThan(0)
  expect(wait).toBeLessThanOrEqual(60)
  expect(await outcome(refused)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' })
  await app.stop()
})

test('a refusal is sent when the pace of refusals says so', async () => {
  const refusals: (readonly [keyId: string, refuse: () => void])[] = []
  const app = await startApp({
    rateLimit: 1,
    pace: (keyId, refuse) => void refusals.push([keyId, refuse]),
  })
  await app.get('/v1/project')
  const statuses: number[] = []
  const asked = app.get('/v1/project').then(({ status }) => statuses.push(status))
  await until(() => refusals.length > 0)
  const [keyId, refuse] = refusals[0]!
  expect([keyId, statuses]).toEqual(['key-1', []])
  refuse()
  await asked
  expect([statuses, refusals.length]).toEqual([[429], 1])
  await app.stop()
})

test('neither wrong keys nor probes count', async () => {
  const app = await startApp({ rateLimit: 1 })
  for (const path of ['/v1/project', '/livez', '/readyz', '/docs']) {
    const response = await fetch(app.url + path)
    expect(response.headers.get('ratelimit')).toBeNull()
  }
  expect((await app.get('/v1/project')).status).toBe(200)
  await app.stop()
})

test('0 means no limit', async () => {
  const app = await startApp({ rateLimit: 0 })
  expect((await app.get('/v1/project')).headers.get('ratelimit')).toBeNull()
  await app.stop()
})

test.each([
  ['an hour back', -3_600_000],
  ['an hour ahead', 3_600_000],
  ['a day back', -86_400_000],
  ['a day ahead', 86_400_000],
])('the minute of a key is no longer and no shorter when the clock jumps %s', async (_how, ms) => {
  const app = await startApp({ rateLimit: 1 })
  const before = Date.now()
  await app.get('/v1/project')
  const clock = jest.spyOn(Date, 'now').mockReturnValue(before + ms)
  try {
    const refused = await app.get('/v1/project')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50)
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60)
  } finally {
    clock.mockRestore()
    await app.stop()
  }
})
