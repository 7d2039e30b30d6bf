/** The liveness and readiness probes. */
import { expect, test } from '@jest/globals'
import { cacheProbe } from '../../../src/http/server/health.js'
import { outcome, startApp } from './harness.js'

test('without the store the service is alive, but SERVICE_UNAVAILABLE', async () => {
  const app = await startApp({ isReady: () => Promise.resolve(false) })
  const live = await fetch(`${app.url}/livez`)
  expect([live.status, await live.json()]).toEqual([200, { status: 'alive' }])
  const ready = await fetch(`${app.url}/readyz`)
  expect(ready.headers.get('retry-after')).toBe('1')
  expect(await outcome(ready)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' })
  await app.stop()
})

test('with the store it is ready', async () => {
  const app = await startApp()
  const ready = await fetch(`${app.url}/readyz`)
  expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }])
  await app.stop()
})

test.each([
  ['none', { waitingRows: 0, oldestWaitingMs: 0 }, { status: 'ready' }],
  [
    'events that wait for a minute',
    { waitingRows: 2, oldestWaitingMs: 60_000 },
    { status: 'ready' },
  ],
  [
    'events that wait for longer',
    { waitingRows: 2, oldestWaitingMs: 61_999 },
    { status: 'degraded', waiting_events: 2, oldest_waiting_seconds: 61 },
  ],
])('%s: the probe answers 200', async (_, waiting, body) => {
  const app = await startApp({
    getLoaderState: () => ({ msSinceSuccess: undefined, failure: undefined, ...waiting }),
  })
  const ready = await fetch(`${app.url}/readyz`)
  expect([ready.status, await ready.json()]).toEqual([200, body])
  await app.stop()
})

test('a shard that is away is named, and the probe answers 200', async () => {
  const app = await startApp({ listAway: () => Promise.resolve(['shard2']) })
  const ready = await fetch(`${app.url}/readyz`)
  const body = { status: 'degraded', shards_away: ['shard2'] }
  expect([ready.status, await ready.json()]).toEqual([200, body])
  await app.stop()
})

test('concurrent probes query the store once', async () => {
  let asked = 0
  const probe = cacheProbe(() => Promise.resolve(++asked > 0))
  expect(await Promise.all(Array.from({ length: 100 }, probe))).toEqual(Array(100).fill(true))
  expect(asked).toBe(1)
})
