/** Requests of events for projects on one, two and three shards: each event is in the inbox of its sender's shard, once. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { withLease } from '../../../src/clickhouse/lease/lease.js'
import { sql, statement, string } from '../../../src/clickhouse/sql.js'
import { locate, type Cluster, type Shard } from '../../../src/cluster/cluster.js'
import { chooseShard } from '../../../src/cluster/choose-shard.js'
import type { SentEvent } from '../../../src/contract/collector-api.js'
import {
  createCollect,
  EventTooLargeError,
  type Collect,
  type Entrance,
} from '../../../src/ingest/collect/collect.js'
import { createInboxWriter } from '../../../src/ingest/inbox/inbox-writer.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { placeOn } from '../../support/cluster/senders.js'
import { createOn, createShards, type TestShards } from '../../support/cluster/shard-databases.js'
import { sample } from '../../support/effort.js'
import { select } from '../../support/store/facts.js'
import { loadWaiting } from '../../support/store/loading.js'

let databases: TestShards
let cluster: Cluster
beforeAll(async () => {
  databases = await createShards(3)
  cluster = databases.cluster
})
afterAll(() => databases.drop())

/** Creates the collector of these shards. */
function createCollector(shards: Cluster, change = (entrance: Entrance): Entrance => entrance) {
  const entrances = new Map(
    shards.shards.map(({ name, store }) => [
      name,
      change({ write: createInboxWriter(store.writer).write }),
    ]),
  )
  const find = ({ name }: Shard): Entrance => entrances.get(name)!
  return createCollect((project) => {
    const [first, ...others] = locate(shards, project)
    return [find(first), ...others.map(find)]
  })
}

const CLIENT = {
  ip: '203.0.113.77',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0',
  isPage: true,
}
const send = (collect: Collect, project: StoredProject, events: readonly SentEvent[]) =>
  collect({ project, events, client: CLIENT, receivedAt: new Date() })

/** Loads all inboxes; returns the paths in each store, sorted. */
async function load(project: StoredProject): Promise<readonly (readonly string[])[]> {
  return Promise.all(
    cluster.shards.map(async ({ store }) => {
      await withLease(store.writer, 'loader', () => loadWaiting(store.writer))
      const rows = await select<{ path: string }>(
        store,
        sql`SELECT path FROM events WHERE project_id = ${string(project.id)} ORDER BY path`,
      )
      return rows.map(({ path }) => path)
    }),
  )
}

/** The paths that each store must have. */
const split = (events: readonly SentEvent[], { shards }: StoredProject) =>
  cluster.shards.map(({ name }) =>
    events
      .filter((event) => {
        const sender = { ip: CLIENT.ip, user_agent: CLIENT.userAgent, ...event }
        return shards[chooseShard(sender, placeOn(shards.length), new Date())] === name
      })
      .map(({ path }) => path!)
      .sort(),
  )

const event = (n: number): SentEvent => ({
  path: `/${1_000 + n}`,
  event_id: `e${n}`,
  user_id: `u${n}`,
})
const EVENTS = Array.from({ length: 30 }, (_, n) => event(n))

const senders: fc.Arbitrary<SentEvent> = fc.oneof(
  fc.record({ user_id: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }) }),
  fc.record({ ip: fc.ipV4() }),
  fc.record({
    ip: fc.ipV6(),
    user_agent: fc.constantFrom('Mozilla/5.0 Firefox/1', `Mozilla/5.0 ${'😀'.repeat(1_030)}`),
  }),
  fc.constant({}),
)

describe.each(sample([{ on: [2, 0, 1] }, { on: [0, 1] }, { on: [1] }], 3))(
  'a project on $on',
  ({ on }) => {
    test('each event is once in the store of its sender', async () => {
      const project = await createOn(cluster, ...on)
      const collect = createCollector(cluster)
      const events = fc
        .sample(senders, 200)
        .map((sender, n): SentEvent => ({ ...sender, path: `/${1_000 + n}` }))
      for (let at = 0; at < events.length; at += 40) {
        const accepted = await send(collect, project, events.slice(at, at + 40))
        expect(accepted).toMatchObject({ accepted: 40 })
      }
      expect(await load(project)).toEqual(split(events, project))
    })

    test('a store that refuses is 503, and the repeated request counts once', async () => {
      const project = await createOn(cluster, ...on)
      const away = createCollector(databases.without(project.shards[0]!))
      await expect(send(away, project, EVENTS)).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
      })
      const partly = await load(project)
      expect(partly.flat().length).toBe(
        split(EVENTS, project).flat().length - split(EVENTS, project)[on[0]!]!.length,
      )
      expect(await send(createCollector(cluster), project, EVENTS)).toMatchObject({ accepted: 30 })
      expect(await send(createCollector(cluster), project, EVENTS)).toMatchObject({ accepted: 30 })
      expect(await load(project)).toEqual(split(EVENTS, project))
    })

    test('nothing is written when an event is too large, or a store has no room or too much waiting', async () => {
      const project = await createOn(cluster, ...on)
      const tooLarge = {
        ...event(31),
        properties: Object.fromEntries(
          Array.from({ length: 40 }, (_, n) => [`p${n}`, 'x'.repeat(1_000)]),
        ),
      }
      await expect(send(createCollector(cluster), project, [...EVENTS, tooLarge])).rejects.toEqual(
        new EventTooLargeError([30]),
      )
      const full = new Error('full')
      const refuse = (): never => {
        throw full
      }
      for (const more of [{ requireSpace: refuse }, { waiting: { check: refuse, add: refuse } }]) {
        let opened = 0
        const last = createCollector(cluster, (entrance) =>
          ++opened === on.at(-1)! + 1 ? { ...entrance, ...more } : entrance,
        )
        await expect(send(last, project, EVENTS)).rejects.toBe(full)
      }
      expect(await load(project)).toEqual([[], [], []])
    })
  },
)

test('a project on a store that is not known is 503', async () => {
  const project = await createOn(cluster, 0, 1)
  const events = send(createCollector(cluster), { ...project, shards: ['shard1', 'other'] }, EVENTS)
  await expect(events).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  expect(
    await cluster.home.store.reader.query(
      statement(sql`SELECT line FROM inbox WHERE project = ${string(project.id)}`),
    ),
  ).toMatchObject({ rows: [] })
})
