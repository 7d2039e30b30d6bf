/** Whatever way events come in, and whatever is killed meanwhile: a project has the same on one shard and on several. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Cluster } from '../../src/cluster/cluster.js'
import type { StoredProject } from '../../src/projects/project.js'
import { rollupRequest } from '../support/arbitrary/rollups.js'
import { createSentEvent } from '../support/arbitrary/senders.js'
import { startCluster, type TestCluster } from '../support/cluster/cluster.js'
import { newWideProject, runQuery } from '../support/cluster/wide-world.js'
import {
  createCollector,
  deleteUser,
  doTwice,
  importIntoShards,
  loadAll,
  pickReport,
  readStored,
} from '../support/cluster/writing.js'
import { listLeftovers } from '../support/store/facts.js'
import { checkRollups } from '../support/store/loading.js'
import type { SentEvent } from '../support/world/world.js'

const SEED = Number(process.env['LAWS_SEED'] ?? 20_260_615)
const QUESTIONS = 8
/** The statement after which a process is killed, in the middle of an import or a load. */
const KILLS = [15]

const AGENTS = [
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'Googlebot/2.1',
  '',
]
const INVALID = ['no JSON', '{}', '{"timestamp":"2024-02-30T00:00:00Z","user_id":"u1"}']
const EXCLUDED = { excludedIps: ['192.0.2.2'], excludedCountries: ['US'] }

let cluster: TestCluster
/** Projects on one, two and four shards, which have the same events. */
let projects: readonly StoredProject[]
let collect: ReturnType<typeof createCollector>

beforeAll(async () => {
  cluster = await startCluster(4)
  collect = createCollector(cluster)
  const { shards } = cluster
  projects = [
    await newWideProject(cluster, [shards[2]!], EXCLUDED),
    await newWideProject(cluster, shards.slice(0, 2), EXCLUDED),
    await newWideProject(cluster, shards, EXCLUDED),
  ]
})
afterAll(() => cluster.stop())

/** Batches of events in any order of time, with repeated ids; the later ones are late for the earlier ones. */
const batches: readonly (readonly SentEvent[])[] = fc.sample(
  fc.array(createSentEvent(AGENTS), { minLength: 60, maxLength: 90, size: 'max' }),
  { seed: SEED, numRuns: 6 },
)

/** Does the same for each project, and expects the same of it. */
async function doForEach<T>(work: (project: StoredProject) => Promise<T>): Promise<T> {
  const [one, ...wider] = [
    await work(projects[0]!),
    await work(projects[1]!),
    await work(projects[2]!),
  ]
  expect(wider).toEqual([one, one])
  return one
}

const importBatch = (lines: readonly (SentEvent | string)[]): Promise<object> =>
  doForEach(async (project) => pickReport(await importIntoShards(cluster, project, lines)))

/** Collects events in requests of a few. */
const collectBatch = (events: readonly SentEvent[]): Promise<void> =>
  doForEach(async (project) => {
    for (let at = 0; at < events.length; at += 20) {
      await collect(project, events.slice(at, at + 20))
    }
  })

/** Compares what is stored; returns how many sessions there are. */
const compareStored = async (): Promise<number> => {
  const stored = await doForEach((project) => readStored(cluster, project))
  return (stored as { facts: readonly unknown[] }).facts.length
}

test('imports, with invalid rows, bots and excluded events; the same file adds nothing', async () => {
  const [events] = batches
  const lines = [...events!, ...events!.filter(({ event_id: id }) => id !== ''), ...INVALID]
  const report = await importBatch(lines)
  expect(report).toMatchObject({ received: lines.length, rejected: INVALID.length })
  for (const outcome of ['events', 'duplicates', 'bots', 'excluded']) {
    expect(report).toHaveProperty(outcome)
    expect((report as Record<string, number>)[outcome]).toBeGreaterThan(0)
  }
  expect(await compareStored()).toBeGreaterThan(20)
  const before = await doForEach((project) => readStored(cluster, project))
  await importBatch(lines)
  expect(await doForEach((project) => readStored(cluster, project))).toEqual(before)
})

test('collected events, also sent twice, and late ones', async () => {
  await collectBatch(batches[1]!)
  await loadAll(cluster)
  await collectBatch(batches[1]!.filter(({ event_id: id }) => id !== ''))
  await collectBatch(batches[2]!)
  await loadAll(cluster)
  expect(await compareStored()).toBeGreaterThan(20)
})

test('imports and loads that are killed, and repeated', async () => {
  const killed: boolean[] = []
  for (const [i, statements] of KILLS.entries()) {
    const part = batches[3]!.filter((_, n) => n % KILLS.length === i)
    for (const project of projects) {
      const load = (within: Cluster): Promise<unknown> => importIntoShards(within, project, part)
      killed.push(await doTwice(cluster, statements, load))
    }
    await collectBatch(batches[4]!.filter((_, n) => n % KILLS.length === i))
    killed.push(await doTwice(cluster, statements, loadAll))
  }
  expect(killed.filter(Boolean).length).toBeGreaterThan(killed.length / 2)
  await compareStored()
})

test('a user who is deleted, and whose events come again', async () => {
  const deleted = await doForEach((project) => deleteUser(cluster, project, 'u1'))
  expect(deleted).toMatchObject({ events: expect.any(Number), sessions: expect.any(Number) })
  await compareStored()
  await collectBatch(batches[5]!)
  await loadAll(cluster)
  await compareStored()
})

test('the rollups of a shard are those of its facts, and nothing is left over', async () => {
  // The shard of the first project, and one of both others.
  for (const { store } of [cluster.shards[2]!, cluster.shards[0]]) {
    expect(await checkRollups(store.writer, {})).toMatchObject({ different: 0, differences: [] })
  }
  for (const { store } of cluster.shards) expect(await listLeftovers(store)).toEqual([])
})

test('every question has the same answer', async () => {
  for (const asked of fc.sample(rollupRequest, { seed: SEED, numRuns: QUESTIONS })) {
    await doForEach(async (project) => JSON.stringify(await runQuery(cluster, project, asked)))
  }
})
