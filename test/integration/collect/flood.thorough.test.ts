/** A flood of made-up tokens, or a store that hangs, keeps nobody else from being served for longer than it must. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { randomId } from '../../../src/lib/random-id.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { createPublicToken } from '../../../src/projects/public-token.js'
import { startChaosProxy, type ChaosProxy } from '../../support/faults/chaos-proxy.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { until } from '../../support/until.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { startTestService } from '../../support/world/service.js'
import { newProject } from '../../support/world/world.js'

const FLOOD_MS = 6_000
const SENDERS = 64

let database: TestDatabase
let proxy: ChaosProxy
let store: Store
let service: RunningService
let project: StoredProject
let keys: TestKeys
let key: string
beforeAll(async () => {
  database = await createDatabase()
  project = await newProject(database.store)
  keys = await createKeys(database.store)
  key = await keys.issue(project.id, new Date())
  proxy = await startChaosProxy(database.endpoint.url)
  store = connectStore({ ...database.endpoint, url: proxy.url })
  service = await startTestService({ store, now: () => new Date() })
})
afterAll(async () => {
  await service.stop()
  await store.close()
  await proxy.stop()
  await database.drop()
  await keys.remove()
})

async function send(token: string, text = ''): Promise<number> {
  const response = await fetch(`${service.address}/v1/events`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify({ user_id: 'u', properties: { text } }),
  })
  await response.arrayBuffer()
  return response.status
}

async function readProject(): Promise<number> {
  const headers = { Authorization: `Bearer ${key}` }
  const response = await fetch(`${service.address}/v1/project`, { headers })
  await response.arrayBuffer()
  return response.status
}

/** Calls `act` again and again, in several senders, until the time is over; counts what it returns. */
async function repeat(
  ms: number,
  senders: number,
  act: () => Promise<number>,
): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  const end = performance.now() + ms
  const one = async (): Promise<void> => {
    while (performance.now() < end) {
      const status = await act()
      counts[status] = (counts[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: senders }, one))
  return counts
}

test.each([
  ['of the form of earlier versions', () => randomId('tallypub_', 24)],
  ['with wrong check sums', () => randomId('tallypub_', 30)],
  ['with right check sums', createPublicToken],
])('a flood of made-up tokens %s', async (_, makeUp) => {
  expect([await send(project.token), await readProject()]).toEqual([202, 200])
  const paced = async (act: () => Promise<number>) => {
    await sleep(50)
    return act()
  }
  const [flood, events, queries] = await Promise.all([
    repeat(FLOOD_MS, SENDERS, () => send(makeUp())),
    repeat(FLOOD_MS, 1, () => paced(() => send(project.token))),
    repeat(FLOOD_MS, 1, () => paced(readProject)),
  ])
  expect(Object.keys(flood).filter((status) => status !== '401' && status !== '503')).toEqual([])
  expect(Object.keys(events)).toEqual(['202'])
  expect(Object.keys(queries)).toEqual(['200'])
})

test('a store that hangs: requests are refused, and accepted when it is back', async () => {
  expect(await send(project.token)).toBe(202)
  proxy.fail({ kind: 'black hole' })
  const text = 'x'.repeat(20_000)
  expect(Object.keys(await repeat(8_000, 256, () => send(project.token, text)))).toEqual(['503'])
  proxy.fail({ kind: 'none' })
  await until(async () => (await send(project.token)) === 202)
})
