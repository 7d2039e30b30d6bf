/** Loads that are interrupted in unusual ways: for days, or by a server that loses what it has confirmed. */
import { expect, test } from '@jest/globals'
import {
  identifier,
  sql,
  statement,
  string,
  uint64,
  type Sql,
} from '../../../../src/clickhouse/sql.js'
import { insertBatch } from '../../../../src/ingest/inbox/batches.js'
import {
  findUnfinishedLoads,
  startLoad,
  type Load,
} from '../../../../src/ingest/loader/load-log.js'
import { recordStretches } from '../../../../src/ingest/loader/stream.js'
import type { StoredProject } from '../../../../src/projects/project.js'
import { breakAfter, BrokenError } from '../../../support/store/breaking.js'
import { withDatabase } from '../../../support/store/database.js'
import { expectConsistentFacts, listLeftovers, select } from '../../../support/store/facts.js'
import {
  checkRollups,
  loadBatch,
  loadStream,
  loadWaiting,
  resumeLoads,
} from '../../../support/store/loading.js'
import { feed } from '../../../support/store/stream.js'
import { ARRIVAL, newProject } from '../../../support/world/world.js'

const database = withDatabase()

const visits = (count: number): object[] =>
  Array.from({ length: count }, (_, n) => ({
    timestamp: new Date(Date.UTC(2026, 0, 31, 10) + n * 1_000).toISOString(),
    user_id: `u${n % 3}`,
    event_id: `e${n}`,
  }))

async function countEvents(project: StoredProject): Promise<number> {
  const [row] = await select<{ n: number }>(
    database.store,
    sql`SELECT count() AS n FROM events WHERE project_id = ${string(project.id)}`,
  )
  return row!.n
}

const execute = (text: ReturnType<typeof sql>): Promise<void> =>
  database.store.writer.execute(statement(text))

/** Feeds ten events, and loads them until after a statement. Returns the load. */
async function interruptLoad(project: StoredProject, after: RegExp): Promise<Load> {
  const { store } = database
  await feed(store, project.id, visits(10))
  await expect(loadStream(breakAfter(store.writer, after))).rejects.toThrow(BrokenError)
  const [load] = await findUnfinishedLoads(store.writer)
  return load!
}

async function expectLoaded(project: StoredProject): Promise<void> {
  const { store } = database
  expect(await countEvents(project)).toBe(10)
  await expectConsistentFacts(store, project.id)
  expect(await listLeftovers(store)).toEqual([])
  expect(await checkRollups(store.writer, {})).toMatchObject({ different: 0 })
}

/** Makes the rows of a load in the log two days older, and lets the old ones expire. */
async function ageLoad({ number }: Pick<Load, 'number'>): Promise<void> {
  await execute(sql`OPTIMIZE TABLE loads FINAL`)
  await execute(sql`
ALTER TABLE loads UPDATE at = at - INTERVAL 2 DAY WHERE load = ${uint64(number)} SETTINGS mutations_sync = 1`)
  await execute(sql`OPTIMIZE TABLE loads FINAL`)
}

test('a load that is broken off for days is finished', async () => {
  const project = await newProject(database.store)
  const load = await interruptLoad(project, /INSERT INTO event_ids/)
  await ageLoad(load)
  await loadWaiting(database.store.writer)
  await expectLoaded(project)
})

test('a finished load of the stream expires', async () => {
  const { store } = database
  const project = await newProject(store)
  await feed(store, project.id, visits(10))
  await loadStream(store.writer)
  const [last] = await select<Pick<Load, 'number'>>(
    store,
    sql`SELECT max(load) AS number FROM loads`,
  )
  await ageLoad(last!)
  expect(
    await select(store, sql`SELECT load FROM loads WHERE load = ${uint64(last!.number)}`),
  ).toEqual([])
})

test('a load of the stream whose end expired before its beginning is finished', async () => {
  const { writer } = database.store
  // Merges may delete the row of the last step while rows of earlier steps are in other parts.
  const load = await startLoad(writer, { batch: 'stream-1-2', starts: ['0'], ends: ['1'] })
  await recordStretches(writer, load.number, load)
  expect(await findUnfinishedLoads(writer)).toEqual([])
})

test('what a load has written when it records its blocks is on disk, except rollups', async () => {
  const { store } = database
  const project = await newProject(store)
  await interruptLoad(project, /INSERT INTO inbox_cursor/)
  const flushed = await select<{ name: string }>(
    store,
    sql`
SELECT name FROM system.tables
WHERE database = currentDatabase() AND engine_full LIKE '%fsync_after_insert = 1, fsync_part_directory = 1%'
ORDER BY name`,
  )
  expect(flushed.map(({ name }) => name)).toEqual([
    'departures',
    'event_ids',
    'events',
    'forwards',
    'inbox',
    'inbox_cursor',
    'loading_exclusions',
    'loading_items',
    'loading_kept',
    'loading_moved',
    'loading_past',
    'loading_rows',
    'loading_sessions',
    'loading_users',
    'loads',
    'moves',
    'paired_projects',
    'project_changes',
    'query_usage',
    'rejections',
    'removals',
    'salts',
    'sessions',
    'usage',
    'user_counts',
    'user_keys',
    'users',
  ])
  await loadWaiting(store.writer)
  await expectLoaded(project)
})

test('of two salts of a day, which two loaders made at the same moment, the first counts', async () => {
  const { store } = database
  const project = await newProject(store)
  for (const [salt, seconds] of [
    ['later', 1],
    ['first', 0],
  ] as const) {
    await execute(sql`
INSERT INTO salts (day, salt, created_at)
SELECT toDate('2026-03-05'), ${string(salt)}, now('UTC') + ${uint64(seconds)}`)
  }
  await feed(store, project.id, [{ timestamp: '2026-03-05T10:00:00Z', ip: '10.0.0.1' }])
  await loadWaiting(store.writer)
  expect(
    await select(
      store,
      sql`
SELECT user_id = concat('anonymous-', lower(hex(sipHash128('first', ${string(project.id)}, '10.0.0.1', '')))) AS is_first
FROM users WHERE project_id = ${string(project.id)}`,
    ),
  ).toEqual([{ is_first: 1 }])
  expect(await select(store, sql`SELECT count() AS n FROM salts WHERE day = '2026-03-05'`)).toEqual(
    [{ n: 2 }],
  )
})

const visit = (user_id: string, timestamp: string, country: string): object => ({
  timestamp,
  user_id,
  country,
})

const STORED = [
  visit('u1', '2026-01-31T23:40:00Z', 'DE'),
  visit('u2', '2026-02-01T10:00:00Z', 'DE'),
]
/** They change sessions, move events to other attributes, and are in two months. */
const ADDED = [
  visit('u1', '2026-01-31T23:59:00Z', 'AT'),
  visit('u1', '2026-02-01T00:10:00Z', 'AT'),
  visit('u2', '2026-02-01T09:50:00Z', 'FR'),
  visit('u3', '2026-02-01T10:00:00Z', 'DE'),
  visit('u4', '2026-01-31T10:00:01Z', 'DE'),
].map((event, n) => ({ ...event, event_id: String(n) }))

/** A server that is killed within an insert may lose it all, or a part of it: one partition, one slice. */
test.each<[table: string, what: string, isLost: (load: number) => Sql]>([
  ['users', 'all', (load) => sql`load = ${uint64(load)}`],
  ['user_keys', 'all', (load) => sql`load = ${uint64(load)}`],
  ['user_counts', 'all', () => sql`true`],
  ['event_ids', 'all', () => sql`true`],
  [
    'events',
    'those of a month',
    (load) => sql`load = ${uint64(load)} AND toYYYYMM(timestamp) = 202601`,
  ],
  ['events', 'some of a month', (load) => sql`load = ${uint64(load)} AND toHour(timestamp) < 10`],
  ['sessions', 'all', (load) => sql`load = ${uint64(load)} OR sign = -1`],
  ['sessions', 'some of a month', (load) => sql`load = ${uint64(load)} AND toHour(start_at) < 10`],
  ['sessions', 'former states', () => sql`sign = -1`],
])(
  'rows of %s that a killed server has lost, but whose token it knows, are inserted again: %s',
  async (table, _what, isLost) => {
    const { store } = database
    const project = await newProject(store)
    await feed(store, project.id, STORED)
    await loadWaiting(store.writer)
    await feed(store, project.id, ADDED)
    const broken = breakAfter(store.writer, /INSERT INTO event_changes\b/)
    await expect(loadStream(broken)).rejects.toThrow(BrokenError)
    const [load] = await findUnfinishedLoads(store.writer)
    // Their token is known from now on.
    await execute(sql`
DELETE FROM ${identifier(table)} WHERE project_id = ${string(project.id)} AND (${isLost(load!.number)})`)
    await loadWaiting(store.writer)
    expect(
      await select(
        store,
        sql`
SELECT
  (SELECT count() FROM events WHERE project_id = ${string(project.id)}) AS events,
  (SELECT count() FROM event_ids WHERE project_id = ${string(project.id)}) AS event_ids`,
      ),
    ).toEqual([{ events: 7, event_ids: 5 }])
    await expectConsistentFacts(store, project.id)
    expect(await listLeftovers(store)).toEqual([])
  },
)

test.each([
  ['an import that a killed server has lost', false, true, 1],
  ['an import with --strict that a killed server has lost', true, true, 0],
  ['an import with --strict that was killed after it stored them', true, false, 0],
])('rejected rows of %s are reported, each once', async (_what, strict, isLost, events) => {
  const { store } = database
  const project = await newProject(store)
  const batch = `rejected-${strict}-${isLost}`
  const bytes = Buffer.from(`${JSON.stringify(visits(1)[0])}\nbad`)
  const { id: projectId } = project
  await insertBatch(store.writer, { now: ARRIVAL, batch, projectId, firstRow: 7, strict, bytes })
  const broken = breakAfter(store.writer, /INSERT INTO rejections/)
  await expect(loadBatch(broken, batch)).rejects.toThrow(BrokenError)
  // Their token is known from now on.
  if (isLost) await execute(sql`DELETE FROM rejections WHERE batch = ${string(batch)}`)
  await resumeLoads(store.writer)
  expect(
    await select(store, sql`SELECT row, reason FROM rejections WHERE batch = ${string(batch)}`),
  ).toEqual([{ row: 8, reason: 'is not valid JSON' }])
  expect(await countEvents(project)).toBe(events)
  expect(await listLeftovers(store)).toEqual([])
})

test('rows that were inserted again are in the rollups once', async () => {
  expect(await checkRollups(database.store.writer, {})).toMatchObject({ different: 0 })
})
