/** Late events: a load reads and rewrites only what is near them. */
import { expect, test } from '@jest/globals'
import { sql, statement, string } from '../../../../src/clickhouse/sql.js'
import { hashUserId } from '../../../../src/ingest/loader/steps/users/user-numbers.js'
import type { StoredProject } from '../../../../src/projects/project.js'
import { breakAfter, BrokenError } from '../../../support/store/breaking.js'
import { withDatabase } from '../../../support/store/database.js'
import { expectConsistentFacts, readFacts, select } from '../../../support/store/facts.js'
import { loadStream } from '../../../support/store/loading.js'
import { feed, loadInbox } from '../../../support/store/stream.js'
import { newProject } from '../../../support/world/world.js'

const database = withDatabase()

/** Stores a session a day of each of 2,000 users, for 100 days: 200,000 in all. */
async function addRegulars({ id }: StoredProject): Promise<void> {
  const { writer } = database.store
  await writer.execute(
    statement(sql`
INSERT INTO users (project_id, user_id, user, load)
SELECT ${string(id)}, concat('u', toString(number + 1)), number + 1, 0 FROM numbers(2000)`),
  )
  await writer.execute(
    statement(sql`
INSERT INTO user_keys (project_id, user_key, user, load)
SELECT project_id, ${hashUserId(sql`user_id`)}, user, load FROM users WHERE project_id = ${string(id)}`),
  )
  await writer.execute(
    statement(sql`INSERT INTO user_counts (project_id, last) SELECT ${string(id)}, 2000`),
  )
  await writer.execute(
    statement(sql`
INSERT INTO sessions (project_id, session, load, sign, user, start_at, end_at, pageviews)
SELECT
  ${string(id)}, number + 1, 0, 1, number % 2000 + 1,
  toDateTime64('2026-01-01 10:00:00', 3, 'UTC') + toIntervalDay(intDiv(number, 2000)) AS start_at, start_at, 1
FROM numbers(200000)`),
    { max_partitions_per_insert_block: '0' },
  )
  await writer.execute(statement(sql`OPTIMIZE TABLE sessions FINAL`))
}

/** Reads how many rows the last statement of this database that matches a pattern has read. */
async function countRowsRead(pattern: string): Promise<number> {
  const { store } = database
  await store.admin.execute(statement(sql`SYSTEM FLUSH LOGS query_log`))
  const [row] = await select<{ rows: number }>(
    store,
    sql`
SELECT read_rows AS rows FROM system.query_log
WHERE current_database = currentDatabase() AND type = 'QueryFinish' AND query LIKE ${string(pattern)}
ORDER BY event_time_microseconds DESC LIMIT 1`,
  )
  return row!.rows
}

test('an event of long ago reads the sessions of its user and day, not all since', async () => {
  const { store } = database
  const project = await newProject(store)
  await addRegulars(project)
  await feed(store, project.id, [
    { timestamp: '2026-01-01T10:10:00Z', user_id: 'u7' },
    { timestamp: '2026-04-10T10:10:00Z', user_id: 'u1999' },
  ])
  const broken = breakAfter(store.writer, /_near` |near AS/)
  await expect(loadStream(broken)).rejects.toThrow(BrokenError)
  const tables = await select<{ rows: number }>(
    store,
    sql`
SELECT total_rows AS rows FROM system.tables
WHERE database = currentDatabase() AND endsWith(name, '_near')`,
  )
  // Those of the day, and of the day before if there was one.
  expect(tables).toEqual([{ rows: 3 }])
  // The table is read twice, in granules of 8,192 rows.
  expect(await countRowsRead('CREATE TABLE%near AS%')).toBeLessThan(100_000)
})

test('an event that a session of several days covers joins it, also on a day between', async () => {
  const { store } = database
  const project = await newProject(store)
  const hits = (from: string, count: number): object[] =>
    Array.from({ length: count }, (_, n) => ({
      timestamp: new Date(Date.parse(from) + n * 25 * 60_000).toISOString(),
      user_id: 'u',
    }))
  await feed(store, project.id, hits('2026-01-30T20:00:00Z', 200))
  await loadInbox(store)
  await feed(store, project.id, [
    { timestamp: '2026-02-01T12:01:00Z', user_id: 'u' },
    { timestamp: '2026-02-03T07:19:00Z', user_id: 'u' },
  ])
  await loadInbox(store)
  expect(await readFacts(store, project.id)).toMatchObject([
    { start_at: '2026-01-30 20:00:00.000', end_at: '2026-02-03 07:19:00.000', pageviews: 202 },
  ])
  await expectConsistentFacts(store, project.id)
})

test('an event that changes a session rewrites the month of the session only', async () => {
  const { store } = database
  const project = await newProject(store)
  const visit = (timestamp: string, source: string): object => ({
    timestamp,
    user_id: 'u',
    utm_source: source,
  })
  await feed(store, project.id, [
    visit('2026-01-15T10:00:00Z', 'a'),
    visit('2026-02-15T10:00:00Z', 'b'),
    visit('2026-03-15T10:00:00Z', 'c'),
  ])
  await loadInbox(store)
  await feed(store, project.id, [visit('2026-02-15T09:50:00Z', 'earlier')])
  await loadInbox(store)
  expect(
    await select(
      store,
      sql`
SELECT table, extract(command, 'IN PARTITION .*?([0-9]{4,6})') AS partition FROM system.mutations
WHERE database = currentDatabase() AND command LIKE '%_row_exists%'
ORDER BY table`,
    ),
  ).toEqual([
    { table: 'events', partition: '202602' },
    { table: 'users_daily', partition: '202602' },
    { table: 'users_monthly', partition: '2026' },
  ])
  await expectConsistentFacts(store, project.id)
  expect(
    (await readFacts(store, project.id)).map(({ start_at, pageviews, ...fact }) => [
      start_at,
      pageviews,
      fact['utm_source'],
    ]),
  ).toEqual([
    ['2026-01-15 10:00:00.000', 1, 'a'],
    ['2026-02-15 09:50:00.000', 2, 'earlier'],
    ['2026-03-15 10:00:00.000', 1, 'c'],
  ])
})
