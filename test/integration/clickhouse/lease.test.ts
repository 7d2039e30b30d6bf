/** Leases on a real engine: one holder at a time, failures, and holders that died. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Connection } from '../../../src/clickhouse/connection.js'
import { LeaseTimeoutError, withLease } from '../../../src/clickhouse/lease/lease.js'
import { createGeneration, listGenerations } from '../../../src/clickhouse/lease/lease-store.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
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

test('contenders are inside one after the other, and each gets its turn', async () => {
  let inside = 0
  let turns = 0
  const work = async (): Promise<void> => {
    inside += 1
    expect(inside).toBe(1)
    await sleep(5)
    inside -= 1
    turns += 1
  }
  const contend = async (connection: Connection): Promise<void> => {
    for (let i = 0; i < 5; i += 1) await withLease(connection, 'projects', work)
  }
  await Promise.all(connections.map(contend))
  expect(turns).toBe(30)
  expect(await listGenerations(first(), 'projects')).toHaveLength(1)
})

test('the result of the work is handed on, and the lease is released', async () => {
  expect(await withLease(first(), 'loader', () => Promise.resolve('done'))).toBe('done')
  expect(await withLease(first(), 'loader', (lease) => lease.stillHeld(), { waitMs: 0 })).toBe(true)
})

test('a failure of the work is handed on, and the lease is released', async () => {
  const failure = new Error('it failed')
  await expect(withLease(first(), 'loader', () => Promise.reject(failure))).rejects.toBe(failure)
  expect(await withLease(first(), 'loader', () => Promise.resolve(1), { waitMs: 0 })).toBe(1)
})

test('who waits for longer than asked gets an error', async () => {
  await withLease(first(), 'loader', async () => {
    const second = withLease(first(), 'loader', () => Promise.resolve(), { waitMs: 300 })
    await expect(second).rejects.toBeInstanceOf(LeaseTimeoutError)
  })
})

test('a long holder is not replaced', async () => {
  await withLease(first(), 'loader', async ({ stillHeld, signal }) => {
    const second = withLease(first(), 'loader', () => Promise.resolve(), { waitMs: 11_500 })
    await expect(second).rejects.toBeInstanceOf(LeaseTimeoutError)
    expect(await stillHeld()).toBe(true)
    expect(signal.aborted).toBe(false)
  })
})

test('a holder that died at once is replaced when it was not heard of for 10 seconds', async () => {
  const [newest] = await listGenerations(first(), 'loader')
  await createGeneration(first(), 'loader', newest!.number + 1)
  const begun = performance.now()
  await withLease(first(), 'loader', () => Promise.resolve())
  expect(performance.now() - begun).toBeGreaterThan(8_900)
  expect(performance.now() - begun).toBeLessThan(13_000)
})

test('a holder that was replaced is told so', async () => {
  await withLease(first(), 'migrations', async ({ signal, stillHeld }) => {
    const [mine] = await listGenerations(first(), 'migrations')
    expect(mine!.number).toBe(2)
    await createGeneration(first(), 'migrations', 3)
    await first().execute(statement(sql`DROP TABLE lease_migrations_2`))
    expect(await stillHeld()).toBe(false)
    await sleep(2_500)
    expect(signal.aborted).toBe(true)
  })
})
