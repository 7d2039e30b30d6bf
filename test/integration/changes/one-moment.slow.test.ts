/**
 * Every response is of one state of the data: while a project changes, each is either what it was before the change or what it is
 * afterwards. Queries are asked over HTTP without a pause, and the response to each is known for every state.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { announceChange, selectProject, withHidden } from '../../../src/changes/announce-change.js'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import type { DataState, ExplainResponse } from '../../../src/contract/api.js'
import { expireProjects } from '../../../src/deletion/expire-projects.js'
import { createLogger } from '../../../src/lib/log.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { updateProject } from '../../../src/projects/store.js'
import { collectGarbage } from '../../support/collect-garbage.js'
import { sample, scaled, thoroughTest } from '../../support/effort.js'
import { agreeOn } from '../../support/store/clocks.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createContext, deleteUser, rebuildRollups } from '../../support/store/loading.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { watchChange } from '../../support/world/one-moment.js'
import { startTestService } from '../../support/world/service.js'
import { createWorld, NOW, send } from '../../support/world/world.js'

let database: TestDatabase
let keys: TestKeys
/** Keeps no responses, so that each is computed. */
let service: RunningService
let project: StoredProject
let key: string

const DAY = 24 * 60 * 60 * 1000
const COUNTRIES = ['DE', 'FR', 'BA']
const USERS = 60

/** An event of a user; a late one lies days before the user's others. */
const createEvent = (n: number, { isLate }: { readonly isLate: boolean }) => ({
  user_id: `u${n % USERS}`,
  path: `/page/${n % 7}`,
  country: COUNTRIES[n % 3],
  browser: n % 2 === 0 ? 'Firefox' : 'Chrome',
  timestamp: new Date(NOW.getTime() - (isLate ? 9 * DAY : 0) - (n % 97) * 601_000).toISOString(),
})

beforeAll(async () => {
  database = await createDatabase()
  const { store } = database
  keys = await createKeys(store)
  service = await startTestService({
    store,
    now: () => NOW,
    env: { CACHE_MB: '0', RATE_LIMIT: '0' },
  })
  const events = Array.from({ length: 900 }, (_, n) => createEvent(n * 13, { isLate: n % 4 === 0 }))
  const old = Array.from({ length: 300 }, (_, n) => ({
    ...createEvent(n * 7, { isLate: false }),
    timestamp: new Date(NOW.getTime() - (n + 40) * 5 * DAY).toISOString(),
  }))
  project = await createWorld(store, [...old, ...events])
  key = await keys.issue(project.id, NOW, ['read', 'export'])
})
afterAll(async () => {
  await service.stop()
  await keys.remove()
  await database.drop()
})

const watch = (change: () => Promise<unknown>) =>
  watchChange({ address: () => service.address, key }, change)

const TIMES = scaled(2)

test('while events are loaded, some of them late', async () => {
  const { store } = database
  const found = { asked: 0, mixed: [] as unknown[] }
  for (let n = 0; n < TIMES; n++) {
    const events = Array.from({ length: 40 }, (_, i) =>
      createEvent(n * 1009 + i * 31, { isLate: i % 3 === 0 }),
    )
    const { asked, mixed } = await watch(() => send(store, project, events))
    found.asked += asked
    found.mixed.push(...mixed)
  }
  expect(found).toEqual({ asked: expect.any(Number), mixed: [] })
  expect(found.asked).toBeGreaterThan(TIMES)
})

test('explanations name the state of the data', async () => {
  const { store } = database
  const explain = async (): Promise<DataState | undefined> => {
    const response = await fetch(`${service.address}/v1/analytics/explain`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ date_range: '30days', metrics: ['users'] }),
    })
    return ((await response.json()) as ExplainResponse).state
  }
  const before = await explain()
  const again = await explain()
  await send(store, project, [createEvent(1, { isLate: false })])
  const after = await explain()
  let hiding: DataState | undefined
  await withHidden(store.writer, project.id, { keptFrom: '1971-01-01' }, async () => {
    hiding = await explain()
  })
  expect({ before, after, hiding }).toEqual({
    before: { version: expect.stringMatching(/^[0-9a-f]{16}$/), hidesRows: false },
    after: { version: expect.not.stringMatching(before!.version), hidesRows: false },
    hiding: { version: expect.not.stringMatching(after!.version), hidesRows: true },
  })
  expect(again).toEqual(before)
})

describe('while data goes', () => {
  test.each(sample([['u1'], ['u2'], ['u3']], 3))('of the user %s', async (user) => {
    const { mixed } = await watch(() => deleteUser(database.store, project.id, user))
    expect(mixed).toEqual([])
  })

  test('that a project keeps no longer', async () => {
    const { store } = database
    await updateProject(store, project.id, { keepDays: 20 })
    const expire = async (): Promise<void> => {
      const options = {
        store,
        context: createContext(),
        logger: createLogger('silent'),
        waitMs: 5_000,
      }
      await expireProjects(options, agreeOn(NOW))
      await expireProjects(options, agreeOn(NOW))
    }
    const { mixed } = await watch(expire)
    expect(mixed).toEqual([])
  })
})

thoroughTest('while rollups are rebuilt', async () => {
  const { mixed } = await watch(() => rebuildRollups(database.store.writer, {}))
  expect(mixed).toEqual([])
})

test('a query waits while a change is published, and no longer than it may take', async () => {
  const { store } = database
  const hasty = await startTestService({
    store,
    now: () => NOW,
    env: { CACHE_MB: '0', QUERY_TIMEOUT_MS: '3000' },
  })
  const ask = async ({ address }: RunningService): Promise<number> => {
    const response = await fetch(`${address}/v1/analytics/query`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ date_range: '30days', metrics: ['users'] }),
    })
    return response.status
  }
  const change = await announceChange(store.writer, selectProject(project.id), 0)
  const announced = await ask(service)
  await change.publish()
  // Node 20 may collect a timeout that is only a part of another signal.
  const collecting = setInterval(collectGarbage, 100)
  const published = await ask(hasty).finally(() => clearInterval(collecting))
  await change.end()
  expect([announced, published, await ask(service)]).toEqual([200, 503, 200])
  await hasty.stop()
})
