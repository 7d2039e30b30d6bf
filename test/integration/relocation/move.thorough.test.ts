/** A project moves from one shard to another: every answer stays the same, and every event counts once. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Cluster } from '../../../src/cluster/cluster.js'
import { isPaired } from '../../../src/rollups/paired-projects.js'
import { createShards, type TestShards } from '../../support/cluster/shard-databases.js'
import {
  countRows,
  createOn,
  findShardOf,
  importInto,
  move,
  readAll,
  sampleEvents,
} from '../../support/cluster/moving.js'
import { checkRollups } from '../../support/store/loading.js'
import { countPairs } from '../../support/world/world.js'

let shards: TestShards
let cluster: Cluster

beforeAll(async () => {
  shards = await createShards(2)
  cluster = shards.cluster
})
afterAll(() => shards.drop())

const EVENTS = sampleEvents(1, 80)
const LATER = sampleEvents(2, 40)

test.each([
  ['from the home', 'shard1', 'shard2'],
  ['to the home', 'shard2', 'shard1'],
])('a project moves %s with all that it has', async (_what, from, to) => {
  const id = `to-${to}`
  await createOn(cluster, id, from)
  // Both shards have other projects, whose users and loads have the same numbers.
  for (const name of ['shard1', 'shard2']) {
    await createOn(cluster, `${id}-other-${name}`, name)
    await importInto(cluster, `${id}-other-${name}`, sampleEvents(3, 60))
  }
  await importInto(cluster, id, EVENTS)
  await importInto(cluster, id, LATER)
  const before = await readAll(cluster, id)
  const others = [`${id}-other-shard1`, `${id}-other-shard2`]
  const untouched = await Promise.all(others.map((other) => readAll(cluster, other)))

  await move(cluster, id, to)

  expect((await findShardOf(cluster, id)).name).toBe(to)
  expect(await readAll(cluster, id)).toEqual(before)
  expect(await Promise.all(others.map((other) => readAll(cluster, other)))).toEqual(untouched)
  const source = cluster.shards.find(({ name }) => name === from)!
  expect(await countRows(source, id)).toBe(0)
  // The same file adds nothing.
  expect(await importInto(cluster, id, LATER)).toMatchObject({ events: 0 })
  expect(await readAll(cluster, id)).toEqual(before)
})

test('pairs of a project go on to be counted on a shard that had none', async () => {
  const { id } = await createOn(cluster, 'paired', 'shard1')
  const [source, target] = [cluster.home, cluster.shards[1]!]
  await countPairs(source.store, { id })
  await importInto(cluster, id, EVENTS)
  await move(cluster, id, 'shard2')
  await importInto(cluster, id, LATER)
  expect(await isPaired(target.store.reader, id)).toBe(true)
  const check = await checkRollups(target.store.writer, { projectId: id })
  expect(check).toMatchObject({ different: 0 })
})
