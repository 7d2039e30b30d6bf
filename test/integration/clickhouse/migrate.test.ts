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
import { sql, statement } from '../../../src/clickhouse/sql.js'
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
  const applied = await migrate(endpoint)
  expect(applied.slice(0, 3)).toEqual(['0001_projects.sql', '0002_api_keys.sql', '0003_inbox.sql'])
  expect(await migrate(endpoint)).toEqual([])
  expect(await tables()).toEqual(expect.arrayContaining(['api_keys', 'events', 'migrations']))
})

test('only a new migration is applied', async () => {
  await write('0001_a.sql', TABLE('a'))
  expect(await migrate(endpoint, { folder })).toEqual(['0001_a.sql'])
  await write('0002_b.sql', TABLE('b') + TABLE('c'))
  expect(await migrate(endpoint, { folder })).toEqual(['0002_b.sql'])
  expect(await tables()).toEqual(['a', 'b', 'c', 'migrations'])
})

describe('the error names the file', () => {
  beforeEach(async () => {
    await write('0001_a.sql', TABLE('a'))
    await write('0002_b.sql', TABLE('b'))
    await migrate(endpoint, { folder })
  })

  test('that has changed', async () => {
    await write('0001_a.sql', `${TABLE('a')}\n`)
    expect(await refusal()).toBe(
      'migration 0001_a.sql: it has changed since it was applied to this database',
    )
  })

  test('that is missing', async () => {
    await rm(path.join(folder, '0002_b.sql'))
    expect(await refusal()).toMatch(/^migration 0002_b.sql: it was applied .* missing here/)
  })

  test('that has another name', async () => {
    await rm(path.join(folder, '0002_b.sql'))
    await write('0002_c.sql', TABLE('b'))
    expect(await refusal()).toMatch(/^migration 0002_b.sql: it was applied .* missing here/)
  })
})

test('a failed migration is not recorded, and is repeated', async () => {
  await write('0001_a.sql', TABLE('a'))
  await write('0002_b.sql', `${TABLE('b')}CREATE TABLE nonsense;\n`)
  const failure = migrate(endpoint, { folder })
  await expect(failure).rejects.toBeInstanceOf(MigrationError)
  await expect(failure).rejects.toThrow(/^migration 0002_b.sql: statement 2 failed: /)
  await write('0002_b.sql', TABLE('b') + TABLE('c'))
  expect(await migrate(endpoint, { folder })).toEqual(['0002_b.sql'])
  expect(await tables()).toEqual(['a', 'b', 'c', 'migrations'])
})

test('of concurrent runs, one applies each migration', async () => {
  await write('0001_a.sql', TABLE('a'))
  await write('0002_b.sql', TABLE('b').replace('IF NOT EXISTS ', ''))
  const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(endpoint, { folder })))
  expect(applied.flat()).toEqual(['0001_a.sql', '0002_b.sql'])
})

test('an exchange that broke off is not exchanged back', async () => {
  const exchange = `CREATE TABLE IF NOT EXISTS fine (x UInt8) ENGINE = MergeTree ORDER BY x COMMENT 'fine';
INSERT INTO fine SELECT x FROM coarse;
-- The fine one takes its place.
EXCHANGE TABLES fine AND coarse;
DROP TABLE fine;
`
  await write('0001_a.sql', `${TABLE('coarse')}INSERT INTO coarse VALUES (7);\n`)
  await write('0002_b.sql', exchange.replace('DROP TABLE fine', 'DROP TABLE nonsense'))
  expect(await refusal()).toMatch(/^migration 0002_b.sql: statement 4 failed: /)
  await write('0002_b.sql', exchange)
  expect(await migrate(endpoint, { folder })).toEqual(['0002_b.sql'])
  const admin = connect(endpoint, 'admin')
  const { rows } = await admin.query(
    statement(
      sql`SELECT name, comment, (SELECT groupUniqArray(x) FROM coarse) AS held FROM system.tables WHERE database = currentDatabase() AND name IN ('coarse', 'fine')`,
    ),
  )
  await admin.close()
  expect(rows).toEqual([
    { name: 'coarse', comment: 'put in place by 0002_b.sql, statement 3', held: [7] },
  ])
})

test('a database in use is migrated when its loader has finished its load', async () => {
  await write('0001_a.sql', TABLE('a'))
  await migrate(endpoint, { folder })
  await write('0002_b.sql', TABLE('b'))
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
  expect(events).toEqual(['loaded', '0002_b.sql'])
})
