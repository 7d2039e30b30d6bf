/** `tallyhouse backup` and `tallyhouse restore`: every answer is the same, and loading goes on exactly once. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { backUp as writeBackup } from '../../../src/clickhouse/backup/back-up.js'
import { parsePlace } from '../../../src/clickhouse/backup/backup-place.js'
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import { withLease } from '../../../src/clickhouse/lease/lease.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { addBackup } from '../../../src/commands/operate/backup.js'
import { addRestore } from '../../../src/commands/operate/restore.js'
import { createInboxWriter } from '../../../src/ingest/inbox/inbox-writer.js'
import { listDefinitionVersions, writeDefinition } from '../../../src/projects/definitions.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { checkRollups } from '../../../src/rollups/check.js'
import { runCommand, type CommandResult } from '../../support/cli/commands.js'
import {
  createDatabase,
  dropDatabase,
  newDatabase,
  type TestDatabase,
} from '../../support/store/database.js'
import { loadWaiting } from '../../support/store/loading.js'
import { GERMAN, PURCHASE } from '../../support/world/definitions.js'
import { createWorld, NOW, runQuery } from '../../support/world/world.js'

let folder: string
let database: TestDatabase
let project: StoredProject
beforeAll(async () => {
  // Readable for the engine, which runs as the same user.
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-backup-'))
  database = await createDatabase()
  const events = Array.from({ length: 200 }, (_, i) => ({
    timestamp: `2026-06-${String(1 + (i % 14)).padStart(2, '0')}T10:${String(i % 60).padStart(2, '0')}:00Z`,
    user_id: `u${i % 23}`,
    url: `https://example.com/${i % 7}`,
    country: i % 2 === 0 ? 'DE' : 'FR',
    event_id: `imported-${i}`,
  }))
  project = await createWorld(database.store, events)
})
afterAll(async () => {
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

const run = (
  add: typeof addBackup,
  endpoint: Endpoint,
  ...args: readonly string[]
): Promise<CommandResult> =>
  runCommand(add, args, { endpoint, now: NOW, env: { DATA_DIR: folder } })
const backUp = (target: string) => run(addBackup, database.endpoint, 'backup', target)
const restore = (endpoint: Endpoint, source: string) => run(addRestore, endpoint, 'restore', source)

const QUERIES = [
  { date_range: '30days', metrics: ['users', 'bounce_rate', 'visit_duration'] },
  { date_range: '30days', metrics: ['users', 'pageviews'], group_by: ['country'] },
  { date_range: '30days', metrics: ['users', 'pageviews'], filters: [] },
  { date_range: ['2026-06-02T10:30:00Z', '2026-06-09T10:30:00Z'], metrics: ['users', 'pageviews'] },
] as const

const answer = (store: Store): Promise<readonly unknown[]> =>
  Promise.all(QUERIES.map((asked) => runQuery(store, project, asked as never)))

const collect = (store: Store, ...ids: readonly string[]): Promise<void> =>
  createInboxWriter(store.writer).write({
    projectId: project.id,
    lines: ids.map((id) =>
      JSON.stringify({
        event_id: id,
        user_id: id,
        timestamp: '2026-06-14T12:00:00Z',
        url: 'https://example.com/',
      }),
    ),
    receivedAt: NOW,
  })
const load = (store: Store): Promise<void> =>
  withLease(store.writer, 'loader', () => loadWaiting(store.writer))

async function count(store: Store): Promise<number> {
  const { rows } = await store.reader.query<{ n: number }>(
    statement(sql`SELECT toUInt32(count()) AS n FROM events`),
  )
  return rows[0]!.n
}

/** Replaces the database by what a backup has. */
async function replaceBy(place: string): Promise<void> {
  await dropDatabase(database.endpoint)
  expect(await restore(database.endpoint, place)).toMatchObject({
    stdout: 'backup restored\n',
    error: undefined,
  })
}

test('a restored store gives the same answers, and loads each later event once', async () => {
  const { store, endpoint } = database
  for (const one of [PURCHASE, GERMAN]) await writeDefinition(store.writer, project.id, one)
  await collect(store, 'before-1', 'before-2')
  await load(store)
  await collect(store, 'waiting-1', 'waiting-2', 'waiting-3')
  const place = path.join(folder, 'first')
  expect(await backUp(place)).toMatchObject({ stdout: 'backup written\n', error: undefined })
  const answers = await answer(store)
  expect(await count(store)).toBe(205)
  expect((await restore(endpoint, place)).error).toBe(
    'the database is not empty: restore into a new one, or into a new DATA_DIR',
  )
  await replaceBy(place)
  expect(await answer(store)).toEqual(answers)
  expect(await listDefinitionVersions(store.reader, project.id)).toEqual([PURCHASE, GERMAN])
  // An event that is sent again counts once, also when it was loaded before the backup.
  await collect(store, 'later-1', 'waiting-1', 'before-1')
  await load(store)
  await load(store)
  expect(await count(store)).toBe(206)
  const { different } = await checkRollups(store.writer, {
    finishInterruptedWork: () => Promise.resolve(),
  })
  expect(different).toBe(0)
})

test('rows that wait in a backup are loaded once after the restore', async () => {
  const { store, endpoint } = database
  const before = await count(store)
  await collect(store, 'asleep-1', 'asleep-2')
  const place = path.join(folder, 'waiting')
  // The command would load them first; those that arrive meanwhile are in the backup like these.
  await withLease(store.writer, 'loader', () => writeBackup(endpoint, parsePlace(place)))
  await replaceBy(place)
  await load(store)
  await load(store)
  expect(await count(store)).toBe(before + 2)
})

test('a backup that was interrupted cannot be restored, and the database stays empty', async () => {
  const place = path.join(folder, 'torn')
  expect((await backUp(place)).error).toBeUndefined()
  expect(await readdir(place)).toContain('.backup')
  await rm(path.join(place, '.backup'))
  const endpoint = newDatabase()
  try {
    for (let i = 0; i < 2; i++) {
      expect((await restore(endpoint, place)).error).toBe(
        'cannot restore the backup: there is none at this place, or it was interrupted',
      )
    }
  } finally {
    await dropDatabase(endpoint)
  }
})

test('no command uses a database whose restore did not end', async () => {
  const { admin } = database.store
  await admin.execute(statement(sql`CREATE TABLE restore_unfinished (row UInt8) ENGINE = Null`))
  const message = /^a restore of this database did not end/
  expect((await backUp(path.join(folder, 'half'))).error).toMatch(message)
  expect((await restore(database.endpoint, folder)).error).toMatch(message)
  await admin.execute(statement(sql`DROP TABLE restore_unfinished`))
})

test('a backup is never overwritten', async () => {
  const place = path.join(folder, 'twice')
  expect((await backUp(place)).error).toBeUndefined()
  expect((await backUp(place)).error).toBe(
    'cannot write the backup: there is one at this place already',
  )
})

test('a URL is refused and not repeated', async () => {
  const { error } = await backUp('https://key:secret@bucket.example/x')
  expect(error).toMatch(/^the place of a backup must be a folder or disk:NAME\/PATH/)
  expect(error).not.toContain('secret')
})
