/** After users are deleted, the store is as if these users had never sent an event. */
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { sql, statement, string } from '../../../src/clickhouse/sql.js'
import { insertBatch } from '../../../src/ingest/inbox/batches.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { FieldValueError, UserError } from '../../../src/lib/errors.js'
import { event, request } from '../../support/arbitrary/world.js'
import { thoroughTest } from '../../support/effort.js'
import { withDatabase } from '../../support/store/database.js'
import {
  expectConsistentFacts,
  listLeftovers,
  readFacts,
  select,
} from '../../support/store/facts.js'
import { readRollups } from '../../support/store/rollups.js'
import { ARRIVAL, runQuery, newProject, send, type SentEvent } from '../../support/world/world.js'
import {
  checkRollups,
  deleteUser,
  deleteUsers,
  finishInterruptedWork,
} from '../../support/store/loading.js'

const SEED = 20_260_615
const QUERIES = fc.sample(request, {
  seed: SEED,
  numRuns: 25,
})
/** Two batches: events of the second change sessions of the first. */
const BATCH = fc.array(event, { minLength: 60, maxLength: 60, size: 'max' })
const [BATCHES] = fc.sample(fc.tuple(BATCH, BATCH), { seed: SEED, numRuns: 1 })
/** One of them has no events. */
const SETS = [['u1'], ['u1', 'u2'], ['nobody', 'u3', 'u1', 'u3']] as const

/** What is returned for one user with an event. */
const ONE = { events: 1, sessions: 1, users: 1, unknownUserIds: [] }

const database = withDatabase()

async function world(batches: readonly (readonly SentEvent[])[]): Promise<StoredProject> {
  const project = await newProject(database.store)
  for (const events of batches) await send(database.store, project, events)
  return project
}

/** Returns the events of other users. If events share an id, the first to arrive counts, even one of the deleted user. */
function selectOthers(
  batches: readonly (readonly SentEvent[])[],
  deleted: readonly string[],
): SentEvent[][] {
  const seen = new Set<unknown>()
  const isFirst = ({ event_id: id }: SentEvent): boolean =>
    id === undefined || (!seen.has(id) && seen.add(id).has(id))
  return batches
    .map((events) => events.filter(isFirst))
    .map((events) => events.filter(({ user_id }) => !isOneOf(deleted, user_id)))
}

const isOneOf = (users: readonly string[], id: unknown): boolean =>
  typeof id === 'string' && users.includes(id)

const withoutIds = (batches: readonly (readonly SentEvent[])[]): SentEvent[][] =>
  batches.map((events) => events.map(({ event_id: _, ...rest }) => rest))

/** Checks that the rollups agree with the facts, and that no working tables are left. */
async function expectConsistent(project: StoredProject): Promise<void> {
  const { store } = database
  await expectConsistentFacts(store, project.id)
  expect(await checkRollups(store.writer, { projectId: project.id })).toMatchObject({
    different: 0,
    differences: [],
  })
  expect(await listLeftovers(store)).toEqual([])
}

async function expectSame(project: StoredProject, wanted: StoredProject): Promise<void> {
  const { store } = database
  expect(await readFacts(store, project.id)).toEqual(await readFacts(store, wanted.id))
  for (const asked of QUERIES) {
    const [answer, right] = await Promise.all([
      runQuery(store, project, asked),
      runQuery(store, wanted, asked),
    ])
    expect({ asked, data: answer.data, pagination: answer.pagination }).toEqual({
      asked,
      data: right.data,
      pagination: right.pagination,
    })
  }
}

thoroughTest(
  'responses are as if the users had never existed, and they may return as new ones',
  async () => {
    const { store } = database
    const untouched = await world(BATCHES!)
    const others = await readRollups(store, untouched.id)
    for (const set of SETS) {
      const project = await world(BATCHES!)
      const events = BATCHES!.flat().filter(({ user_id }) => isOneOf(set, user_id)).length
      const removed = await deleteUsers(store, project.id, set)
      expect(removed).toMatchObject({
        users: new Set(set).size - removed.unknownUserIds.length,
        unknownUserIds: set.filter((id) => id === 'nobody'),
      })
      expect(removed.events).toBeGreaterThan(0)
      expect(events).toBeGreaterThanOrEqual(removed.events)
      await expectConsistent(project)
      await expectSame(project, await world(selectOthers(BATCHES!, set)))
      expect(await readRollups(store, untouched.id)).toEqual(others)

      await send(store, project, withoutIds(BATCHES!).flat())
      await expectConsistent(project)
      const again = [...selectOthers(BATCHES!, set), ...withoutIds(BATCHES!)]
      await expectSame(project, await world(again))
    }
  },
)

test('a user that is unknown, or deleted already, is told', async () => {
  const { store } = database
  const project = await world([[{ timestamp: '2026-01-01T10:00:00Z', user_id: 'u' }]])
  const unknown = (id: string) => ({ events: 0, sessions: 0, users: 0, unknownUserIds: [id] })
  expect(await deleteUser(store, project.id, 'v')).toEqual(unknown('v'))
  expect(await deleteUser(store, project.id, 'u')).toEqual(ONE)
  expect(await deleteUser(store, project.id, 'u')).toEqual(unknown('u'))
  await expect(deleteUser(store, 'nobodys', 'u')).rejects.toEqual(
    new UserError('there is no project nobodys'),
  )
})

test.each([0, 1_001])('%s users are not deleted at once', async (count) => {
  const ids = Array.from({ length: count }, (_, i) => `u${i}`)
  await expect(deleteUsers(database.store, 'shop', ids)).rejects.toEqual(
    new FieldValueError('userIds', `a deletion is of 1 to 1000 users, and not of ${count}`),
  )
})

test('a thousand users are deleted by the same statements as one', async () => {
  const { store } = database
  const count = async (users: number): Promise<number> => {
    const ids = Array.from({ length: 1_000 }, (_, i) => `u${i}`)
    const project = await world([
      [...ids, 'stays'].map((user_id) => ({ timestamp: '2026-01-01T10:00:00Z', user_id })),
    ])
    let statements = 0
    const writer: Connection = {
      ...store.writer,
      execute: (...args) => {
        // The heartbeat of a lease counts seconds.
        if (!JSON.stringify(args[0]).includes('lease')) statements++
        return store.writer.execute(...args)
      },
    }
    const deleted = await deleteUsers({ ...store, writer }, project.id, ids.slice(0, users))
    expect(deleted).toEqual({ events: users, sessions: users, users, unknownUserIds: [] })
    await expectConsistent(project)
    return statements
  }
  expect(await count(1_000)).toBe(await count(1))
})

test('a deletion of one user that 0.1.0 has begun is finished', async () => {
  const { store } = database
  const at = '2026-01-01T10:00:00Z'
  const project = await world([['u', 'v'].map((user_id) => ({ timestamp: at, user_id }))])
  await store.writer.execute(
    statement(sql`
INSERT INTO removals (removal, step, project_id, user)
SELECT (SELECT max(load) + 1 FROM loads), 1, ${string(project.id)}, user FROM users
WHERE project_id = ${string(project.id)} AND user_id = 'u'`),
  )
  await finishInterruptedWork(store.writer)
  expect(await deleteUsers(store, project.id, ['u', 'v'])).toEqual({
    ...ONE,
    unknownUserIds: ['u'],
  })
})

test('only the ids of the events are kept, so that these events are not accepted again', async () => {
  const { store } = database
  const events = [
    {
      timestamp: '2026-01-01T10:00:00Z',
      event_id: 'e',
      ip: '10.0.0.1',
      properties: { plan: 'pro' },
    },
  ]
  const project = await world([events])
  const of = sql`project_id = ${string(project.id)}`
  const [user] = await select<{ user_id: string }>(
    store,
    sql`SELECT user_id FROM users WHERE ${of}`,
  )
  expect(user!.user_id).toMatch(/^anonymous-[0-9a-f]{32}$/)
  await deleteUser(store, project.id, user!.user_id)
  const rows = sql`
SELECT 'events' AS name, count() AS n FROM events WHERE ${of}
UNION ALL SELECT 'sessions', count() FROM sessions WHERE ${of}
UNION ALL SELECT 'users', count() FROM users WHERE ${of}
UNION ALL SELECT 'removals', count() FROM removals WHERE ${of}
UNION ALL SELECT 'event_ids', count() FROM event_ids WHERE ${of}`
  expect(await select(store, sql`SELECT name FROM (${rows}) WHERE n > 0`)).toEqual([
    { name: 'event_ids' },
  ])
  expect(await readRollups(store, project.id)).toEqual([])
  const { report } = await send(store, project, events)
  expect(report).toEqual({
    ...{ received: 1, events: 0, duplicates: 1, bots: 0, excluded: 0, rejected: 0 },
    ...{ users: 0, sessions: 0, first: null, last: null },
  })
})

thoroughTest('events in the inbox that are not loaded yet are deleted, too', async () => {
  const { store } = database
  const project = await world([[{ timestamp: '2026-01-01T10:00:00Z', user_id: 'u' }]])
  const bytes = Buffer.from('{"timestamp":"2026-02-01T10:00:00Z","user_id":"u"}')
  await insertBatch(store.writer, {
    now: ARRIVAL,
    batch: 'waiting',
    projectId: project.id,
    firstRow: 1,
    bytes,
  })
  expect(await deleteUser(store, project.id, 'u')).toEqual({ ...ONE, events: 2, sessions: 2 })
  expect(await readRollups(store, project.id)).toEqual([])
  await expectConsistent(project)
})

thoroughTest(
  'the next user gets the free number, and is in no group of the deleted user',
  async () => {
    const { store } = database
    const at = (day: number, user_id: string, country: string): SentEvent => ({
      timestamp: `2026-01-0${day}T10:00:00Z`,
      user_id,
      country,
    })
    const project = await world([[at(1, 'u', 'DE'), at(2, 'v', 'FR')]])
    expect(await deleteUser(store, project.id, 'v')).toEqual(ONE)
    await send(store, project, [at(2, 'w', 'DE')])
    const { data } = await runQuery(store, project, {
      date_range: ['2026-01-01', '2026-01-31'],
      metrics: ['users'],
      group_by: ['country'],
    })
    expect(data).toEqual([{ group: { country: 'DE' }, metrics: { users: 2 } }])
    await expectConsistent(project)
  },
)

test('a user may have events in more months than one insert may write', async () => {
  const { store } = database
  const { writer } = store
  const project = await world([
    ['2026-01-01T10:00:00Z', '2026-02-01T10:00:00Z'].map((timestamp) => ({
      timestamp,
      user_id: 'u',
    })),
  ])
  const narrow: Connection = {
    ...writer,
    execute: (one, settings) =>
      writer.execute(one, { max_partitions_per_insert_block: '1', ...settings }),
  }
  await deleteUser({ ...store, writer: narrow }, project.id, 'u')
  expect(await readRollups(store, project.id)).toEqual([])
})
