/** Numbers of users: known users are found by their key, new ones get the next numbers of their project. */
import { expect, test } from '@jest/globals'
import { sql, statement, string, uint32, type Sql } from '../../../../src/clickhouse/sql.js'
import { MAX_USER_NUMBER } from '../../../../src/ingest/loader/steps/users/user-numbers.js'
import type { StoredProject } from '../../../../src/projects/project.js'
import { withDatabase } from '../../../support/store/database.js'
import { expectConsistentFacts, listLeftovers, select } from '../../../support/store/facts.js'
import {
  deleteProject,
  deleteUser,
  importEvents,
  loadStream,
} from '../../../support/store/loading.js'
import { feed, loadInbox } from '../../../support/store/stream.js'
import { newProject } from '../../../support/world/world.js'

const database = withDatabase()

const execute = (text: Sql): Promise<void> => database.store.writer.execute(statement(text))

const visits = (...users: readonly string[]): object[] =>
  users.map((user_id, n) => ({
    timestamp: new Date(Date.UTC(2026, 0, 31, 10) + n * 1_000).toISOString(),
    user_id,
  }))

/** Reads the users of a project by number, of `users` and of `user_keys`, and the last number. */
async function readNumbers({ id }: StoredProject): Promise<unknown> {
  const of = sql`project_id = ${string(id)}`
  const [row] = await select(
    database.store,
    sql`
SELECT
  arraySort(groupArray((toUInt32(user), user_id))) AS users,
  (SELECT arraySort(groupUniqArray((toUInt32(user), user_key))) FROM user_keys WHERE ${of})
    = arraySort(groupArray((toUInt32(user), reinterpretAsUInt128(sipHash128(user_id))))) AS areKeysEqual,
  (SELECT max(last) FROM user_counts WHERE ${of}) AS last
FROM users WHERE ${of}`,
  )
  return row
}

const addCount = ({ id }: StoredProject, last: number): Promise<void> =>
  execute(sql`INSERT INTO user_counts (project_id, last) SELECT ${string(id)}, ${uint32(last)}`)

test('known users keep their numbers, and new ones get the next', async () => {
  const { store } = database
  const project = await newProject(store)
  await feed(store, project.id, visits('a', 'b'))
  await loadInbox(store)
  await feed(store, project.id, visits('c', 'b', 'd'))
  await loadInbox(store)
  expect(await readNumbers(project)).toEqual({
    users: [
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
      [4, 'd'],
    ],
    areKeysEqual: 1,
    last: 4,
  })
  await expectConsistentFacts(store, project.id)
})

test('the number of a deleted user is not given to another', async () => {
  const { store } = database
  const project = await newProject(store)
  await feed(store, project.id, visits('a', 'b'))
  await loadInbox(store)
  await deleteUser(store, project.id, 'b')
  await feed(store, project.id, visits('c', 'b'))
  await loadInbox(store)
  expect(await readNumbers(project)).toEqual({
    users: [
      [1, 'a'],
      [3, 'c'],
      [4, 'b'],
    ],
    areKeysEqual: 1,
    last: 4,
  })
  await deleteProject(store, project.id)
  expect(await readNumbers(project)).toEqual({ users: [], areKeysEqual: 1, last: 0 })
})

test('events of users beyond the last number are rejected, with the reason and their text', async () => {
  const { store } = database
  const project = await newProject(store)
  await feed(store, project.id, visits('known'))
  await loadInbox(store)
  await addCount(project, MAX_USER_NUMBER - 1)
  // Two events share an id; the first belongs to a user without a number.
  const events = visits('last', 'none', 'known', 'none', 'known').map((event, n) => ({
    ...event,
    event_id: n < 3 ? `e${n}` : 'e3',
  }))
  await feed(store, project.id, events)
  expect((await loadStream(store.writer))?.report).toMatchObject({
    ...{ received: 5, events: 3, rejected: 2, duplicates: 0 },
  })
  expect(await readNumbers(project)).toEqual({
    users: [
      [1, 'known'],
      [MAX_USER_NUMBER, 'last'],
    ],
    areKeysEqual: 1,
    last: MAX_USER_NUMBER,
  })
  expect(
    await select(
      store,
      sql`SELECT reason, line FROM rejections WHERE position(line, '"none"') > 0 ORDER BY line`,
    ),
  ).toEqual(
    [events[1], events[3]].map((event) => ({
      reason: 'user_id: the project has the most users that it can have, 4294967295',
      line: JSON.stringify(event),
    })),
  )
  await expectConsistentFacts(store, project.id)
  expect(await listLeftovers(store)).toEqual([])
})

test('a strict import with such an event loads nothing, and a dry run reports it', async () => {
  const { store } = database
  const project = await newProject(store)
  await addCount(project, MAX_USER_NUMBER - 1)
  const lines = visits('last', 'none').map((event) => `${JSON.stringify(event)}\n`)
  const load = (options: { dryRun?: boolean; strict?: boolean }) =>
    importEvents(
      store,
      (async function* () {
        yield await Promise.resolve(Buffer.from(lines.join('')))
      })(),
      {
        now: new Date('2026-02-01T00:00:00Z'),
        projectId: project.id,
        onRejected: () => undefined,
        ...options,
      },
    )
  expect(await load({ dryRun: true })).toMatchObject({ received: 2, events: 1, rejected: 1 })
  expect(await load({ strict: true })).toMatchObject({ received: 2, events: 0, rejected: 1 })
  expect(await load({})).toMatchObject({ received: 2, events: 1, rejected: 1 })
})
