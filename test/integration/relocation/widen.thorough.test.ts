/** A project is widened while it is asked: every answer stays the same, and its users are where their events go. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Cluster } from '../../../src/cluster/cluster.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { startCluster, type TestCluster } from '../../support/cluster/cluster.js'
import { createOn } from '../../support/cluster/moving.js'
import {
  expectRollupsOf,
  findProject,
  importWide,
  readAllFacts,
  readAnswers,
  sampleMixed,
  widen,
} from '../../support/cluster/widening.js'
import { newWideProject } from '../../support/cluster/wide-world.js'

let engines: TestCluster
beforeAll(async () => {
  engines = await startCluster(4, { from: 1, to: 3 })
})
afterAll(() => engines.stop())

/** The cluster with only its first shards. */
const takeFirst = (count: number): Cluster => {
  const [home, ...others] = engines.shards.slice(0, count)
  return { home: home!, shards: [home!, ...others] }
}

const EVENTS = sampleMixed(21, 150)

/** The machine is needed for the rest, too. */
const PAUSE_MS = 300

/** Asks again and again until `end` is called, as a service that knows the project for a while; returns how often. */
function keepAsking(
  cluster: Cluster,
  id: string,
  wanted: readonly unknown[],
  knownFor: number,
): { readonly end: () => Promise<number> } {
  let isEnding = false
  const ask = async (): Promise<number> => {
    let count = 0
    let known: { readonly project: StoredProject; readonly at: number } | undefined
    while (!isEnding) {
      if (known === undefined || performance.now() - known.at > knownFor) {
        known = { project: await findProject(cluster, id), at: performance.now() }
      }
      const given = await readAnswers(cluster, known.project)
      if (!isDeepStrictEqual(given, wanted)) expect(given).toEqual(wanted)
      count += 1
      await sleep(PAUSE_MS)
    }
    return count
  }
  const asked = ask()
  // The failure is that of the end.
  asked.catch(() => undefined)
  return {
    end: () => {
      isEnding = true
      return asked
    },
  }
}

test.each([{ shards: 3, from: [2], to: ['shard2', 'shard1', 'shard3'] }])(
  'a project goes from $from to $to',
  async ({ shards, from, to }) => {
    const cluster = takeFirst(shards)
    const { id } = await newWideProject(
      cluster,
      from.map((number) => cluster.shards[number - 1]!),
    )
    // All shards have other projects, whose users and loads have the same numbers.
    for (const { name } of cluster.shards) {
      const other = await createOn(cluster, `${id}-${name}`, name)
      await importWide(cluster, other.id, EVENTS.slice(0, 30))
    }
    await importWide(cluster, id, EVENTS.slice(0, 100))
    await importWide(cluster, id, EVENTS.slice(100))
    const before = await findProject(cluster, id)
    const [answers, facts] = [await readAnswers(cluster, before), await readAllFacts(cluster, id)]

    const settleMs = 1_500
    const asking = [0, settleMs / 2].map((known) => keepAsking(cluster, id, answers, known))
    expect(await widen(cluster, id, to.length, { settleMs })).toEqual(to)
    for (const one of asking) expect(await one.end()).toBeGreaterThan(2)

    const after = await findProject(cluster, id)
    expect(after).toMatchObject({
      shards: to,
      formerWidths: [{ width: from.length, until: new Date('2026-06-17T00:00:00Z') }],
      isWidening: false,
    })
    expect(await readAnswers(cluster, after)).toEqual(answers)
    expect(await readAllFacts(cluster, id)).toEqual(facts)
    for (const shard of cluster.shards) await expectRollupsOf(cluster, shard, id)
  },
)
