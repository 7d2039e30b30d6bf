/** What one token or address may send is limited, and so is what is in memory at once. */
import { expect, test } from '@jest/globals'
import type { EventLimits } from '../../../src/http/collect/event-limits.js'
import { createCollect } from '../../../src/ingest/collect/collect.js'
import { createWaitingWork } from '../../../src/ingest/collect/waiting-work.js'
import { until } from '../../support/until.js'
import { toStoredProject } from '../../support/world/stored-project.js'
import { NO_LIMITS, outcome, PROJECT, startApp } from '../http/harness.js'

const events = (count: number, name = 'x') => Array.from({ length: count }, () => ({ name }))
const large = { name: 'x', properties: { text: 'x'.repeat(1_000_000) } }

test.each<
  [why: string, limits: Partial<EventLimits>, bodies: readonly unknown[], want: readonly number[]]
>([
  ['none', {}, [events(1_000), events(1_000)], [202, 202]],
  ['events of a token', { tokenEventsPerMinute: 5 }, [events(4), events(4), [{}]], [202, 202, 429]],
  ['of a day', { tokenEventsPerDay: 2 }, [events(2), {}], [202, 429]],
  ['bytes of a token', { tokenMbPerMinute: 1 }, [large, large, {}], [202, 202, 429]],
  ['events of an address', { addressEventsPerMinute: 2 }, [events(2), {}], [202, 429]],
  ['bytes of an address', { addressMbPerMinute: 1 }, [large, large, {}], [202, 202, 429]],
  ['invalid events count too', { tokenEventsPerMinute: 1 }, [{ url: 'x' }, {}], [400, 429]],
])('%s', async (_why, limits, bodies, want) => {
  const app = await startApp({ limits: { ...NO_LIMITS, ...limits } })
  const statuses: number[] = []
  for (const body of bodies) statuses.push((await app.collect(body)).status)
  expect(statuses).toEqual(want)
  await app.stop()
})

test('RATE_LIMIT_EXCEEDED says when to try again', async () => {
  const limits = { ...NO_LIMITS, tokenEventsPerMinute: 1, addressEventsPerMinute: 2 }
  const app = await startApp({ limits })
  await app.collect({})
  const ofToken = await app.collect({})
  expect(ofToken.headers.get('retry-after')).toMatch(/^[1-9]\d?$/)
  expect(await outcome(ofToken)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' })
  await app.stop()
})

test('an address that is at its limit is refused before its token is looked up', async () => {
  let lookups = 0
  const app = await startApp({
    limits: { ...NO_LIMITS, addressEventsPerMinute: 1 },
    findProject: () => {
      lookups += 1
      return Promise.resolve(toStoredProject({ ...PROJECT, createdAt: new Date(0) }))
    },
  })
  const statuses = [await app.collect({}), await app.collect({})].map(({ status }) => status)
  expect([statuses, lookups]).toEqual([[202, 429], 1])
  await app.stop()
})

/** Events with 64 different properties each: an event is 65 values. */
const heavy = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    properties: Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`k${i}`, `${n}-${i}`])),
  }))

test('what may wait to be loaded is limited, for large requests first', async () => {
  const waiting = createWaitingWork(700, () => ({
    askedAt: -Infinity,
    isLate: false,
    oldestAt: Infinity,
  }))
  const app = await startApp({
    checkWork: ({ id }, work) => waiting.check(id, work),
    collect: createCollect(() => [{ write: () => Promise.resolve(), waiting }]),
  })
  const collect = async (body: unknown): Promise<number> => (await app.collect(body)).status
  const statuses = []
  for (const body of [heavy(6), heavy(6), heavy(2), heavy(2), heavy(1), [{}, {}]]) {
    statuses.push(await collect(body))
  }
  expect(statuses).toEqual([202, 429, 202, 429, 429, 202])
  const refused = await app.collect(heavy(1))
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await outcome(refused)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' })
  await app.stop()
})

test('a large request of a project that has too much waiting is refused by its size', async () => {
  const waiting = createWaitingWork(40, () => ({
    askedAt: -Infinity,
    isLate: false,
    oldestAt: Infinity,
  }))
  const app = await startApp({ checkWork: ({ id }, work) => waiting.check(id, work) })
  const invalid = { token: PROJECT.token, events: [{ unknown: 'x'.repeat(100_000) }] }
  const before = await app.collect(invalid)
  waiting.add(PROJECT.id, 40, new Date())
  const inHeader = await app.collect(invalid)
  const inBody = await fetch(`${app.url}/v1/events`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(invalid),
  })
  expect([before, inHeader, inBody].map(({ status }) => status)).toEqual([400, 429, 429])
  await app.stop()
})

test('bodies in memory are limited; what follows is accepted again', async () => {
  let collecting = 0
  let answer = (): void => undefined
  const waits = new Promise<void>((resolve) => (answer = resolve))
  const app = await startApp({
    maxBytesInFlight: 2_500_000,
    collect: async ({ events: { length } }) => {
      collecting++
      await waits
      return { accepted: length, bots: 0, withoutUser: [] }
    },
  })
  const first = [app.collect(large), app.collect(large)]
  await until(() => collecting === 2)
  const refused = await app.collect(large)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await outcome(refused)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' })
  const small = app.collect({})
  answer()
  const statuses = (await Promise.all([...first, small])).map(({ status }) => status)
  expect(statuses).toEqual([202, 202, 202])
  expect((await app.collect(large)).status).toBe(202)
  await app.stop()
})
