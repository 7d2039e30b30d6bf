/** Migrations on a real engine: order, repeated runs, changed files, failures and concurrent runs. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../../src/clickhouse/connection.js'
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import { withLease } from '../../../src/clickhouse/lease/lease.js'
import { migrate, MigrationError } from '../../../src/clickhouse/migrations/migrate.js'
import { sql, statement, string, uint32 } from '../../../src/clickhouse/sql.js'
import { dropDatabase, newDatabase } from '../../support/store/database.js'

const TABLE = (name: string): string =>
  `-- A table.\nCREATE TABLE IF NOT EXISTS ${name} (x UInt8) ENGINE = MergeTree ORDER BY x;\n`

let endpoint: Endpoint
let folder: string

beforeEach(async () => {
  endpoint = newDatabase()
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-migrations-'))
})

afterEach(async () => {
  await dropDatabase(endpoint)
  await rm(folder, { recursive: true })
})

const write = (name: string, text: string): Promise<void> =>
  writeFile(path.join(folder, name), text)

async function tables(): Promise<readonly string[]> {
  const admin = connect(endpoint, 'admin')
  const { rows } = await admin.query<{ name: string }>(
    statement(sql`
      SELECT name FROM system.tables
      WHERE database = currentDatabase() AND NOT startsWith(name, 'lease_') ORDER BY name`),
  )
  await admin.close()
  return rows.map(({ name }) => name)
}

const refusal = (): Promise<unknown> =>
  migrate(endpoint, { folder }).catch((error: unknown) => (error as Error).message)

test('the migrations of the package apply, then there is nothing left to apply', async () => {
  expect((await migrate(endpoint))[0]).toBe('0032_initial.sql')
  expect(await migrate(endpoint)).toEqual([])
  expect(await tables()).toEqual(expect.arrayContaining(['api_keys', 'events', 'migrations']))
})

/** The last migrations of builds, as they recorded them. */
const CUTOFFS = {
  number: 32,
  name: '0032_cutoffs.sql',
  checksum: '0d9438ee256787691eff1f7858eb225917be9f5c81236cffdc4c1025e5b4eaea',
}
const MOVES = { number: 26, name: '0026_moves.sql', checksum: 'any' }

/** Makes the database one to which these migrations were applied. */
async function record(...migrations: readonly (typeof CUTOFFS)[]): Promise<void> {
  const admin = connect(endpoint, 'admin')
  await admin.execute(statement(sql`TRUNCATE TABLE migrations`))
  for (const { number, name, checksum } of migrations) {
    await admin.execute(
      statement(
        sql`INSERT INTO migrations (number, name, checksum) SELECT ${uint32(number)}, ${string(name)}, ${string(checksum)}`,
      ),
    )
  }
  await admin.close()
}

test('a database of version 0.1.0 has the first migration', async () => {
  await write('0032_a.sql', TABLE('a'))
  await migrate(endpoint, { folder })
  await record(MOVES, CUTOFFS)
  await write('0033_b.sql', TABLE('b'))
  expect(await migrate(endpoint, { folder })).toEqual(['0033_b.sql'])
  expect(await migrate(endpoint, { folder })).toEqual([])
})

test('a database that is older than version 0.1.0 is refused, and one whose last migration differs', async () => {
  await write('0032_a.sql', TABLE('a'))
  await migrate(endpoint, { folder })
  await record(MOVES)
  expect(await refusal()).toBe(
    'migration 0026_moves.sql: it is the last one of this database, which is older than version 0.1.0: start 0.1.0 on it first, then this version',
  )
  await record(MOVES, { ...CUTOFFS, checksum: 'other' })
  expect(await refusal()).toMatch(/^migration 0032_cutoffs.sql: it was applied .* missing here/)
})

test('only a new migration is applied', async () => {
  await write('0032_a.sql', TABLE('a'))
  expect(await migrate(endpoint, { folder })).toEqual(['0032_a.sql'])
  await write('0033_b.sql', TABLE('b') + TABLE('c'))
  expect(await migrate(endpoint, { folder })).toEqual(['0033_b.sql'])
  expect(await tables()).toEqual(['a', 'b', 'c', 'migrations'])
})

describe('the error names the file', () => {
  beforeEach(async () => {
    await write('0032_a.sql', TABLE('a'))
    await write('0033_b.sql', TABLE('b'))
    await migrate(endpoint, { folder })
  })

  test('that has changed', async () => {
    await write('0032_a.sql', `${TABLE('a')}\n`)
    expect(await refusal()).toBe(
      'migration 0032_a.sql: it has changed since it was applied to this database',
    )
  })

  test('that is missing', async () => {
    await rm(path.join(folder, '0033_b.sql'))
    expect(await refusal()).toMatch(/^migration 0033_b.sql: it was applied .* missing here/)
  })

  test('that has another name', async () => {
    await rm(path.join(folder, '0033_b.sql'))
    await write('0033_c.sql', TABLE('b'))
    expect(await refusal()).toMatch(/^migration 0033_b.sql: it was applied .* missing here/)
  })
})

test('a failed migration is not recorded, and is repeated', async () => {
  await write('0032_a.sql', TABLE('a'))
  await write('0033_b.sql', `${TABLE('b')}CREATE TABLE nonsense;\n`)
  const failure = migrate(endpoint, { folder })
  await expect(failure).rejects.toBeInstanceOf(MigrationError)
  await expect(failure).rejects.toThrow(/^migration 0033_b.sql: statement 2 failed: /)
  await write('0033_b.sql', TABLE('b') + TABLE('c'))
  expect(await migrate(endpoint, { folder })).toEqual(['0033_b.sql'])
  expect(await tables()).toEqual(['a', 'b', 'c', 'migrations'])
})

test('of concurrent runs, one applies each migration', async () => {
  await write('0032_a.sql', TABLE('a'))
  await write('0033_b.sql', TABLE('b').replace('IF NOT EXISTS ', ''))
  const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(endpoint, { folder })))
  expect(applied.flat()).toEqual(['0032_a.sql', '0033_b.sql'])
})

test('a database in use is migrated when its loader has finished its load', async () => {
  await write('0032_a.sql', TABLE('a'))
  await migrate(endpoint, { folder })
  await write('0033_b.sql', TABLE('b'))
  const writer = connect(endpoint, 'writer')
  const events: string[] = []
  const migrated = await withLease(writer, 'loader', async () => {
    const waiting = migrate(endpoint, { folder }).then((applied) => events.push(...applied))
    await sleep(1_000)
    events.push('loaded')
    return { waiting }
  })
  await migrated.waiting
  await writer.close()
  expect(events).toEqual(['loaded', '0033_b.sql'])
})
