/** Connections to the inbox of a shard that break at any byte: accepted events are stored, and each event counts once. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import { withLease } from '../../../../src/clickhouse/lease/lease.js'
import { getPort } from '../../../../src/clickhouse/embedded/member.js'
import { sql, string } from '../../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../../src/clickhouse/store.js'
import { chooseShard } from '../../../../src/cluster/choose-shard.js'
import type { ApiError } from '../../../../src/contract/errors.js'
import {
  createCollect,
  type Collect,
  type Entrance,
} from '../../../../src/ingest/collect/collect.js'
import { createInboxWriter } from '../../../../src/ingest/inbox/inbox-writer.js'
import { HOUR_MS } from '../../../../src/lib/time.js'
import type { StoredProject } from '../../../../src/projects/project.js'
import {
  createOn,
  createShards,
  type TestShards,
} from '../../../support/cluster/shard-databases.js'
import { stride } from '../../../support/effort.js'
import { getTestEndpoint } from '../../../support/engine/engine.js'
import { spreadFaults } from '../../../support/faults/byte-faults.js'
import {
  startByteProxy,
  type ByteProxy,
  type Fault,
  type Harm,
  type Passed,
} from '../../../support/faults/byte-proxy.js'
import { newDatabase } from '../../../support/store/database.js'
import { select } from '../../../support/store/facts.js'
import { loadWaiting } from '../../../support/store/loading.js'

let databases: TestShards
let proxy: ByteProxy
/** The second shard as the collector reaches it. */
let second: Store
let project: StoredProject
/** Writes until the store has taken the events, however slow it is. */
let patient: Collect
/** Gives up soon: it is for connections of which none works. */
let impatient: Collect
let size: Passed

beforeAll(async () => {
  databases = await createShards(2)
  proxy = await startByteProxy(getPort(getTestEndpoint()))
  const [first, { store }] = databases.cluster.shards as readonly [Shard, Shard]
  second = connectStore({
    ...newDatabase(),
    database: store.database,
    url: `http://127.0.0.1:${proxy.port}`,
  })
  project = await createOn(databases.cluster, 0, 1)
  const open = (timeoutMs: number): Collect => {
    const [one, other] = [first.store, second].map(({ writer }) => ({
      write: createInboxWriter(writer, { timeoutMs }).write,
    })) as [Entrance, Entrance]
    return createCollect(() => [one, other])
  }
  patient = open(HOUR_MS)
  impatient = open(300)
  expect(await send(createEvents())).toBe('accepted')
  proxy.set()
  expect(await send(createEvents())).toBe('accepted')
  size = proxy.passed()
})
afterAll(async () => {
  await second.close()
  await proxy.stop()
  await databases.drop()
})
type Shard = TestShards['cluster']['shards'][number]

/** The ids of all events that were sent. */
const sent: string[] = []

interface Event {
  readonly event_id: string
  readonly user_id: string
  readonly path: string
}

/** Creates events for both shards, the second of which gets several rows. */
function createEvents(): readonly Event[] {
  const created = Array.from({ length: 5 }, (_, i): Event => {
    const event_id = randomUUID()
    return { event_id, user_id: findUser(i === 0 ? 0 : 1), path: `/${event_id}` }
  })
  sent.push(...created.map(({ path }) => path))
  return created
}

const findUser = (shard: number): string => {
  for (;;) {
    const user_id = randomUUID()
    if (chooseShard({ user_id }, project, new Date()) === shard) return user_id
  }
}

/** Sends events to the collector. Returns `accepted`, or the code of the error. */
const send = (events: readonly Event[], collect = patient): Promise<string> =>
  collect({
    project,
    events,
    client: { ip: '203.0.113.77', userAgent: 'Mozilla/5.0 Firefox/128.0', isPage: true },
    receivedAt: new Date(),
  }).then(
    () => 'accepted',
    (error: unknown) => (error as ApiError).code,
  )

/** Sends events while connections are harmed, then those that were refused once more without harm. */
async function harm(fault: Fault, collect: Collect): Promise<string> {
  const events = createEvents()
  proxy.set(fault)
  const outcome = await send(events, collect)
  proxy.set()
  if (outcome !== 'accepted') expect(await send(events)).toBe('accepted')
  return outcome
}

test.each<[what: string, harm: Harm, step: number]>([
  ['are cut', 'cut', 1_901],
  ['are reset', 'reset', 1_901],
  ['hang', 'hang', 2_001],
])('connections that %s, all of them', async (_what, kind, step) => {
  for (const fault of spreadFaults(size, [kind], stride(step))) {
    const outcome = await harm({ ...fault, isOnce: false }, impatient)
    expect(['accepted', 'SERVICE_UNAVAILABLE']).toContain(outcome)
  }
})

test('a connection that ends, and then another one that does not', async () => {
  for (const fault of spreadFaults(size, ['cut', 'reset'], stride(97))) {
    expect({ fault, outcome: await harm({ ...fault, isOnce: true }, patient) }).toEqual({
      fault,
      outcome: 'accepted',
    })
  }
})

// The last test: it loads what the others have sent.
test('each event counts once, in the store of its sender, and nothing is rejected', async () => {
  const { shards } = databases.cluster
  const counted = await Promise.all(
    shards.map(async ({ store }) => {
      await withLease(store.writer, 'loader', () => loadWaiting(store.writer))
      const rejected = await select<object>(store, sql`SELECT line, reason FROM rejections`)
      expect(rejected).toEqual([])
      const rows = await select<{ path: string }>(
        store,
        sql`SELECT path FROM events WHERE project_id = ${string(project.id)}`,
      )
      return rows.map(({ path }) => path)
    }),
  )
  expect(counted.map(({ length }) => length)).toEqual([sent.length / 5, (sent.length / 5) * 4])
  expect(counted.flat().sort()).toEqual([...sent].sort())
})
