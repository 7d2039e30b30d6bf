/** Exit pages of sessions, and those of sessions that earlier versions stored without them. */
import { expect } from '@jest/globals'
import { sql, statement, string, type Sql } from '../../../../src/clickhouse/sql.js'
import { hasUnknownExits } from '../../../../src/ingest/loader/steps/exit-pages.js'
import { thoroughTest as test } from '../../../support/effort.js'
import { breakAfter, BrokenError } from '../../../support/store/breaking.js'
import { withDatabase } from '../../../support/store/database.js'
import { expectConsistentFacts, select } from '../../../support/store/facts.js'
import { checkRollups, finishInterruptedWork, loadStream } from '../../../support/store/loading.js'
import { feed } from '../../../support/store/stream.js'
import { newProject } from '../../../support/world/world.js'

const database = withDatabase()

const at = (time: string, user_id: string, path: string, name = 'pageview') => ({
  timestamp: `2026-01-${time}.000Z`,
  ...{ user_id, path, name },
})

/** Sessions of three users: over the end of a month, with several last pageviews at once, and without a pageview. */
const EVENTS = [
  at('10T10:00:00', 'a', '/a'),
  at('10T10:10:00', 'a', '/b'),
  at('10T10:10:00', 'a', '/c'),
  at('10T10:10:00', 'a', '/bb'),
  at('10T10:20:00', 'a', '/d', 'signup'),
  at('31T23:50:00', 'b', '/a'),
  { ...at('31T23:50:00', 'b', '/ü'), timestamp: '2026-02-01T00:10:00.000Z' },
  at('12T10:00:00', 'c', '/a', 'signup'),
]
/** Late events: one is a last pageview, one is none, one joins two sessions, one begins a visit. */
const LATE = [
  at('10T10:30:00', 'a', '/e'),
  { ...at('31T23:50:00', 'b', '/x'), timestamp: '2026-02-01T00:05:00.000Z' },
  at('12T10:10:00', 'c', '/late'),
  at('10T11:30:00', 'a', '/f'),
  at('10T11:00:00', 'a', '/between'),
]

const execute = (text: Sql): Promise<void> => database.store.writer.execute(statement(text))

/** Makes the exit pages of states what earlier versions wrote. */
const forgetExits = (condition: Sql): Promise<void> =>
  execute(sql`
ALTER TABLE sessions UPDATE exit_path = '', exit_at = toDateTime64(0, 3, 'UTC') WHERE ${condition} SETTINGS mutations_sync = 1`)

const listExits = async (projectId: string) =>
  (
    await select<{ exit: string }>(
      database.store,
      sql`
SELECT exit_path AS exit FROM sessions WHERE project_id = ${string(projectId)}
GROUP BY session, start_at, exit_path HAVING sum(sign) = 1 ORDER BY start_at, exit`,
    )
  ).map(({ exit }) => exit)

async function load(projectId: string, events: readonly object[]): Promise<void> {
  await feed(database.store, projectId, events)
  await loadStream(database.store.writer)
}

async function expectComplete(projectId: string): Promise<void> {
  const { store } = database
  expect(await hasUnknownExits(store.reader)).toBe(false)
  await expectConsistentFacts(store, projectId)
  expect(await select(store, sql`SELECT count() AS n FROM session_exits`)).toEqual([{ n: 0 }])
  expect(await checkRollups(store.writer, {})).toMatchObject({ different: 0 })
}

test('the exit page is that of the last pageview, whatever order events arrive in', async () => {
  const { id } = await newProject(database.store)
  await load(id, EVENTS)
  expect(await listExits(id)).toEqual(['/c', '', '/ü'])
  await load(id, LATE.slice(0, 3))
  expect(await listExits(id)).toEqual(['/e', '/late', '/ü'])
  for (const event of LATE.slice(3)) await load(id, [event])
  expect(await listExits(id)).toEqual(['/f', '/late', '/ü'])
  await expectComplete(id)
})

test('exit pages that are not stored are found in the events, also after an interruption', async () => {
  const { store } = database
  const { id } = await newProject(store)
  await load(id, EVENTS)
  await load(id, LATE)
  const exits = await listExits(id)
  await forgetExits(sql`true`)
  expect(await hasUnknownExits(store.reader)).toBe(true)
  const broken = [/INSERT INTO session_exits/, /ALTER TABLE sessions\s+UPDATE exit_path/]
  for (const after of broken) {
    await expect(finishInterruptedWork(breakAfter(store.writer, after))).rejects.toThrow(
      BrokenError,
    )
  }
  await finishInterruptedWork(store.writer)
  expect(await listExits(id)).toEqual(exits)
  await expectComplete(id)
})

test('the reversal of a state gets the exit page of the state', async () => {
  const { store } = database
  const { id } = await newProject(store)
  await load(id, EVENTS)
  await load(id, LATE)
  // A loader of an earlier version has changed sessions of which the exit pages were known.
  await forgetExits(
    sql`sign = -1 OR (session, load) IN (SELECT session, max(load) FROM sessions GROUP BY session HAVING count() > 1)`,
  )
  await finishInterruptedWork(store.writer)
  await expectComplete(id)
})
