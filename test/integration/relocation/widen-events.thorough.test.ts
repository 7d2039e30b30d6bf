/** Events that arrive while a project is widened, on whichever shard, count once, and each user is on one shard. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Connection } from '../../../src/clickhouse/connection.js'
import type { Statement } from '../../../src/clickhouse/sql.js'
import { locate, type Cluster } from '../../../src/cluster/cluster.js'
import { chooseShard, type SenderFields } from '../../../src/cluster/choose-shard.js'
import { forwardRows } from '../../../src/relocation/forward-rows.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { createOn, loadShard } from '../../support/cluster/moving.js'
import { createShards, mapShards, type TestShards } from '../../support/cluster/shard-databases.js'
import {
  expectRollupsOf,
  findProject,
  importWide,
  readAllFacts,
  sampleMixed,
  widen,
  withoutDerivedIds,
} from '../../support/cluster/widening.js'
import { newWideProject } from '../../support/cluster/wide-world.js'
import { feed } from '../../support/store/stream.js'

let shards: TestShards
let cluster: Cluster

beforeAll(async () => {
  shards = await createShards(4)
  cluster = shards.cluster
})
afterAll(() => shards.drop())

type Event = SenderFields & { readonly event_id: string }

/** Events of known users and of new ones, with and without an id, late ones and ones of the day. */
const BASE: readonly Event[] = Array.from({ length: 180 }, (_, i) => ({
  ...(i % 4 === 0
    ? { ip: `203.0.113.${(i * 3) % 40}`, user_agent: `Agent/${i % 3}` }
    : { user_id: `user-${(i * 11) % 60}` }),
  event_id: `sent-${i}`,
  timestamp: i % 8 < 4 ? '2024-01-15T00:10:00Z' : '2026-06-15T12:00:00Z',
}))
/** Every third comes twice. */
const EVENTS = BASE.flatMap((event, i) => (i % 3 === 2 ? [event, BASE[i - 2]!] : [event]))

const ARRIVED = '2026-06-15 12:00:00.000'

/** Sends an event to the shard that a service chooses which knows this of the project. */
async function sendTo(project: StoredProject, event: Event): Promise<void> {
  const own = locate(cluster, project)
  const shard = own[chooseShard(event, project, new Date('2026-06-15T12:00:00Z'))] ?? own[0]
  await feed(shard.store, project.id, [event], ARRIVED)
}

/** The cluster of a process which is joined by others: `meanwhile` runs before statements at a regular distance. */
function joinBy(every: number, meanwhile: (text: string) => Promise<void>): Cluster {
  let count = 0
  let isBusy = false
  const pause = async ({ query }: Statement): Promise<void> => {
    count += 1
    if (isBusy || count % every !== 0) return
    isBusy = true
    await meanwhile(query)
    isBusy = false
  }
  const wrap = (connection: Connection): Connection => ({
    ...connection,
    query: async (asked, ...rest) => {
      await pause(asked)
      return connection.query(asked, ...rest)
    },
    execute: async (asked, ...rest) => {
      await pause(asked)
      return connection.execute(asked, ...rest)
    },
  })
  return mapShards(cluster, (shard) => ({
    ...shard,
    store: { ...shard.store, writer: wrap(shard.store.writer) },
  }))
}

test.each([{ from: [4, 3], width: 4 }])(
  'events that arrive while it goes from $from to $width',
  async ({ from, width }) => {
    const { id } = await newWideProject(
      cluster,
      from.map((number) => cluster.shards[number - 1]!),
    )
    const same = await createOn(cluster, `${id}-same`, 'shard1')
    const first = sampleMixed(31, 80)
    await importWide(cluster, id, first)
    await importWide(cluster, same.id, first)
    const former = await findProject(cluster, id)
    let sent = 0
    const send = async (): Promise<void> => {
      const event = EVENTS[sent]
      if (event === undefined) return
      sent += 1
      // Every other service has not noticed the switch yet.
      await sendTo(sent % 2 === 0 ? former : await findProject(cluster, id), event)
    }
    const joined = joinBy(5, send)
    await widen(joined, id, width)
    const during = sent
    expect(during).toBeGreaterThan(30)
    while (sent < EVENTS.length) await send()
    await feed(cluster.shards[0].store, same.id, EVENTS, ARRIVED)
    for (let round = 0; round < 2; round++) {
      for (const shard of cluster.shards) await loadShard(cluster, shard)
      await forwardRows(cluster)
    }
    expect(withoutDerivedIds(await readAllFacts(cluster, id))).toEqual(
      withoutDerivedIds(await readAllFacts(cluster, same.id)),
    )
    for (const shard of cluster.shards) await expectRollupsOf(cluster, shard, id)
  },
)
