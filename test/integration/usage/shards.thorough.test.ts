/** Usage in a cluster: an event counts once, on whichever shard it arrives and wherever its project moves. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Cluster } from '../../../src/cluster/cluster.js'
import { createLogger } from '../../../src/lib/log.js'
import { forwardRows } from '../../../src/relocation/forward-rows.js'
import { createQueryUsage } from '../../../src/usage/query-usage.js'
import { readUsage } from '../../../src/usage/read-usage.js'
import { createOn, importInto, loadShard, move } from '../../support/cluster/moving.js'
import { createShards, withWriter, type TestShards } from '../../support/cluster/shard-databases.js'
import { breakAfter, BrokenError } from '../../support/store/breaking.js'
import { feed } from '../../support/store/stream.js'

let shards: TestShards
let cluster: Cluster

beforeAll(async () => {
  shards = await createShards(2)
  cluster = shards.cluster
})
afterAll(() => shards.drop())

const event = (fields: object = {}): object => ({
  timestamp: '2026-01-31T10:00:00Z',
  user_id: 'u',
  ...fields,
})
/** Two that count, one that is repeated, one that is excluded, and two that are rejected. */
const LINES = [
  event(),
  event({ event_id: 'a' }),
  event({ event_id: 'a' }),
  event({ ip: '192.0.2.9' }),
  event({ colour: 'red' }),
  'no JSON',
]

const read = async (...projectIds: readonly string[]) =>
  (
    await readUsage(cluster, {
      from: new Date('2026-03-01'),
      to: new Date('2026-03-01'),
      interval: 'month',
      projectIds,
    })
  ).map(({ project, accepted, counted, excluded, rejected, repeated, waiting, queries }) => ({
    ...{ project, accepted, counted, repeated, waiting, queries },
    excluded: excluded.addresses,
    rejected: rejected.unreadable + rejected.field,
  }))

const TAKEN = {
  ...{ accepted: 6, counted: 2, repeated: 1, waiting: 0, queries: 0 },
  ...{ excluded: 1, rejected: 2 },
}

test('usage moves with its project, and forwarded events count where they are loaded', async () => {
  const [source, target] = [cluster.shards[0], cluster.shards[1]!]
  await createOn(cluster, 'moved', 'shard1')
  await createOn(cluster, 'stays', 'shard2')
  const queries = createQueryUsage({
    writer: cluster.home.store.writer,
    now: () => new Date('2026-03-31'),
    logger: createLogger('silent'),
  })
  queries.count('moved')
  await queries.stop()
  await feed(source.store, 'moved', LINES, '2026-03-10')
  await feed(target.store, 'stays', LINES, '2026-03-10')
  await loadShard(cluster, source)
  await loadShard(cluster, target)
  const stays = { project: 'stays', ...TAKEN }
  expect(await read('moved', 'stays')).toEqual([{ project: 'moved', ...TAKEN, queries: 1 }, stays])
  await move(cluster, 'moved', 'shard2')
  expect(await read('moved', 'stays')).toEqual([{ project: 'moved', ...TAKEN, queries: 1 }, stays])

  // Services that do not know of the move still write to the source.
  const late = LINES.map((line) =>
    typeof line === 'string' ? line : { ...line, event_id: `late-${Math.random()}` },
  )
  await feed(source.store, 'moved', late, '2026-03-11')
  await feed(source.store, 'stays', [event()], '2026-03-11')
  const waiting = (count: number) => [
    { project: 'moved', ...TAKEN, queries: 1, accepted: 12, waiting: 6 },
    { ...stays, accepted: 7, waiting: count },
  ]
  expect(await read('moved', 'stays')).toEqual(waiting(1))
  const interrupted = withWriter(cluster, 'shard1', (writer) =>
    breakAfter(writer, /INSERT INTO inbox_cursor/),
  )
  for (const place of [/INSERT INTO forwards/, /INSERT INTO usage/]) {
    const broken = withWriter(cluster, 'shard1', (writer) => breakAfter(writer, place))
    await expect(loadShard(broken, broken.shards[0])).rejects.toBeInstanceOf(BrokenError)
    expect(await read('moved', 'stays')).toEqual(waiting(1))
  }
  await expect(loadShard(interrupted, interrupted.shards[0])).rejects.toBeInstanceOf(BrokenError)
  expect(await read('moved', 'stays')).toEqual(waiting(1))
  await loadShard(cluster, source)
  expect(await read('moved', 'stays')).toEqual(waiting(1))
  expect(await forwardRows(cluster)).toBe(7)
  expect(await read('moved', 'stays')).toEqual(waiting(1))
  await loadShard(cluster, target)
  expect(await read('moved', 'stays')).toEqual([
    // The late events have ids of their own, so none of them is repeated.
    {
      ...{ project: 'moved', accepted: 12, counted: 5, repeated: 1, waiting: 0, queries: 1 },
      ...{ excluded: 2, rejected: 4 },
    },
    { ...stays, accepted: 7, counted: 3 },
  ])
  // Back again: the former shard has the rows of the load that forwarded.
  await move(cluster, 'moved', 'shard1')
  expect((await read('moved')).map(({ accepted }) => accepted)).toEqual([12])
})

test('an import into the former shard is accepted when it is repeated', async () => {
  await createOn(cluster, 'imported', 'shard1')
  await move(cluster, 'imported', 'shard2')
  const readAll = async () =>
    readUsage(cluster, {
      from: new Date('2099-12-01'),
      to: new Date('2099-12-31'),
      interval: 'month',
      projectIds: ['imported'],
    })
  await importInto(cluster, 'imported', [event()], cluster.shards[0])
  expect(await readAll()).toEqual([])
  await importInto(cluster, 'imported', [event()])
  expect(await readAll()).toMatchObject([{ accepted: 1, counted: 1 }])
})

test('numbers that would be too low are not given', async () => {
  const without = shards.without('shard2')
  const query = { from: new Date(0), to: new Date(), interval: 'month' } as const
  await expect(readUsage(without, query)).rejects.toThrow()
})
