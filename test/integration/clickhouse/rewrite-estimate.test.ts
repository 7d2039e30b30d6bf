/** The estimate of what migrations write again, on stored facts. */
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { connect, type Connection } from '../../../src/clickhouse/connection.js'
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import { migrate } from '../../../src/clickhouse/migrations/migrate.js'
import { PACKAGE_MIGRATIONS } from '../../../src/clickhouse/migrations/migration-files.js'
import { estimateRewrites } from '../../../src/clickhouse/migrations/rewrite-estimate.js'
import { sql, statement, type Sql } from '../../../src/clickhouse/sql.js'
import { dropDatabase, newDatabase } from '../../support/store/database.js'

const INITIAL = '0032_initial.sql'
const REWRITE = '0033_rewrite.sql'
const STATEMENTS = `
ALTER TABLE events
    ADD COLUMN IF NOT EXISTS hour DateTime MATERIALIZED toStartOfHour(timestamp);
ALTER TABLE events
    MATERIALIZE COLUMN hour;
ALTER TABLE sessions
    ADD COLUMN IF NOT EXISTS end_day Date MATERIALIZED toDate(end_at),
    MODIFY COLUMN pageviews UInt32 CODEC(ZSTD(1)),
    MODIFY COLUMN exit_path LowCardinality(String);
ALTER TABLE sessions
    MATERIALIZE COLUMN end_day,
    UPDATE pageviews = pageviews, events = events WHERE true;
`

let endpoint: Endpoint
let folder: string
let admin: Connection

beforeEach(async () => {
  endpoint = newDatabase()
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-migrations-'))
  await copyFile(path.join(PACKAGE_MIGRATIONS, INITIAL), path.join(folder, INITIAL))
  await migrate(endpoint, { folder })
  await writeFile(path.join(folder, REWRITE), STATEMENTS)
  admin = connect(endpoint, 'admin')
})
afterEach(async () => {
  await admin.close()
  await dropDatabase(endpoint)
  await rm(folder, { recursive: true })
})

const run = (fragment: Sql): Promise<void> => admin.execute(statement(fragment))

test('what a migration writes is estimated before', async () => {
  await run(sql`
INSERT INTO events (project_id, timestamp, user, session, load, name, path)
SELECT 'p', toDateTime64('2026-01-31 23:00:00', 3, 'UTC') + toIntervalMillisecond(number * 977777), number % 7, number, 1, 'pageview', '/'
FROM numbers(200)`)
  await run(sql`
INSERT INTO sessions (project_id, session, load, sign, user, start_at, end_at, pageviews)
SELECT 'p', session, load, 1, user, timestamp, timestamp + toIntervalMillisecond(session * 1001), 1 FROM events`)
  const estimates = await estimateRewrites(admin, [REWRITE], folder)
  expect(estimates).toEqual([
    {
      table: 'events',
      columns: ['hour'],
      rows: 200,
      bytes: expect.any(Number),
      seconds: expect.any(Number),
    },
    {
      table: 'sessions',
      columns: ['exit_path', 'end_day', 'pageviews', 'events'],
      rows: 200,
      bytes: expect.any(Number),
      seconds: expect.any(Number),
    },
  ])
  expect(Math.min(...estimates.map(({ bytes }) => bytes))).toBeGreaterThan(100)
  expect(await estimateRewrites(admin, [INITIAL], folder)).toEqual([])
  expect(await migrate(endpoint, { folder })).toEqual([REWRITE])
})
