/** Users who are deleted around a move: refused while it lasts, and nobody who was deleted is back afterwards. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Cluster, Shard } from '../../../../src/cluster/cluster.js'
import { sql, string } from '../../../../src/clickhouse/sql.js'
import { deleteUsersFromShards } from '../../../../src/deletion/delete-users.js'
import { UserError } from '../../../../src/lib/errors.js'
import { requireProject } from '../../../../src/projects/store.js'
import { createResidenceCheck } from '../../../../src/relocation/describe.js'
import { forwardRows } from '../../../../src/relocation/forward-rows.js'
import {
  createOn,
  findShardOf,
  importInto,
  loadShard,
  move,
} from '../../../support/cluster/moving.js'
import {
  createShards,
  withWriter,
  type TestShards,
} from '../../../support/cluster/shard-databases.js'
import { getContext } from '../../../support/cluster/wide-projects.js'
import {
  breakAfter,
  BrokenError,
  pauseBefore,
  releaseLease,
} from '../../../support/store/breaking.js'
import { select } from '../../../support/store/facts.js'
import { feed } from '../../../support/store/stream.js'

let shards: TestShards
let cluster: Cluster
let source: Shard
let target: Shard

beforeAll(async () => {
  shards = await createShards(2)
  cluster = shards.cluster
  source = cluster.shards[0]
  target = cluster.shards[1]!
})
afterAll(() => shards.drop())

const event = (user_id: string, path: string, fields: object = {}) => ({
  timestamp: '2026-01-31T10:00:00Z',
  user_id,
  path,
  ...fields,
})

/** Creates a project on the first shard with the users `gone` and `here`. */
async function create(id: string): Promise<void> {
  await createOn(cluster, id, source.name)
  await importInto(cluster, id, [
    event('gone', '/1'),
    event('gone', '/2', { timestamp: '2025-11-30T10:00:00Z' }),
    event('here', '/1'),
  ])
}

/** Deletes the user `gone` as the command does. @param before where the project lived when the command looked */
async function deleteUser(id: string, within = cluster, before?: Shard): Promise<object> {
  const project = await requireProject(cluster.home.store.writer, id)
  const on = before ?? (await findShardOf(cluster, id))
  const own = within.shards.filter(({ name }) => name === on.name)
  const loaded = own.map((shard) => ({ ...shard, loader: getContext(within)(shard) }))
  const known = { ...project, shards: on === source ? [] : [on.name] }
  return deleteUsersFromShards(loaded, id, ['gone'], {
    check: createResidenceCheck(cluster, known),
  })
}

/** Counts the events and the bitmaps of all users of a project on each shard. */
const countUsers = (id: string): Promise<readonly object[]> =>
  Promise.all(
    cluster.shards.map(async ({ store }) => {
      const [row] = await select<object>(
        store,
        sql`
SELECT
  (SELECT arraySort(groupUniqArray(user_id)) FROM users WHERE project_id = ${string(id)}) AS users,
  (SELECT count() FROM events WHERE project_id = ${string(id)}) AS events,
  (SELECT uniqExact(user) FROM events WHERE project_id = ${string(id)}) AS active`,
      )
      return row!
    }),
  )

const NOBODY = { users: [], events: 0, active: 0 }
const ONE_LEFT = { users: ['here'], events: 1, active: 1 }

const releaseLeases = async (): Promise<void> => {
  for (const { store } of cluster.shards) {
    for (const name of ['moves', 'rollups', 'loader', 'projects'] as const) {
      await releaseLease(store, name)
    }
  }
}

/** Moves a project until a statement on the second shard, or the home. */
async function moveUntil(id: string, shard: Shard, last: RegExp): Promise<void> {
  const killed = withWriter(cluster, shard.name, (writer) => breakAfter(writer, last))
  await expect(move(killed, id, target.name)).rejects.toThrow(BrokenError)
  await releaseLeases()
}

test.each([
  ['begun', /INSERT INTO moves/],
  ['switched', /INSERT INTO projects/],
])('while a move that has %s is not finished, no user is deleted', async (what, last) => {
  const id = `during-${what}`
  await create(id)
  await moveUntil(id, source, last)
  // A service that has not noticed the move sends to the first shard.
  await feed(source.store, id, [event('gone', '/3', { event_id: 'late' })])
  await expect(deleteUser(id)).rejects.toThrow(UserError)
  await expect(deleteUser(id, cluster, source)).rejects.toThrow(/is being moved/)
  await move(cluster, id, target.name)
  // The move has forwarded the event, which waits at the second shard.
  expect(await deleteUser(id)).toMatchObject({ events: 3 })
  for (const shard of cluster.shards) await loadShard(cluster, shard)
  expect(await countUsers(id)).toEqual([NOBODY, ONE_LEFT])
})

test('a move that switches while a deletion waits for its turn makes that fail', async () => {
  await create('waits')
  const late = withWriter(cluster, source.name, (writer) =>
    pauseBefore(writer, 1, () => moveUntil('waits', source, /INSERT INTO projects/)),
  )
  await expect(deleteUser('waits', late)).rejects.toThrow(/is being moved/)
  await move(cluster, 'waits', target.name)
  expect(await deleteUser('waits')).toMatchObject({ events: 2 })
  expect(await countUsers('waits')).toEqual([NOBODY, ONE_LEFT])
})

test('a move that ends while a deletion waits for its turn makes that fail', async () => {
  await create('ended')
  const late = withWriter(cluster, source.name, (writer) =>
    pauseBefore(writer, 1, () => move(cluster, 'ended', target.name)),
  )
  await expect(deleteUser('ended', late)).rejects.toThrow(/was moved meanwhile/)
  expect(await deleteUser('ended')).toMatchObject({ events: 2 })
  expect(await countUsers('ended')).toEqual([NOBODY, ONE_LEFT])
})

test.each([/INSERT INTO removals/, /DELETE FROM sessions/])(
  'a deletion that was killed at %s is finished by the move',
  async (last) => {
    const id = `killed-${last.source.replaceAll(/\W/g, '')}`
    await create(id)
    const killed = withWriter(cluster, source.name, (writer) => breakAfter(writer, last))
    await expect(deleteUser(id, killed)).rejects.toThrow(BrokenError)
    await releaseLeases()
    await move(cluster, id, target.name)
    expect(await countUsers(id)).toEqual([NOBODY, ONE_LEFT])
    // What comes later belongs to a new user.
    await feed(source.store, id, [event('gone', '/4', { event_id: 'new' })])
    await loadShard(cluster, source)
    await forwardRows(cluster)
    await loadShard(cluster, target)
    expect(await countUsers(id)).toEqual([
      NOBODY,
      { users: ['gone', 'here'], events: 2, active: 2 },
    ])
  },
)
