/** Moves that are killed, again and again, and go on: no answer changes on the way, and none at the end. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Cluster } from '../../../src/cluster/cluster.js'
import { abortMove } from '../../../src/relocation/relocate.js'
import { forwardRows } from '../../../src/relocation/forward-rows.js'
import { findRelocation } from '../../../src/relocation/journal.js'
import { hasArrived, relocateKilled } from '../../support/cluster/killing.js'
import { createShards, type TestShards } from '../../support/cluster/shard-databases.js'
import {
  countRows,
  createOn,
  findShardOf,
  getOptions,
  importInto,
  loadShard,
  move,
  readAll,
  sampleEvents,
} from '../../support/cluster/moving.js'
import { readFacts } from '../../support/store/facts.js'
import { readRollups } from '../../support/store/rollups.js'
import { feed } from '../../support/store/stream.js'

let shards: TestShards
let cluster: Cluster

beforeAll(async () => {
  shards = await createShards(2)
  cluster = shards.cluster
})
afterAll(() => shards.drop())

/** Moves a project in a process that is killed; returns whether the move had ended by then. */
const moveKilled = (id: string, to: string, statements: number): Promise<boolean> =>
  relocateKilled(cluster, statements, (within) => move(within, id, to))

const readData = async (id: string): Promise<readonly object[]> => {
  const { store } = await findShardOf(cluster, id)
  return [await readFacts(store, id), await readRollups(store, id)]
}

test('a move that is killed everywhere goes on, and counts what arrives meanwhile once', async () => {
  await createOn(cluster, 'killed', 'shard1')
  await createOn(cluster, 'same', 'shard2')
  await importInto(cluster, 'killed', sampleEvents(11, 60))
  await importInto(cluster, 'same', sampleEvents(11, 60))
  let extra = 0
  for (let places = 3; !(await hasArrived(cluster, 'killed', ['shard2'])); places += 37) {
    const data = await readData('killed')
    await moveKilled('killed', 'shard2', places)
    expect(await readData('killed')).toEqual(data)
    if (places % 3 !== 0) continue
    // A process that looked the project up before the switch still writes into the first shard.
    extra += 1
    const late = [
      { timestamp: '2026-01-31T10:00:00Z', user_id: `late${extra}`, event_id: `late-${extra}` },
    ]
    await feed(cluster.shards[0].store, 'killed', late)
    await feed(cluster.shards[1]!.store, 'same', late)
    await loadShard(cluster, cluster.shards[0])
    await loadShard(cluster, cluster.shards[1]!)
  }
  // Events that arrived after the end of the move, which the services forward.
  await forwardRows(cluster)
  await loadShard(cluster, cluster.shards[1]!)
  expect(extra).toBeGreaterThan(2)
  expect(await findRelocation(cluster.home.store.writer, 'killed')).toBeUndefined()
  expect((await findShardOf(cluster, 'killed')).name).toBe('shard2')
  expect(await countRows(cluster.shards[0], 'killed')).toBe(0)
  expect(await readAll(cluster, 'killed')).toEqual(await readAll(cluster, 'same'))
})

test('a move that is given up leaves the project where it is', async () => {
  await createOn(cluster, 'given-up', 'shard2')
  await importInto(cluster, 'given-up', sampleEvents(12, 30))
  const before = await readData('given-up')
  await moveKilled('given-up', 'shard1', 150)
  await expect(move(cluster, 'given-up', 'shard3')).rejects.toThrow(
    'the project given-up is being moved from shard2 to shard1',
  )
  await abortMove(getOptions(cluster), 'given-up')
  expect((await findShardOf(cluster, 'given-up')).name).toBe('shard2')
  expect(await readData('given-up')).toEqual(before)
  expect(await countRows(cluster.shards[0], 'given-up')).toBe(0)
  await move(cluster, 'given-up', 'shard1')
  expect(await readData('given-up')).toEqual(before)
})
