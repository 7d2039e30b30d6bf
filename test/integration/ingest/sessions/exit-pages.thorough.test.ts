/** Exit pages of sessions. */
import { expect, test } from '@jest/globals'
import { sql, string } from '../../../../src/clickhouse/sql.js'
import { withDatabase } from '../../../support/store/database.js'
import { expectConsistentFacts, select } from '../../../support/store/facts.js'
import { checkRollups, loadStream } from '../../../support/store/loading.js'
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

test('the exit page is that of the last pageview, whatever order events arrive in', async () => {
  const { id } = await newProject(database.store)
  await load(id, EVENTS)
  expect(await listExits(id)).toEqual(['/c', '', '/ü'])
  await load(id, LATE.slice(0, 3))
  expect(await listExits(id)).toEqual(['/e', '/late', '/ü'])
  for (const event of LATE.slice(3)) await load(id, [event])
  expect(await listExits(id)).toEqual(['/f', '/late', '/ü'])
  await expectConsistentFacts(database.store, id)
  expect(await checkRollups(database.store.writer, {})).toMatchObject({ different: 0 })
})
