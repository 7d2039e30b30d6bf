/**
 * The law of the cache: with and without it the same bytes, while one process loads, late events move sessions, and users are
 * deleted.
 *
 * A service without a cache is asked before and after one with a cache. If its two answers are equal, nothing became visible
 * in between, so the answer with the cache has to be equal, too: it was given at a moment between them.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createLoaderContext } from '../../src/bootstrap/open-store.js'
import type { RunningService } from '../../src/bootstrap/serving/start-service.js'
import { createLoaderMonitor } from '../../src/ingest/loader/loader-state.js'
import { countWaitingRows } from '../../src/ingest/loader/stream.js'
import { startStreamingLoader } from '../../src/ingest/loader/streaming-loader.js'
import { createLogger } from '../../src/lib/log.js'
import { until } from '../support/until.js'
import { createDatabase, type TestDatabase } from '../support/store/database.js'
import { deleteUser } from '../support/store/loading.js'
import { feed } from '../support/store/stream.js'
import { createKeys, type TestKeys } from '../support/world/keys.js'
import { startTestService } from '../support/world/service.js'
import { newProject } from '../support/world/world.js'

let database: TestDatabase
let keys: TestKeys

beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
})
afterAll(async () => {
  await keys.remove()
  await database.drop()
})

const ROUNDS = 6
const DAY = '2026-06-14'
const NOW = new Date('2026-06-15T12:00:00Z')
/** The limits of tests on the age of events. */
const CONTEXT = createLoaderContext(36_500)

const EARLY = { filters: [{ type: 'page', path: { operator: 'eq', value: '/early' } }] }
const QUESTIONS = [
  { date_range: '30days', metrics: ['users', 'pageviews', 'events', 'bounce_rate'] },
  { date_range: [DAY, DAY], group_by: ['page:path'], metrics: ['users', 'pageviews'] },
  { date_range: 'all', group_by: ['interval:auto'] },
  { date_range: '7days', group_by: ['utm_source'] },
  { date_range: ['2026-06-15', '2026-06-15'], group_by: ['utm_source'], compare: [DAY, DAY] },
  { date_range: 'today', compare: 'previous_period', group_by: ['interval:auto'] },
]
/** Bodies of other operations, by their path. */
const COHORTS = [
  ['retention', { date_range: '7days', interval: 'day' }],
  ['funnel', { date_range: '7days', steps: [EARLY, { filters: [] }] }],
  ['journeys', { date_range: '7days', from: EARLY }],
] as const
const ASKED = [...QUESTIONS.map((body) => ['query', body] as const), ...COHORTS]

type Asked = readonly [path: string, body: object]

/** The nth inserts: new and known users, and an earlier event that moves a session to another source. */
const events = (n: number): object[] => [
  ...Array.from({ length: 20 }, (_, i) => ({
    timestamp: `${DAY}T10:${String(n).padStart(2, '0')}:${String(i).padStart(2, '0')}Z`,
    user_id: `u${(n * 7 + i) % 40}`,
    path: `/${i % 5}`,
    utm_source: `s${n % 3}`,
  })),
  {
    timestamp: `${DAY}T09:${String(59 - n).padStart(2, '0')}:00Z`,
    user_id: `u${n}`,
    path: '/early',
    utm_source: `early-${n}`,
  },
]

test('with and without cache the same bytes, while events arrive, move and are deleted', async () => {
  const { store } = database
  const project = await newProject(store)
  const quiet = await newProject(store)
  await feed(store, quiet.id, events(0))
  const [key, quietKey] = [await keys.issue(project.id, NOW), await keys.issue(quiet.id, NOW)]
  const cached = await startTestService({ store, now: () => NOW })
  const uncached = await startTestService({ store, now: () => NOW, env: { CACHE_MB: '0' } })
  const loader = startStreamingLoader({
    store,
    context: CONTEXT,
    monitor: createLoaderMonitor(),
    logger: createLogger('silent'),
    intervals: { loadMs: 50, pollMs: 20 },
  })
  const ask = async ({ address }: RunningService, [path, body]: Asked, asker: string) => {
    const response = await fetch(`${address}/v1/analytics/${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${asker}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { text: await response.text(), source: response.headers.get('tally-cache') }
  }
  const found = {
    compared: 0,
    hits: 0,
    versions: new Set<string>(),
    hitPaths: new Set<string>(),
    different: [] as unknown[],
  }
  const state = { isOn: true }
  const compare = async (asked: Asked, asker: string): Promise<void> => {
    const before = await ask(uncached, asked, asker)
    const given = await ask(cached, asked, asker)
    const after = await ask(uncached, asked, asker)
    if (given.source === 'hit') {
      found.hits++
      found.hitPaths.add(asked[0])
    }
    found.versions.add(after.text)
    if (before.text !== after.text) return
    found.compared++
    if (given.text !== after.text) found.different.push([asked, given, after.text])
  }
  // Few at a time: the loader needs its part of the machine, too.
  const asking = [key, quietKey].map(async (asker) => {
    while (state.isOn) for (const asked of ASKED) await compare(asked, asker)
  })
  for (let n = 0; n < ROUNDS; n++) {
    await feed(store, project.id, events(n))
    await until(async () => (await countWaitingRows(store.lookups)).rows === 0)
    if (n % 3 === 2) await deleteUser(store, project.id, `u${n}`, CONTEXT)
  }
  state.isOn = false
  await Promise.all(asking)
  await loader.stop()
  await cached.stop()
  await uncached.stop()
  expect(found.different).toEqual([])
  // Without these, the comparison would show nothing.
  expect(found.hits).toBeGreaterThan(50)
  expect(found.hitPaths).toEqual(new Set(ASKED.map(([name]) => name)))
  expect(found.compared).toBeGreaterThan(50)
  expect(found.versions.size).toBeGreaterThan(ROUNDS)
})
