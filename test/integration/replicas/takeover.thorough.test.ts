/** A replica finishes what another one has begun, wherever that one was killed. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../../src/clickhouse/connection.js'
import { acquireLease, LeaseTimeoutError, withLease } from '../../../src/clickhouse/lease/lease.js'
import type { Member } from '../../../src/clickhouse/endpoint.js'
import { createReplicaSet } from '../../../src/clickhouse/replica-set.js'
import {
  choose,
  MIGRATING,
  readChoice,
  recordTables,
  SPREAD_MS,
} from '../../../src/clickhouse/replicas/choice.js'
import {
  handOver,
  NotReadyError,
  takeOver,
  withConnection,
} from '../../../src/clickhouse/replicas/take-over.js'
import { watchReplicas } from '../../../src/clickhouse/replicas/watch.js'
import {
  alignStandby,
  findLacking,
  hashTables as hashShared,
  listShared,
} from '../../../src/clickhouse/replicas/standby.js'
import { sql, statement, string, type Sql } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { readRollupState } from '../../../src/rollups/progress.js'
import { createRandom } from '../../../src/demo/random.js'
import { scaled } from '../../support/effort.js'
import { describeReplicated } from '../../support/replicas/describe-replicated.js'
import { startReplicas, type ReplicaGroup } from '../../support/replicas/replicas.js'
import {
  createReplicatedStore,
  hashTables,
  PATH,
  type ReplicatedStore,
  type ReplicaStore,
} from '../../support/replicas/replicated-store.js'
import { expectConsistentFacts, listLeftovers, select } from '../../support/store/facts.js'
import { breakAfter } from '../../support/store/breaking.js'
import {
  checkRollups,
  deleteUser,
  ensureRollups,
  finishInterruptedWork,
  loadStream,
  loadWaiting,
  rebuildRollups,
} from '../../support/store/loading.js'
import { feed } from '../../support/store/stream.js'
import { until } from '../../support/until.js'
import { createWorld } from '../../support/world/world.js'

const TAKEOVERS = scaled(6)
const SEED = Number(process.env['KILLS_SEED'] ?? Math.floor(Math.random() * 1e9))

/** Sends events with ids until it is stopped, and each again until it is confirmed. */
function startSender(
  stores: readonly Store[],
  project: string,
  sender: number,
): { stop(): Promise<number> } {
  const random = createRandom(SEED + sender)
  let isStopped = false
  const run = async (): Promise<number> => {
    let confirmed = 0
    for (let n = 0; !isStopped; n += 1) {
      const lines = Array.from({ length: 1 + random.below(5) }, (_, i) => ({
        timestamp: `2026-01-${String(1 + random.below(28)).padStart(2, '0')}T10:${String(random.below(60)).padStart(2, '0')}:00Z`,
        user_id: `user-${random.below(40)}`,
        path: `/${random.below(9)}`,
        country: ['DE', 'FR', 'US'][random.below(3)],
        event_id: `${sender}-${n}-${i}`,
      }))
      // As long as nobody confirms them, they are sent again: to the other replica.
      for (let to = random.below(2); ; to = 1 - to) {
        const isStored = await feed(stores[to]!, project, lines).then(
          () => true,
          () => false,
        )
        if (isStored) break
        await sleep(50)
      }
      confirmed += lines.length
      await sleep(random.below(100))
    }
    return confirmed
  }
  const ended = run()
  return {
    stop: () => {
      isStopped = true
      return ended
    },
  }
}

describeReplicated('a replicated store', () => {
  let group: ReplicaGroup
  let replicated: ReplicatedStore
  beforeAll(async () => {
    group = await startReplicas()
    replicated = await createReplicatedStore(group)
  })
  afterAll(async () => {
    await replicated.close()
    await group.stop()
  })

  const expectEqualTables = async (): Promise<void> => {
    const [a, b] = replicated.stores
    expect(await findLacking(a.store.admin)).toEqual(new Map())
    expect(await findLacking(b.store.admin)).toEqual(new Map())
    expect(await hashTables(b.store)).toEqual(await hashTables(a.store))
  }

  test('has the same tables on both replicas, and no plain one', async () => {
    const [a, b] = replicated.stores
    const plain = sql`
SELECT name FROM system.tables
WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND NOT startsWith(engine, 'Replicated')`
    expect([await select(a.store, plain), await select(b.store, plain)]).toEqual([[], []])
    await expectEqualTables()
  })

  test('gets back on a standby what was dropped or changed there', async () => {
    const [a, b] = replicated.stores
    const readSchema = ({ store, replica }: ReplicaStore): Promise<readonly object[]> =>
      select(
        store,
        sql`
SELECT name, create_table_query FROM system.tables WHERE database = currentDatabase() ORDER BY name`,
      ).then((rows) =>
        (rows as readonly { name: string; create_table_query: string }[]).map((row) => ({
          ...row,
          create_table_query: row.create_table_query.replace(`'${replica.name}'`, `'replica'`),
        })),
      )
    for (const change of [
      sql`DROP TABLE feed_visits`,
      sql`ALTER TABLE event_changes ADD COLUMN of_nobody UInt8`,
      sql`CREATE TABLE of_nobody (x UInt8) ENGINE = Null`,
    ]) {
      await b.store.admin.execute(statement(change))
    }
    await alignStandby(await listShared(a.store.admin), b.store.admin)
    expect(await readSchema(b)).toEqual(await readSchema(a))
  })

  test('gives a lease to one process, whichever replica it asks', async () => {
    const [a, b] = replicated.stores
    const lease = await acquireLease(a.store.writer, 'moves')
    await expect(
      withLease(b.store.writer, 'moves', () => Promise.resolve(), { waitMs: 500 }),
    ).rejects.toThrow(LeaseTimeoutError)
    expect(await lease.isWanted()).toBe(true)
    await lease.assertHeld()
    await lease.release()
    const next = await withLease(b.store.writer, 'moves', ({ generation }) =>
      Promise.resolve(generation),
    )
    expect(next).toBe(lease.generation + 1)
    await expect(lease.assertHeld()).rejects.toThrow('lost')
  })

  test('lets one of many contenders take each generation', async () => {
    const connections = replicated.stores.flatMap(({ endpoint }) => [
      connect(endpoint, 'writer'),
      connect(endpoint, 'writer'),
    ])
    let inside = 0
    const generations: number[] = []
    const contend = async (connection: (typeof connections)[number]): Promise<void> => {
      for (let i = 0; i < 3; i += 1) {
        await withLease(connection, 'projects', async ({ generation }) => {
          inside += 1
          expect(inside).toBe(1)
          await sleep(5)
          inside -= 1
          generations.push(generation)
        })
      }
    }
    await Promise.all(connections.map(contend))
    expect(generations).toEqual([...new Set(generations)].sort((one, other) => one - other))
    expect(generations).toHaveLength(12)
    await Promise.all(connections.map((connection) => connection.close()))
  })

  test('lets services learn of a choice before anything is loaded', async () => {
    const { database, accounts } = group.replicas[0].endpoint
    const set = createReplicaSet(
      { database, accounts },
      PATH,
      group.replicas.map(({ name, endpoint: { url } }) => ({ name, url })),
    )
    const [a, b] = set.members
    await withConnection(a!, (admin) => choose(admin, 0))
    const watch = watchReplicas(set)
    await watch.look()
    await handOver(set, b!)
    await watch.stop()
    const [row] = await select<{ ms: number }>(
      replicated.stores[0].store,
      sql`
SELECT toInt32(
  maxIf(toUnixTimestamp64Milli(at), startsWith(key, 'loader/') AND state = 'released')
  - maxIf(toUnixTimestamp64Milli(at), startsWith(key, 'active/'))) AS ms FROM leases`,
    )
    expect(row!.ms).toBeGreaterThanOrEqual(SPREAD_MS)
  })

  test('finishes views that were being created on it when the active replica was killed', async () => {
    const [a, b] = replicated.stores
    await recordTables(b.store.admin, await listShared(b.store.admin))
    const wanted = await hashShared(b.store.admin)
    await a.store.admin.execute(statement(sql`DROP VIEW feed_visits SYNC`))
    expect(await hashShared(a.store.admin)).not.toBe(wanted)
    const derived = { names: [], abandon: () => Promise.resolve() }
    const last = await readChoice(b.store.admin)
    expect(await takeOver(a.endpoint as Member, last, derived)).toBe(true)
    expect(await hashShared(a.store.admin)).toBe(wanted)

    await recordTables(b.store.admin, MIGRATING)
    await expect(takeOver(b.endpoint as Member, last, derived)).rejects.toThrow(NotReadyError)
  })

  test('loads on while the standby is away, although an insert still waits for it', async () => {
    const [a, b] = replicated.stores
    const project = await createWorld(a.store, [])
    const send = (day: number): Promise<void> =>
      feed(a.store, project.id, [
        { timestamp: `2026-01-0${day}T10:00:00Z`, user_id: 'a', path: '/', event_id: `${day}` },
      ])
    await b.replica.kill()
    // Keeper takes the standby for alive until its session ends.
    const waiting = send(1).catch((error: unknown) => error)
    const count = async (table: Sql): Promise<number> =>
      (await select<{ n: number }>(a.store, sql`SELECT toUInt32(count()) AS n FROM ${table}`))[0]!.n
    await until(async () => (await count(sql`inbox WHERE row = 0`)) > 0)
    replicated.setQuorum(1)
    await send(2)
    for (let n = 3; n < 5; n += 1) {
      await loadWaiting(a.store.writer)
      await send(n)
    }
    await loadWaiting(a.store.writer)
    expect(await count(sql`events WHERE project_id = ${string(project.id)}`)).toBe(4)
    await b.replica.start()
    await waiting
    await until(async () => (await findLacking(b.store.admin)).size === 0)
    replicated.setQuorum(2)
    await loadWaiting(a.store.writer)
    expect(await listLeftovers(a.store)).toEqual([])
  })

  test.each<{ why: string; last: RegExp }>([
    { why: 'its events', last: /DELETE FROM events/ },
    { why: 'a part of its counts', last: /INSERT INTO sessions_daily/ },
  ])('finishes a deletion of which a killed replica had deleted $why', async ({ last }) => {
    const [a, b] = replicated.stores
    const project = await createWorld(a.store, [])
    await feed(a.store, project.id, [
      { timestamp: '2026-01-10T10:10:00Z', user_id: 'kept', path: '/b', country: 'DE' },
      { timestamp: '2026-01-10T10:20:00Z', user_id: 'gone', path: '/b', country: 'DE' },
      { timestamp: '2026-02-10T10:10:00Z', user_id: 'gone', path: '/c', country: 'FR' },
    ])
    await loadWaiting(a.store.writer)
    const broken = { ...a.store, writer: breakAfter(a.store.writer, last) }
    await expect(deleteUser(broken, project.id, 'gone')).rejects.toThrow()
    expect(await findLacking(b.store.admin)).toEqual(new Map())

    await finishInterruptedWork(b.store.writer)
    // What was subtracted is not known, so no query reads the counts until they are built anew.
    expect(await readRollupState(b.store.reader)).toBe('building')
    await ensureRollups(b.store)
    expect(await checkRollups(b.store.writer, {})).toMatchObject({ different: 0 })
    await expectConsistentFacts(b.store, project.id)
    expect(
      await select(
        b.store,
        sql`SELECT path, count() AS events FROM events WHERE project_id = ${string(project.id)} GROUP BY path`,
      ),
    ).toEqual([{ path: '/b', events: 1 }])
    // The tables of the killed replica go when it works again.
    await alignStandby(await listShared(b.store.admin), a.store.admin)
    await finishInterruptedWork(a.store.writer)
    expect(await listLeftovers(a.store)).toEqual([])
  })

  test('deletes users, moves events between sessions and rebuilds rollups as one server does', async () => {
    const [a, b] = replicated.stores
    const { store } = a
    const project = await createWorld(store, [])
    const send = (...events: readonly object[]): Promise<void> => feed(b.store, project.id, events)
    await send(
      { timestamp: '2026-01-10T10:10:00Z', user_id: 'a', path: '/b', country: 'DE' },
      { timestamp: '2026-01-10T10:10:00Z', user_id: 'b', path: '/b', country: 'DE' },
      { timestamp: '2026-02-10T10:10:00Z', user_id: 'b', path: '/b', country: 'DE' },
    )
    await loadWaiting(store.writer)
    // It comes before a stored session, which then has another country.
    await send({ timestamp: '2026-01-10T10:00:00Z', user_id: 'a', path: '/a', country: 'FR' })
    await loadWaiting(store.writer)
    await expectConsistentFacts(store, project.id)
    expect(await checkRollups(store.writer, {})).toMatchObject({ different: 0 })

    await deleteUser(store, project.id, 'b')
    await expectConsistentFacts(store, project.id)
    expect(await checkRollups(store.writer, {})).toMatchObject({ different: 0 })
    expect(
      await select(
        store,
        sql`SELECT country, count() AS events FROM events WHERE project_id = ${string(project.id)} GROUP BY country`,
      ),
    ).toEqual([{ country: 'FR', events: 2 }])

    await rebuildRollups(store.writer, {})
    expect(await checkRollups(store.writer, {})).toMatchObject({ different: 0 })
    expect(await listLeftovers(store)).toEqual([])
    await expectEqualTables()
  })

  test(`loses and doubles no event in ${TAKEOVERS} takeovers (seed ${SEED})`, async () => {
    const random = createRandom(SEED)
    const project = await createWorld(replicated.stores[0].store, [])
    const stores = replicated.stores.map(({ store }) => store)
    const senders = [1, 2, 3].map((sender) => startSender(stores, project.id, sender))
    let [active, standby]: readonly ReplicaStore[] = replicated.stores
    for (let n = 0; n < TAKEOVERS; n += 1) {
      const killed: ReplicaStore = active
      const next: ReplicaStore = standby
      // It loads until it is killed.
      const loading = (async () => {
        for (;;) await loadStream(killed.store.writer)
      })().catch((error: unknown) => error)
      await sleep(200 + random.below(3_000))
      await killed.replica.kill()
      replicated.setQuorum(1)
      await loading
      expect(await findLacking(next.store.admin)).toEqual(new Map())
      await loadWaiting(next.store.writer)
      await expectConsistentFacts(next.store, project.id)
      await killed.replica.start()
      await until(async () => (await findLacking(killed.store.admin)).size === 0)
      await alignStandby(await listShared(next.store.admin), killed.store.admin)
      replicated.setQuorum(2)
      ;[active, standby] = [next, killed]
    }
    const confirmed = await Promise.all(senders.map((sender) => sender.stop()))
    const { store } = active
    await loadWaiting(store.writer)
    const total = confirmed.reduce((sum, count) => sum + count, 0)
    expect(
      await select(
        store,
        sql`SELECT count() AS events FROM events WHERE project_id = ${string(project.id)}`,
      ),
    ).toEqual([{ events: total }])
    await expectConsistentFacts(store, project.id)
    expect(await checkRollups(store.writer, {})).toMatchObject({ different: 0 })
    expect(await listLeftovers(store)).toEqual([])
    await expectEqualTables()
  })
})
