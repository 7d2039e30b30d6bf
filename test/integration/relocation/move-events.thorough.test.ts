/** Events that arrive while a project moves, on whichever shard, count once. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Cluster, Shard } from '../../../src/cluster/cluster.js'
import { sql, string } from '../../../src/clickhouse/sql.js'
import { forwardRows } from '../../../src/relocation/forward-rows.js'
import { createShards, withWriter, type TestShards } from '../../support/cluster/shard-databases.js'
import { createOn, importInto, loadShard, move } from '../../support/cluster/moving.js'
import { breakAfter, BrokenError } from '../../support/store/breaking.js'
import { select } from '../../support/store/facts.js'
import { feed } from '../../support/store/stream.js'

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

const event = (path: string, fields: object = {}) => ({
  timestamp: '2026-01-31T10:00:00Z',
  user_id: 'u',
  path,
  ...fields,
})

const readPaths = async ({ store }: Shard, id: string): Promise<readonly string[]> =>
  (
    await select<{ path: string }>(
      store,
      sql`SELECT path FROM events WHERE project_id = ${string(id)} ORDER BY path`,
    )
  ).map(({ path }) => path)

const readRejections = ({ store }: Shard): Promise<readonly object[]> =>
  select(store, sql`SELECT line, reason FROM rejections ORDER BY line`)

test('events that a shard gets after their project has left it are forwarded, and count once', async () => {
  await createOn(cluster, 'late', 'shard1')
  await createOn(cluster, 'stays', 'shard1')
  await feed(source.store, 'late', [event('/1', { event_id: 'one' })])
  await move(cluster, 'late', 'shard2')
  expect(await readPaths(target, 'late')).toEqual(['/1'])

  await feed(source.store, 'late', [
    event('/1', { event_id: 'one' }),
    event('/2', { event_id: 'two' }),
    event('/3', { event_id: '' }),
    event('/4', { event_id: null }),
    '{ "path": "/5", "user_id": "u" }',
    '{}',
    event('/6', { ip: '192.0.2.9', user_id: '' }),
    'no JSON',
  ])
  await feed(source.store, '', [{ ...event('/7'), project: 'late' }])
  await feed(source.store, 'stays', [event('/8')])
  await loadShard(cluster, source)
  expect(await readPaths(source, 'late')).toEqual([])
  expect(await readPaths(source, 'stays')).toEqual(['/8'])
  expect(
    await select(
      source.store,
      sql`SELECT events, received, rejected, duplicates FROM loads WHERE step = 3 ORDER BY load DESC LIMIT 1`,
    ),
  ).toEqual([{ events: 1, received: 1, rejected: 0, duplicates: 0 }])
  expect(await readRejections(source)).toEqual([])

  // A process is killed after the first shard has the rows, and before they are deleted.
  const killed = withWriter(cluster, 'shard2', (writer) => breakAfter(writer, /INSERT INTO inbox/))
  await expect(forwardRows(killed)).rejects.toThrow(BrokenError)
  await forwardRows(cluster)
  expect(await forwardRows(cluster)).toBe(0)
  await loadShard(cluster, target)
  const paths = ['', '/1', '/2', '/3', '/4', '/5', '/7']
  expect(await readPaths(target, 'late')).toEqual(paths)
  expect(
    await select(
      target.store,
      sql`
SELECT reason, sum(events) AS events FROM usage
WHERE project_id = 'late' AND reason IN ('ip', 'unreadable') GROUP BY reason ORDER BY reason`,
    ),
  ).toEqual([
    { reason: 'ip', events: 2 },
    { reason: 'unreadable', events: 2 },
  ])
  expect(await readRejections(target)).toHaveLength(2)
})

test('an import into the former shard is refused, and can be repeated', async () => {
  await createOn(cluster, 'imported', 'shard1')
  await importInto(cluster, 'imported', [event('/1')])
  await move(cluster, 'imported', 'shard2')
  const lines = [event('/1'), event('/2')]
  expect(await importInto(cluster, 'imported', lines, source)).toMatchObject({
    events: 0,
    rejected: 1,
  })
  expect(await readPaths(source, 'imported')).toEqual([])
  expect(await importInto(cluster, 'imported', lines)).toMatchObject({ events: 1, duplicates: 1 })
  expect(await readPaths(target, 'imported')).toEqual(['/1', '/2'])
})
