/** What a service asks each shard by itself, over connections that break at any byte: it gets what is true, or an error. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { watchChanges } from '../../../../src/changes/watch-changes.js'
import { getPort } from '../../../../src/clickhouse/embedded/member.js'
import { connectStore, type Store } from '../../../../src/clickhouse/store.js'
import { findFirstEventTime, hasEventsFrom } from '../../../../src/projects/event-times.js'
import { listVersionMarks } from '../../../../src/projects/versions.js'
import { readRollupState } from '../../../../src/rollups/progress.js'
import { stride } from '../../../support/effort.js'
import { spreadFaults } from '../../../support/faults/byte-faults.js'
import {
  startByteProxy,
  type ByteProxy,
  type Harm,
  type Passed,
} from '../../../support/faults/byte-proxy.js'
import { createDatabase, type TestDatabase } from '../../../support/store/database.js'
import { createWorld, newProject } from '../../../support/world/world.js'

let database: TestDatabase
let proxy: ByteProxy
let store: Store
let id: string
/** What is true, by lookup. */
let truth: readonly unknown[]
/** The bytes of a lookup, on average. */
let size: Passed

const LAST = '2026-03-05T10:00:00Z'

beforeAll(async () => {
  database = await createDatabase()
  const { endpoint } = database
  proxy = await startByteProxy(getPort(endpoint))
  store = connectStore({ ...endpoint, url: `http://127.0.0.1:${proxy.port}` })
  const events = ['2026-01-06T11:00:00Z', LAST].map((timestamp) => ({ timestamp, user_id: 'u' }))
  ;({ id } = await createWorld(database.store, events))
  await newProject(database.store, { excludedIps: ['192.0.2.7'] })
  truth = await lookUpHealed()
  proxy.set()
  await lookUp()
  const { request, response } = proxy.passed()
  size = { request: request / LOOKUPS.length, response: response / LOOKUPS.length }
})
afterAll(async () => {
  await store.close()
  await proxy.stop()
  await database.drop()
})

/** Each lookup with what it returns instead of an error. */
const LOOKUPS: readonly (() => Promise<unknown>)[] = [
  () => findFirstEventTime(store.lookups, id),
  () => hasEventsFrom(store.lookups, id, new Date(LAST)),
  () => hasEventsFrom(store.lookups, id, new Date('2026-03-05T10:00:01Z')),
  () => readRollupState(store.lookups),
  async () => (await listVersionMarks(store.lookups)).map((mark) => JSON.stringify(mark)).sort(),
  () => watchChanges(store.lookups, () => new Date()).readVersion(id),
]
const VERSION = LOOKUPS.length - 1

/** Does all lookups at the same time; `none` for one that fails, and for a version that is not known. */
const lookUp = (): Promise<readonly unknown[]> =>
  Promise.all(
    LOOKUPS.map((one) =>
      one().then(
        (found) => found ?? 'none',
        () => 'none',
      ),
    ),
  )

/** Looks up until all is found: a busy store answers some of it too late. */
async function lookUpHealed(): Promise<readonly unknown[]> {
  proxy.set()
  for (let i = 0; i < 20; i++) {
    const found = await lookUp()
    if (!found.includes('none')) return found
  }
  return lookUp()
}

test('what is true of the project', () => {
  expect(truth).toEqual([
    new Date('2026-01-06T11:00:00Z'),
    true,
    false,
    'current',
    [expect.any(String), expect.any(String)],
    expect.any(String),
  ])
})

test.each<[what: string, harms: readonly Harm[], step: number]>([
  ['end', ['cut', 'reset'], 211],
  ['come one by one', ['slow'], 1_501],
])('bytes that %s', async (_what, harms, step) => {
  let failed = 0
  for (const fault of spreadFaults(size, harms, stride(step))) {
    proxy.set(fault)
    const found = await lookUp()
    failed += found.filter((one) => one === 'none').length
    const expected = found.map((one, i) => (one === 'none' ? 'none' : truth[i]))
    expect({ fault, found }).toEqual({ fault, found: expected })
    expect({ fault, found: await lookUpHealed() }).toEqual({ fault, found: truth })
  }
  if (harms.includes('cut')) expect(failed).toBeGreaterThan(0)
})

test('a version that is not read in time is not known', async () => {
  for (const fault of spreadFaults(size, ['hang'], stride(701))) {
    proxy.set(fault)
    const found = await LOOKUPS[VERSION]!()
    expect({ fault, found }).toEqual({ fault, found: found === undefined ? found : truth[VERSION] })
    expect({ fault, found: await lookUpHealed() }).toEqual({ fault, found: truth })
  }
})
