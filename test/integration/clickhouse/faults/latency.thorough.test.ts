/** A store that is far away, or slow: requests are answered, or end at their deadline. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { RunningService } from '../../../../src/bootstrap/serving/start-service.js'
import { connectStore, type Store } from '../../../../src/clickhouse/store.js'
import { startChaosProxy, type ChaosProxy } from '../../../support/faults/chaos-proxy.js'
import { createDatabase, type TestDatabase } from '../../../support/store/database.js'
import { createKeys, type TestKeys } from '../../../support/world/keys.js'
import { startTestService } from '../../../support/world/service.js'
import { newProject } from '../../../support/world/world.js'

const TIMEOUT_MS = 2_000
/** Further away than keys are looked up for. */
const FAR_MS = 5_000

let database: TestDatabase
let keys: TestKeys
let proxy: ChaosProxy
let store: Store
let service: RunningService
let key: string
let unused: string
let token: string
beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
  const project = await newProject(database.store)
  token = project.token
  key = await keys.issue(project.id, new Date())
  unused = await keys.issue(project.id, new Date())
  proxy = await startChaosProxy(database.endpoint.url)
  store = connectStore({ ...database.endpoint, url: proxy.url })
  // Each query asks the store.
  const env = { QUERY_TIMEOUT_MS: String(TIMEOUT_MS), CACHE_MB: '0' }
  service = await startTestService({ store, now: () => new Date(), env })
})
afterAll(async () => {
  await service.stop()
  await store.close()
  await proxy.stop()
  await database.drop()
  await keys.remove()
})

const query = (by = key): Promise<Response> =>
  fetch(`${service.address}/v1/analytics/query`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${by}`, 'Content-Type': 'application/json' },
    body: '{ "date_range": "today" }',
  })
const send = (): Promise<Response> =>
  fetch(`${service.address}/v1/events`, { method: 'POST', body: JSON.stringify({ token }) })

/** Makes requests at once. Returns their statuses. */
async function askAll(...asked: readonly (() => Promise<Response>)[]): Promise<readonly number[]> {
  const responses = await Promise.all(asked.map((ask) => ask()))
  await Promise.all(responses.map((response) => response.text()))
  return responses.map(({ status }) => status)
}

// From now on the key and the token are known for some seconds.
beforeEach(async () => {
  proxy.fail({ kind: 'none' })
  expect(await askAll(query, send)).toEqual([200, 202])
})

test('150 ms away: queries and events are answered, also with a key that must be looked up', async () => {
  proxy.fail({ kind: 'latency', ms: 150 })
  expect(await askAll(query, send, () => query(unused))).toEqual([200, 202, 200])
})

test('3 s away: a query ends at its deadline, and events are kept', async () => {
  proxy.fail({ kind: 'latency', ms: 3_000 })
  expect(await askAll(query, send)).toEqual([504, 202])
})

test('2.5 s away: a key is looked up all the same, and its query ends at the deadline', async () => {
  const other = await keys.issue((await newProject(database.store)).id, new Date())
  proxy.fail({ kind: 'latency', ms: 2_500 })
  expect(await askAll(() => query(other))).toEqual([504])
})

test('5 s away: a key that must be looked up is not refused as invalid', async () => {
  const other = await keys.issue((await newProject(database.store)).id, new Date())
  proxy.fail({ kind: 'latency', ms: FAR_MS })
  expect(await askAll(() => query(other))).toEqual([503])
})
