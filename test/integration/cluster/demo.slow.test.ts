/** The demo on several shards: each of its events is there once, also if an earlier start was broken off. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql } from '../../../src/clickhouse/sql.js'
import { generateEvents } from '../../../src/demo/events.js'
import { createShards, withWriter, type TestShards } from '../../support/cluster/shard-databases.js'
import { breakAfter, BrokenError, releaseLease } from '../../support/store/breaking.js'
import { select } from '../../support/store/facts.js'
import { topUpDemo } from '../../support/store/loading.js'

let databases: TestShards
beforeAll(async () => {
  databases = await createShards(3)
})
afterAll(() => databases.drop())

test('the demo continues its history on all shards', async () => {
  const { cluster } = databases
  const now = new Date('2026-03-10T08:00:00Z')
  const broken = withWriter(cluster, 'shard2', (writer) => breakAfter(writer, /INSERT INTO inbox/))
  await expect(topUpDemo(broken, { now, days: 2, width: 3 })).rejects.toThrow(BrokenError)
  await releaseLease(cluster.shards[1]!.store)
  const { project } = await topUpDemo(cluster, { now, days: 2, width: 3 })
  expect(project.shards).toEqual(['shard1', 'shard2', 'shard3'])
  const later = new Date('2026-03-10T16:00:00Z')
  await topUpDemo(cluster, { now: later })
  const all = [
    ...generateEvents({ start: project.createdAt, from: project.createdAt, until: later }),
  ].flat()
  const counts = await Promise.all(
    cluster.shards.map(({ store }) =>
      select<{ events: number }>(store, sql`SELECT count() AS events FROM events`),
    ),
  )
  const events = counts.flat().map((one) => one.events)
  expect(Math.min(...events)).toBeGreaterThan(all.length / 5)
  expect(events.reduce((a, b) => a + b)).toBe(all.length)
})
