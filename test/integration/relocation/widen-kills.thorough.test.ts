/** Widenings that are killed, again and again, and go on: nothing that is read changes on the way, and nothing at the end. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Cluster } from '../../../src/cluster/cluster.js'
import { deleteUsersFromShards } from '../../../src/deletion/delete-users.js'
import { createResidenceCheck, requireSettled } from '../../../src/relocation/describe.js'
import { findRelocation } from '../../../src/relocation/journal.js'
import { abortMove, abortWidening } from '../../../src/relocation/relocate.js'
import { forwardRows } from '../../../src/relocation/forward-rows.js'
import { hasArrived, relocateKilled } from '../../support/cluster/killing.js'
import { countRows, createOn, getOptions, loadShard, move } from '../../support/cluster/moving.js'
import { createShards, type TestShards } from '../../support/cluster/shard-databases.js'
import {
  expectRollupsOf,
  findProject,
  importWide,
  readVisibleFacts,
  sampleMixed,
  widen,
  withoutDerivedIds,
} from '../../support/cluster/widening.js'
import { getContext } from '../../support/cluster/wide-projects.js'
import { stride } from '../../support/effort.js'
import { feed } from '../../support/store/stream.js'

let shards: TestShards
let cluster: Cluster

beforeAll(async () => {
  shards = await createShards(2)
  cluster = shards.cluster
})
afterAll(() => shards.drop())

/** Widens a project in a process that is killed; returns whether it had ended by then. */
const widenKilled = (id: string, statements: number): Promise<boolean> =>
  relocateKilled(cluster, statements, (within) => widen(within, id, 2))

const EVENTS = sampleMixed(11, 60)

/** The events of a user who has an id, each as often as it counts. */
const COUNTED = new Set(
  EVENTS.flatMap(({ user_id, event_id }, i) =>
    user_id === 'user-1' ? [event_id === '' ? i : event_id] : [],
  ),
)

/** How many statements further each process gets than the one before. */
const STEP = stride(1_801)

/** Late events from a new user, a known one, and one without an id. */
const listLate = (nth: number): readonly object[] =>
  [{ user_id: `late-${nth}` }, { user_id: 'user-1' }, { ip: '203.0.113.3', user_agent: 'A' }].map(
    (who, i) => ({ ...who, timestamp: '2024-03-01T10:00:00Z', event_id: `late-${nth}-${i}` }),
  )

test('a widening that is killed everywhere goes on, and counts what arrives meanwhile once', async () => {
  const [first, second] = [cluster.shards[0], cluster.shards[1]!]
  await createOn(cluster, 'killed', 'shard2')
  await createOn(cluster, 'same', 'shard2')
  await importWide(cluster, 'killed', EVENTS)
  await importWide(cluster, 'same', EVENTS)
  let late = 0
  const to = ['shard2', 'shard1']
  for (let places = 5; !(await hasArrived(cluster, 'killed', to)); places += STEP) {
    const facts = await readVisibleFacts(cluster, 'killed')
    await widenKilled('killed', places)
    expect(await readVisibleFacts(cluster, 'killed')).toEqual(facts)
    if (places % 3 !== 0) continue
    // A process that looked the project up before the switch still writes into its former shard.
    late += 1
    await feed(second.store, 'killed', listLate(late))
    await feed(second.store, 'same', listLate(late))
    for (const shard of [second, first]) await loadShard(cluster, shard)
    await forwardRows(cluster)
    await loadShard(cluster, first)
  }
  expect(late).toBeGreaterThan(1)
  expect(await findRelocation(cluster.home.store.writer, 'killed')).toBeUndefined()
  expect(await findProject(cluster, 'killed')).toMatchObject({
    shards: to,
    isWidening: false,
  })
  const [given, want] = [
    await readVisibleFacts(cluster, 'killed'),
    await readVisibleFacts(cluster, 'same'),
  ]
  expect(withoutDerivedIds(given)).toEqual(withoutDerivedIds(want))
  for (const shard of cluster.shards) await expectRollupsOf(cluster, shard, 'killed')
})

test('a widening that is given up leaves the project where it is, also within the switch', async () => {
  await createOn(cluster, 'given-up', 'shard2')
  await importWide(cluster, 'given-up', EVENTS)
  const facts = await readVisibleFacts(cluster, 'given-up')
  await relocateKilled(cluster, 1_000_000, (within) =>
    widen(within, 'given-up', 2, {
      // It is asked for the time right before the switch.
      now: stopAt(2),
    }),
  ).catch(() => undefined)
  await expect(move(cluster, 'given-up', 'shard1')).rejects.toThrow(
    'the project given-up is being widened to 2 shards: shard2, shard1: ' +
      'run "tallyhouse project widen given-up --width 2" again',
  )
  await expect(abortMove(getOptions(cluster), 'given-up')).rejects.toThrow('is being widened')
  await expect(requireSettled(cluster, 'given-up')).rejects.toThrow('is being widened')
  await expect(deleteUser('given-up', 'user-1')).rejects.toThrow('is being widened')
  await abortWidening(getOptions(cluster), 'given-up')
  expect(await findProject(cluster, 'given-up')).toMatchObject({ shards: ['shard2'] })
  expect(await readVisibleFacts(cluster, 'given-up')).toEqual(facts)
  expect(await countRows(cluster.shards[0], 'given-up')).toBe(0)
  await widen(cluster, 'given-up', 2)
  expect(await readVisibleFacts(cluster, 'given-up')).toEqual(facts)
  expect(await deleteUser('given-up', 'user-1')).toMatchObject({ events: COUNTED.size })
})

/** Deletes a user from all shards, as the command does. */
async function deleteUser(id: string, userId: string): Promise<object> {
  const loaded = cluster.shards.map((shard) => ({ ...shard, loader: getContext(cluster)(shard) }))
  const check = createResidenceCheck(cluster, await findProject(cluster, id))
  return deleteUsersFromShards(loaded, id, [userId], { check })
}

/** A clock that fails when it is read for the nth time. */
function stopAt(nth: number): () => Date {
  let reads = 0
  return () => {
    reads += 1
    if (reads === nth) throw new Error('the clock was stopped')
    return new Date('2026-06-15T12:34:56.789Z')
  }
}

test.each([
  [0, 'lives across 1 shards: --width is a multiple of that'],
  [1, 'lives across 1 shards already'],
  [3, 'there is no group of 3 shards with shard1: --width is 2'],
])('a width of %j is refused', async (width, message) => {
  const id = `refused-${width}`
  await createOn(cluster, id, 'shard1')
  await expect(widen(cluster, id, width)).rejects.toThrow(message)
})

test('a project is not widened again before its derived users are divided again', async () => {
  await createOn(cluster, 'again', 'shard1')
  await widen(cluster, 'again', 2)
  await expect(widen(cluster, 'again', 4)).rejects.toThrow(
    'the project again was widened lately: it can be widened again from 2026-06-17 (UTC) on',
  )
})
