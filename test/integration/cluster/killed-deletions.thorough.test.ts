/** Deletions of projects of a cluster that are killed at any point are finished by the loaders, or when they are repeated. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Cluster } from '../../../src/cluster/cluster.js'
import { syncProjects } from '../../../src/cluster/sync-projects.js'
import { UserError } from '../../../src/lib/errors.js'
import { createShards, withWriter, type TestShards } from '../../support/cluster/shard-databases.js'
import { countUsers, createWide, finish, remove } from '../../support/cluster/wide-projects.js'
import { breakAfter, BrokenError, releaseLease } from '../../support/store/breaking.js'

let shards: TestShards
let cluster: Cluster

beforeAll(async () => {
  shards = await createShards(3)
  cluster = shards.cluster
})
afterAll(() => shards.drop())

/** The places at which a deletion is killed: a statement on a shard. */
const PLACES: readonly [name: string, last: RegExp][] = [
  ['shard1', /INSERT INTO removals/],
  ['shard1', /INSERT INTO projects/],
  ['shard2', /INSERT INTO projects/],
  ['shard3', /INSERT INTO projects/],
  ['shard2', /INSERT INTO removals/],
  ['shard2', /DELETE FROM events/],
  ['shard2', /DELETE FROM projects/],
  ['shard3', /DELETE FROM removals/],
  ['shard1', /DELETE FROM events/],
  ['shard1', /DELETE FROM projects/],
]

async function kill(id: string, name: string, last: RegExp): Promise<void> {
  await createWide(cluster, id)
  const broken = withWriter(cluster, name, (writer) => breakAfter(writer, last))
  await expect(remove(broken, id)).rejects.toThrow(BrokenError)
  for (const { store } of cluster.shards) {
    await releaseLease(store)
    await releaseLease(store, 'projects')
  }
}

/** The places of each of the two tests. */
const FINISHED = PLACES.filter((_, i) => i % 2 === 0)
const REPEATED = PLACES.filter((_, i) => i % 2 === 1)

test.each(FINISHED)(
  'a deletion that ends on %s at %s is finished by the loaders',
  async (name, last) => {
    const id = `loaders-${name}-${last.source.replaceAll(/\W/g, '-')}`
    await kill(id, name, last)
    // Killed before the project is marked, the home marks it in the first round.
    for (let round = 0; round < 2; round++) {
      await syncProjects(cluster)
      for (const shard of cluster.shards.toReversed()) await finish(shard, cluster)
    }
    expect(await countUsers(cluster, id)).toEqual([null, null, null])
  },
)

test.each(REPEATED)('a deletion that ends on %s at %s may be repeated', async (name, last) => {
  const id = `again-${name}-${last.source.replaceAll(/\W/g, '-')}`
  await kill(id, name, last)
  await remove(cluster, id).catch((error: unknown) =>
    expect(error).toEqual(new UserError(`there is no project ${id}`)),
  )
  expect(await countUsers(cluster, id)).toEqual([null, null, null])
})
