/** Leases on a real engine: one holder at a time, handover, failures, and holders that died. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Connection } from '../../../src/clickhouse/connection.js'
import {
  acquireLease,
  HANDOVER_MS,
  LeaseLostError,
  LeaseTimeoutError,
  withLease,
  type Lease,
} from '../../../src/clickhouse/lease/lease.js'
import { LEASE_TABLES } from '../../../src/clickhouse/lease/lease-tables.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import { thoroughTest } from '../../support/effort.js'
import { until } from '../../support/until.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'

let database: TestDatabase
let connections: readonly Connection[]

beforeAll(async () => {
  database = await createDatabase()
  connections = Array.from({ length: 6 }, () => connect(database.endpoint, 'admin'))
})

afterAll(async () => {
  await Promise.all(connections.map((connection) => connection.close()))
  await database.drop()
})

const first = (): Connection => connections[0]!

/** Returns the number of the newest generation. */
async function readNewestGeneration(name: 'loader' | 'migrations'): Promise<number> {
  const [newest] = await LEASE_TABLES.listGenerations(first(), name)
  return newest!.number
}

test('contenders hold the lease one after the other, and each gets its turn', async () => {
  let inside = 0
  const generations: number[] = []
  const work = async ({ generation }: Lease): Promise<void> => {
    inside += 1
    expect(inside).toBe(1)
    await sleep(5)
    inside -= 1
    generations.push(generation)
  }
  const contend = async (connection: Connection): Promise<void> => {
    for (let i = 0; i < 5; i += 1) await withLease(connection, 'projects', work)
  }
  await Promise.all(connections.map(contend))
  expect(generations).toHaveLength(30)
  expect(generations).toEqual([...new Set(generations)].sort((a, b) => a - b))
  expect(await LEASE_TABLES.listGenerations(first(), 'projects')).toEqual([
    { number: generations.at(-1), age: expect.any(Number) },
  ])
})

test('the result of the work is returned, and the lease is released', async () => {
  expect(await withLease(first(), 'loader', () => Promise.resolve('done'))).toBe('done')
  await withLease(first(), 'loader', (lease) => lease.assertHeld(), { waitMs: 0 })
})

test('an error of the work is thrown, and the lease is released', async () => {
  const failure = new Error('it failed')
  await expect(withLease(first(), 'loader', () => Promise.reject(failure))).rejects.toBe(failure)
  expect(await withLease(first(), 'loader', () => Promise.resolve(1), { waitMs: 0 })).toBe(1)
})

test('a wait that exceeds its limit is an error', async () => {
  await withLease(first(), 'loader', async () => {
    const second = withLease(first(), 'loader', () => Promise.resolve(), { waitMs: 300 })
    await expect(second).rejects.toBeInstanceOf(LeaseTimeoutError)
  })
})

thoroughTest('a holder that renews its lease is not replaced, however long it works', async () => {
  await withLease(first(), 'loader', async (lease) => {
    const second = withLease(first(), 'loader', () => Promise.resolve(), { waitMs: 11_500 })
    await expect(second).rejects.toBeInstanceOf(LeaseTimeoutError)
    await lease.assertHeld()
    expect(lease.signal.aborted).toBe(false)
  })
})

thoroughTest('a holder that does not renew its lease for 10 seconds is replaced', async () => {
  await LEASE_TABLES.createGeneration(first(), 'loader', (await readNewestGeneration('loader')) + 1)
  const begun = performance.now()
  await withLease(first(), 'loader', () => Promise.resolve())
  expect(performance.now() - begun).toBeGreaterThan(8_900)
})

test('a holder that was replaced notices', async () => {
  await withLease(first(), 'migrations', async (lease) => {
    expect(await readNewestGeneration('migrations')).toBe(1)
    await LEASE_TABLES.createGeneration(first(), 'migrations', 2)
    await first().execute(statement(sql`DROP TABLE lease_migrations_1`))
    await expect(lease.assertHeld()).rejects.toBeInstanceOf(LeaseLostError)
    await until(() => lease.signal.aborted)
    await expect(lease.assertHeld()).rejects.toBeInstanceOf(LeaseLostError)
  })
})

/** Holds the lease for step after step, and hands it over between two steps if another process requests it. */
function workEndlessly(connection: Connection): {
  readonly steps: () => number
  readonly stop: () => Promise<void>
} {
  const stopping = new AbortController()
  const isStopped = (): boolean => stopping.signal.aborted
  let steps = 0
  const run = async (): Promise<void> => {
    while (!isStopped()) {
      const lease = await acquireLease(connection, 'loader', { requestsTurn: false })
      try {
        do {
          await sleep(50)
          steps += 1
        } while (!isStopped() && !(await lease.isWanted()))
      } finally {
        await lease.release()
      }
      await sleep(HANDOVER_MS)
    }
  }
  const ended = run()
  return {
    steps: () => steps,
    stop: () => {
      stopping.abort()
      return ended
    },
  }
}

test('a holder with endless work keeps the lease, and hands it over when another waits', async () => {
  const holder = workEndlessly(first())
  await until(() => holder.steps() > 0)
  const held = await readNewestGeneration('loader')
  await until(() => holder.steps() > 20)
  expect(await readNewestGeneration('loader')).toBe(held)

  for (const connection of connections.slice(1, 4)) {
    const before = holder.steps()
    await withLease(connection, 'loader', () => Promise.resolve())
    // Without a request, the holder would go on for 20 s, of which a step takes a twentieth of a second.
    expect(holder.steps() - before).toBeLessThan(200)
  }
  await holder.stop()
  const left = await readNewestGeneration('loader')
  await withLease(first(), 'loader', () => Promise.resolve(), { waitMs: 0 })
  expect(await readNewestGeneration('loader')).toBe(left + 1)
})

test('a waiter for the same work does not request the lease', async () => {
  const lease = await acquireLease(first(), 'loader')
  const other = acquireLease(connections[1]!, 'loader', { waitMs: 800, requestsTurn: false })
  await expect(other).rejects.toBeInstanceOf(LeaseTimeoutError)
  expect(await lease.isWanted()).toBe(false)
  const insistent = acquireLease(connections[1]!, 'loader')
  await until(() => lease.isWanted())
  await lease.release()
  await (await insistent).release()
})

test('a request is for one generation only', async () => {
  const held = await acquireLease(first(), 'loader')
  const asked = held.generation
  const next = acquireLease(connections[1]!, 'loader')
  await until(() => LEASE_TABLES.isReleaseRequested(first(), 'loader', asked))
  await held.release()
  await (await next).release()
  await withLease(first(), 'loader', async (lease) => {
    await lease.assertHeld()
    expect(await LEASE_TABLES.isReleaseRequested(first(), 'loader', asked)).toBe(false)
  })
  expect(await LEASE_TABLES.listGenerations(first(), 'loader')).toHaveLength(1)
})

test('releasing a lease twice releases it once', async () => {
  const lease = await acquireLease(first(), 'loader')
  await Promise.all([lease.release(), lease.release()])
  const next = await acquireLease(first(), 'loader', { waitMs: 0 })
  await lease.release()
  await next.assertHeld()
  await expect(acquireLease(first(), 'loader', { waitMs: 0 })).rejects.toBeInstanceOf(
    LeaseTimeoutError,
  )
  await next.release()
})

thoroughTest('a waiter that makes no request gets its turn', async () => {
  const lease = await acquireLease(first(), 'loader')
  expect(await lease.isWanted()).toBe(false)
  await sleep(20_500)
  expect(await lease.isWanted()).toBe(true)
  await lease.assertHeld()
  await lease.release()
})
