/** Events of a project that was widened from one shard to two: they go where their users are, before and after the cut. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql, string } from '../../../src/clickhouse/sql.js'
import { locate, type Cluster } from '../../../src/cluster/cluster.js'
import { createCollect } from '../../../src/ingest/collect/collect.js'
import { importEvents } from '../../../src/ingest/import/import-events.js'
import { importIntoCluster } from '../../../src/ingest/import/import-into-cluster.js'
import { createInboxWriter } from '../../../src/ingest/inbox/inbox-writer.js'
import type { Rejection } from '../../../src/ingest/inbox/rejections.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { forwardRows } from '../../../src/relocation/forward-rows.js'
import { createOn, loadShard } from '../../support/cluster/moving.js'
import { createShards, type TestShards } from '../../support/cluster/shard-databases.js'
import { getContext } from '../../support/cluster/wide-projects.js'
import { recordWidening } from '../../support/cluster/widened.js'
import { splitIntoChunks, toLines } from '../../support/sources/sources.js'
import { select } from '../../support/store/facts.js'
import { feed } from '../../support/store/stream.js'

/** The first day on which users without an id are divided over both shards. */
const CUT = '2026-03-02'
const BEFORE = '2026-03-01T23:59:59.999Z'
const AFTER = '2026-03-02T00:00:00.000Z'

/** Users and addresses of the second shard of two, and of the first one. */
const SECOND = { user_id: 'u5', ip: '203.0.113.10' }
const FIRST = { user_id: 'u1', ip: '203.0.113.11' }

let shards: TestShards
let cluster: Cluster
beforeAll(async () => {
  shards = await createShards(2)
  cluster = shards.cluster
})
afterAll(() => shards.drop())

const getLoader = (name: string) =>
  getContext(cluster)(cluster.shards.find((one) => one.name === name)!)

/** Creates a project on the second store, and widens it to [shard2, shard1]. */
async function createWidened(id: string): Promise<StoredProject> {
  await createOn(cluster, id, 'shard2')
  return recordWidening(cluster, { id }, ['shard2', 'shard1'], CUT)
}

/** Loads all inboxes; returns the paths on `shard2`, the first shard of the project, and on `shard1`. */
async function load(id: string): Promise<readonly (readonly string[])[]> {
  const [shard1, shard2] = await Promise.all(
    cluster.shards.map(async (shard) => {
      await loadShard(cluster, shard)
      const rows = await select<{ path: string }>(
        shard.store,
        sql`SELECT path FROM events WHERE project_id = ${string(id)} ORDER BY path`,
      )
      return rows.map(({ path }) => path)
    }),
  )
  return [shard2!, shard1!]
}

const named = (path: string, user_id: string, timestamp?: string) => ({ path, user_id, timestamp })
const derived = (path: string, ip: string, timestamp?: string) => ({ path, ip, timestamp })

const EVENTS = [
  named('/a', FIRST.user_id, BEFORE),
  named('/b', SECOND.user_id, BEFORE),
  named('/c', SECOND.user_id, AFTER),
  derived('/d', FIRST.ip, BEFORE),
  derived('/e', SECOND.ip, BEFORE),
  derived('/f', FIRST.ip, AFTER),
  derived('/g', SECOND.ip, AFTER),
]
const DIVIDED = [
  ['/a', '/d', '/e', '/f'],
  ['/b', '/c', '/g'],
]

test('collected events', async () => {
  const project = await createWidened('collected')
  const collect = createCollect((one) => {
    const [first, ...others] = locate(cluster, one).map(({ store }) =>
      createInboxWriter(store.writer),
    )
    return [first!, ...others]
  })
  const send = (events: readonly object[], receivedAt: string) =>
    collect({
      project,
      events,
      client: { ip: undefined, userAgent: undefined, isPage: false },
      receivedAt: new Date(receivedAt),
    })
  await send(EVENTS, AFTER)
  // Without timestamps, the arrival decides: also in the last millisecond of the day.
  await send([derived('/h', SECOND.ip), named('/i', SECOND.user_id)], BEFORE)
  await send([derived('/j', SECOND.ip)], AFTER)
  const [first, second] = DIVIDED
  expect(await load(project.id)).toEqual([
    [...first!, '/h'],
    [...second!, '/i', '/j'],
  ])
  const users = await Promise.all(
    cluster.shards.map(({ store }) =>
      select<{ paths: readonly string[] }>(
        store,
        sql`SELECT arraySort(groupArray(path)) AS paths FROM events WHERE project_id = 'collected' GROUP BY user ORDER BY paths`,
      ),
    ),
  )
  expect(users.map((some) => some.map(({ paths }) => paths.join('')))).toEqual([
    ['/b/c/i', '/g/j'],
    // The visit of a sender who stays on a shard goes on at midnight.
    ['/a', '/d/f', '/e/h'],
  ])
})

test.each([
  ['of the project', true],
  ['of several projects', false],
])('a file %s', async (what, isOfProject) => {
  const { id } = await createWidened(`file-${what.length}`)
  const rejections: Rejection[] = []
  const rows = EVENTS.map((event) => (isOfProject ? event : { project: id, ...event }))
  const report = await importIntoCluster(cluster, splitIntoChunks(toLines(rows)), {
    ...(isOfProject ? { projectId: id } : {}),
    now: new Date('2026-03-10T00:00:00Z'),
    getLoader,
    onRejected: (some) => void rejections.push(...some),
  })
  expect([report.events, rejections]).toEqual([EVENTS.length, []])
  expect(await load(id)).toEqual(DIVIDED)
})

test('rows of a named user that left are forwarded once; rows of derived users stay', async () => {
  const { id } = await createWidened('forwarded')
  const former = cluster.shards[1]!
  const derivedId = 'anonymous-0123456789abcdef0123456789abcdef'
  await feed(former.store, id, [
    named('/a', FIRST.user_id),
    { ...named('/b', SECOND.user_id), event_id: 'b' },
    named('/c', SECOND.user_id, BEFORE),
    derived('/d', SECOND.ip, AFTER),
    named('/e', derivedId, BEFORE),
    // The loader reads the first of both.
    `{"path":"/f","user_id":"${SECOND.user_id}","user_id":"${FIRST.user_id}"}`,
    `{"path":"/g","user_id":"${FIRST.user_id}","user_id":"${SECOND.user_id}"}`,
    { ...named('/h', SECOND.user_id), country: 'no country' },
  ])
  await loadShard(cluster, former)
  expect(await forwardRows(cluster)).toBe(3)
  expect(await load(id)).toEqual([
    ['/a', '/d', '/e', '/g'],
    ['/b', '/c', '/f'],
  ])
  expect(await forwardRows(cluster)).toBe(0)
  const rejected = cluster.shards.map(({ store }) =>
    select(store, sql`SELECT reason FROM rejections`),
  )
  expect(await Promise.all(rejected)).toEqual([
    [],
    [{ reason: 'country: must be an ISO 3166-1 alpha-2 code, as DE' }],
  ])
})

test('events of a shard that the project has left are forwarded to where their users are', async () => {
  const other = await createOn(cluster, 'left', 'shard2')
  await feed(cluster.home.store, other.id, [
    derived('/a', SECOND.ip, BEFORE),
    named('/b', SECOND.user_id),
  ])
  await feed(cluster.home.store, other.id, [derived('/c', SECOND.ip)], BEFORE.slice(0, -1))
  await feed(cluster.home.store, other.id, [derived('/d', SECOND.ip)], AFTER.slice(0, -1))
  await loadShard(cluster, cluster.home)
  await recordWidening(cluster, other, ['shard2', 'shard1'], CUT)
  expect(await forwardRows(cluster)).toBe(4)
  expect(await load(other.id)).toEqual([
    ['/a', '/c'],
    ['/b', '/d'],
  ])
})

test('rows of an import that began before the switch are rejected if their user has left', async () => {
  const { id } = await createWidened('stale')
  const former = cluster.shards[1]!
  const rejections: Rejection[] = []
  const rows = [EVENTS[0]!, EVENTS[1]!, EVENTS[4]!]
  const options = {
    projectId: id,
    now: new Date('2026-03-10T00:00:00Z'),
    onRejected: (some: readonly Rejection[]) => void rejections.push(...some),
  }
  const report = await importEvents(former.store, splitIntoChunks(toLines(rows)), {
    ...options,
    loader: getContext(cluster)(former),
  })
  expect(report).toMatchObject({ events: 2, rejected: 1 })
  expect(rejections).toEqual([
    {
      row: 2,
      reason:
        'the project has been widened, and the user lives on another shard now: import only this row again',
      line: JSON.stringify(rows[1]),
    },
  ])
  const again = splitIntoChunks(`${rejections[0]!.line}\n`)
  await importIntoCluster(cluster, again, { ...options, getLoader })
  expect(await load(id)).toEqual([['/a', '/e'], ['/b']])
})
