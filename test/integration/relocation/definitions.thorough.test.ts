/** Goals and segments live at the home: a project that moves, is widened or deleted has them as before, or none. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Cluster } from '../../../src/cluster/cluster.js'
import { listDefinitionVersions, writeDefinition } from '../../../src/projects/definitions.js'
import { createOn, importInto, move } from '../../support/cluster/moving.js'
import { createShards, type TestShards } from '../../support/cluster/shard-databases.js'
import { remove } from '../../support/cluster/wide-projects.js'
import { widen } from '../../support/cluster/widening.js'
import { GERMAN, PURCHASE } from '../../support/world/definitions.js'

let shards: TestShards
let cluster: Cluster
beforeAll(async () => {
  shards = await createShards(2)
  cluster = shards.cluster
})
afterAll(() => shards.drop())

/** Lists the definitions that each shard has of a project. */
const listOnShards = (id: string): Promise<readonly object[]> =>
  Promise.all(cluster.shards.map(({ store }) => listDefinitionVersions(store.reader, id)))

const AT_HOME = [[PURCHASE, GERMAN], []]

test('a project keeps its goals and segments, until it is deleted', async () => {
  const id = 'moved'
  const events = [
    { timestamp: '2026-03-09T10:00:00Z', user_id: 'a', name: 'purchase', country: 'DE' },
    { timestamp: '2026-03-09T11:00:00Z', user_id: 'b', url: 'https://example.com/', country: 'FR' },
  ]
  for (const name of [id, 'other']) {
    await createOn(cluster, name, 'shard1')
    await importInto(cluster, name, events)
    for (const one of [PURCHASE, GERMAN]) {
      await writeDefinition(cluster.home.store.writer, name, one)
    }
  }
  expect(await listOnShards(id)).toEqual(AT_HOME)
  for (const to of ['shard2', 'shard1', 'shard2']) {
    await move(cluster, id, to)
    expect(await listOnShards(id)).toEqual(AT_HOME)
  }
  await widen(cluster, id, 2)
  expect(await listOnShards(id)).toEqual(AT_HOME)
  await remove(cluster, id)
  expect(await listOnShards(id)).toEqual([[], []])
  await createOn(cluster, id, 'shard2')
  expect(await listOnShards(id)).toEqual([[], []])
  expect(await listOnShards('other')).toEqual(AT_HOME)
})
