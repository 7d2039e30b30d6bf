/** Columns that a migration adds to stored facts: all parts have them when it is done. */
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { connect, type Connection } from '../../../src/clickhouse/connection.js'
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import { migrate } from '../../../src/clickhouse/migrations/migrate.js'
import { PACKAGE_MIGRATIONS } from '../../../src/clickhouse/migrations/migration-files.js'
import { estimateRewrites } from '../../../src/clickhouse/migrations/rewrite-estimate.js'
import { sql, statement, type Sql } from '../../../src/clickhouse/sql.js'
import { dropDatabase, newDatabase } from '../../support/store/database.js'

const DAYS = '0022_days.sql'

let endpoint: Endpoint
let folder: string
let admin: Connection

/** A database as the version before left it: with all earlier migrations. */
beforeEach(async () => {
  endpoint = newDatabase()
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-migrations-'))
  for (const name of (await readdir(PACKAGE_MIGRATIONS)).filter((one) => one < DAYS)) {
    await copyFile(path.join(PACKAGE_MIGRATIONS, name), path.join(folder, name))
  }
  await migrate(endpoint, { folder })
  admin = connect(endpoint, 'admin')
})
afterEach(async () => {
  await admin.close()
  await dropDatabase(endpoint)
  await rm(folder, { recursive: true })
})

const run = (fragment: Sql): Promise<void> => admin.execute(statement(fragment))

/** Inserts as the version before does: it does not know the new columns. */
async function insert(): Promise<void> {
  await run(sql`
INSERT INTO events (project_id, timestamp, user, session, load, name, path)
SELECT 'p', toDateTime64('2026-01-31 23:00:00', 3, 'UTC') + toIntervalMillisecond(number * 977777), number % 7, number, 1, 'pageview', '/'
FROM numbers(200)`)
  await run(sql`
INSERT INTO sessions (project_id, session, load, sign, user, start_at, end_at, pageviews)
SELECT 'p', session, load, 1, user, timestamp, timestamp + toIntervalMillisecond(session * 1001), 1 FROM events`)
}

/** Counts the rows of both tables, and those whose new columns are what they follow from. */
async function count(): Promise<unknown> {
  const { rows } = await admin.query(
    statement(sql`
SELECT count() AS stored, countIf(day = toDate(timestamp)) AS correct FROM events
UNION ALL
SELECT count(), countIf(start_day = toDate(start_at) AND duration_ms = dateDiff('ms', start_at, end_at)) FROM sessions`),
  )
  return rows
}

/** Counts the parts that lack a new column: they would have to compute it. */
async function countPartsWithout(): Promise<unknown> {
  const { rows } = await admin.query(
    statement(sql`
SELECT countIf(NOT hasAll(columns, if(table = 'events', ['day'], ['start_day', 'duration_ms']))) AS parts FROM (
  SELECT table, name, groupArray(column) AS columns FROM system.parts_columns
  WHERE database = currentDatabase() AND active AND table IN ('events', 'sessions') GROUP BY table, name
)`),
  )
  return rows
}

test('the columns of all parts are written when the migration is done, also where rows were deleted', async () => {
  await insert()
  await run(sql`DELETE FROM events WHERE session < 50`)
  await run(sql`DELETE FROM sessions WHERE session < 50`)
  expect(await migrate(endpoint)).toContain(DAYS)
  const both = (stored: number) => [
    { stored, correct: stored },
    { stored, correct: stored },
  ]
  expect(await count()).toEqual(both(150))
  // A process of the version before goes on for a while.
  await run(sql`
INSERT INTO events (project_id, timestamp, user, session, load, name, path)
SELECT 'p', timestamp, user, session, 2, name, path FROM events`)
  await run(sql`
INSERT INTO sessions (project_id, session, load, sign, user, start_at, end_at, pageviews)
SELECT 'p', session, 2, 1, user, start_at, end_at, 1 FROM sessions`)
  expect(await count()).toEqual(both(300))
  expect(await countPartsWithout()).toEqual([{ parts: 0 }])
})

test('what a migration writes is estimated before', async () => {
  await insert()
  const estimates = await estimateRewrites(admin, [DAYS])
  expect(estimates).toEqual([
    {
      table: 'events',
      columns: ['day'],
      rows: 200,
      bytes: expect.any(Number),
      seconds: expect.any(Number),
    },
    {
      table: 'sessions',
      columns: ['start_day', 'end_at', 'entry_at', 'pageviews', 'events'],
      rows: 200,
      bytes: expect.any(Number),
      seconds: expect.any(Number),
    },
  ])
  expect(Math.min(...estimates.map(({ bytes }) => bytes))).toBeGreaterThan(1_000)
})
