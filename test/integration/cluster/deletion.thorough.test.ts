/** Users and projects of a cluster are deleted on all their shards. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Cluster } from '../../../src/cluster/cluster.js'
import { markCut } from '../../../src/cluster/directory.js'
import { syncProjects } from '../../../src/cluster/sync-projects.js'
import { beginDeletion } from '../../../src/deletion/delete-project.js'
import { deleteUsersFromShards } from '../../../src/deletion/delete-users.js'
import { expireProjects } from '../../../src/deletion/expire-projects.js'
import { createLogger } from '../../../src/lib/log.js'
import { UserError } from '../../../src/lib/errors.js'
import { findProject } from '../../../src/projects/store.js'
import { createShards, type TestShards } from '../../support/cluster/shard-databases.js'
import {
  countUsers,
  createWide,
  finish,
  getContext,
  HOLDINGS,
  NAMES,
  remove,
} from '../../support/cluster/wide-projects.js'
import { sample } from '../../support/effort.js'
import { agreeOn } from '../../support/store/clocks.js'

let shards: TestShards
let cluster: Cluster

beforeAll(async () => {
  shards = await createShards(3)
  cluster = shards.cluster
})
afterAll(() => shards.drop())

/** No project is moved. */
const STAYS = (): Promise<void> => Promise.resolve()

test('a user is deleted wherever it is', async () => {
  await createWide(cluster, 'users')
  const loaded = cluster.shards.map((shard) => ({ ...shard, loader: getContext(cluster)(shard) }))
  expect(await countUsers(cluster, 'users')).toEqual([1, 2, 2])
  expect(await deleteUsersFromShards(loaded, 'users', ['u2', 'nobody'], { check: STAYS })).toEqual({
    events: 1,
    sessions: 1,
    users: 1,
    unknownUserIds: ['nobody'],
  })
  expect(await countUsers(cluster, 'users')).toEqual([1, 1, 2])
  expect(await deleteUsersFromShards(loaded, 'users', ['both'], { check: STAYS })).toEqual({
    events: 2,
    sessions: 2,
    users: 1,
    unknownUserIds: [],
  })
  expect(await countUsers(cluster, 'users')).toEqual([1, 0, 1])
  expect(await deleteUsersFromShards(loaded, 'users', ['both'], { check: STAYS })).toEqual({
    ...{ events: 0, sessions: 0, users: 0, unknownUserIds: ['both'] },
  })
})

test.each(
  sample(
    [
      ['across all shards', NAMES, HOLDINGS],
      ['on another shard', ['shard3'], { events: 1, users: 1, keys: 0 }],
      ['at home', [], { events: 0, users: 0, keys: 0 }],
    ] as const,
    3,
  ),
)('a project %s is deleted everywhere', async (_what, names, want) => {
  const id = `gone${names.length}`
  await createWide(cluster, id, names)
  expect(await remove(cluster, id)).toEqual(want)
  expect(await countUsers(cluster, id)).toEqual([null, null, null])
  await expect(remove(cluster, id)).rejects.toEqual(new UserError(`there is no project ${id}`))
  expect(await syncProjects(cluster)).toEqual({ copied: 0, removed: 0, kept: [], away: [] })
})

test('a shard that is away keeps the project, and its keys have ended', async () => {
  await createWide(cluster, 'away')
  const away = shards.without('shard3')
  await expect(remove(away, 'away')).rejects.toThrow(
    'the API keys of the project away have ended, but shard3 does not answer: its data is deleted when you repeat this',
  )
  // The loader of the home goes on, and waits for the others.
  await finish(cluster.home, away)
  expect(await countUsers(cluster, 'away')).toEqual([1, 2, 2])
  expect((await findProject(cluster.home.store.writer, 'away'))?.isDeleting).toBe(true)
  expect(await remove(cluster, 'away')).toEqual(HOLDINGS)
  expect(await countUsers(cluster, 'away')).toEqual([null, null, null])
})

test('each shard deletes what a project keeps no longer, once the home has recorded it', async () => {
  await createWide(cluster, 'kept', NAMES, 30)
  const now = new Date('2026-02-01T00:00:00Z')
  const logger = createLogger('silent')
  const expire = async (): Promise<void> => {
    for (const shard of cluster.shards) {
      const { store } = shard
      const context = getContext(cluster)(shard)
      const mark = (id: string): Promise<boolean> => markCut(cluster, id)
      await expireProjects({ store, context, logger, markCut: mark, waitMs: 0 }, agreeOn(now))
    }
  }
  await expire()
  const rows = await Promise.all(
    cluster.shards.map(({ store }) => findProject(store.writer, 'kept')),
  )
  expect(rows.map((row) => row?.hasCutSessions)).toEqual([true, true, true])
  await expire()
  expect(await countUsers(cluster, 'kept')).toEqual([1, 1, 1])
})

test('a deletion that is marked at home is finished within the next hours, without loads', async () => {
  await createWide(cluster, 'marked', NAMES)
  await beginDeletion(cluster.home.store.writer, 'marked', getContext(cluster)(cluster.home))
  await syncProjects(cluster)
  const logger = createLogger('silent')
  for (let hour = 0; hour < 2; hour++) {
    for (const shard of cluster.shards) {
      const context = getContext(cluster)(shard)
      await expireProjects({ store: shard.store, context, logger }, agreeOn(new Date('2026-02-01')))
    }
  }
  expect(await countUsers(cluster, 'marked')).toEqual([null, null, null])
})
