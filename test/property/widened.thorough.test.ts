/** The law of widenings: a project gives the same responses whether it lives on one shard or was widened, whatever came when. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { StoredProject } from '../../src/projects/project.js'
import { importIntoCluster } from '../../src/ingest/import/import-into-cluster.js'
import { attributeRequest, rollupRequest } from '../support/arbitrary/rollups.js'
import { createSentEvent } from '../support/arbitrary/senders.js'
import { startCluster, type TestCluster } from '../support/cluster/cluster.js'
import { getContext } from '../support/cluster/wide-projects.js'
import { newWideProject, runQuery } from '../support/cluster/wide-world.js'
import { recordWidening } from '../support/cluster/widened.js'
import { scaled } from '../support/effort.js'
import { splitIntoChunks, toLines } from '../support/sources/sources.js'
import { select } from '../support/store/facts.js'
import { sql, string } from '../../src/clickhouse/sql.js'
import { ARRIVAL, LARGE_SIZES, NOW, type PartialRequest } from '../support/world/world.js'

const SEED = Number(process.env['LAWS_SEED'] ?? 20_260_615)
const QUESTIONS = scaled(2)
const SHARDS = 4
const BATCHES = 4

/**
 * The shards of projects, and the days at which they got the later ones. No visit lasts over these midnights: those of users without
 * an id end there if their later events go to another shard.
 */
const WIDENINGS = [
  [['shard2'], ['shard2', 'shard1'], '2024-01-17'],
  [
    ['shard4'],
    ['shard4', 'shard3'],
    '2024-01-17',
    ['shard4', 'shard3', 'shard2', 'shard1'],
    '2024-03-15',
  ],
] as const

let cluster: TestCluster
let narrow: StoredProject
let widened: readonly StoredProject[]

beforeAll(async () => {
  cluster = await startCluster(SHARDS)
  narrow = await newWideProject(cluster, [])
  widened = await Promise.all(WIDENINGS.slice(0, SHARDS / 2).map(createWidened))
  const batch = fc.array(createSentEvent(), { minLength: 60, maxLength: 140, size: 'max' })
  for (const events of fc.sample(batch, { seed: SEED, numRuns: BATCHES })) {
    const rows = [narrow, ...widened].flatMap(({ id }) =>
      events.map((event) => ({ ...event, project: id })),
    )
    const report = await importIntoCluster(cluster, splitIntoChunks(toLines(rows)), {
      now: ARRIVAL,
      getLoader: (name) => getContext(cluster)(cluster.shards.find((one) => one.name === name)!),
      onRejected: () => undefined,
    })
    expect(report.rejected).toBe(0)
  }
})
afterAll(() => cluster.stop())

async function createWidened([
  first,
  ...later
]: (typeof WIDENINGS)[number]): Promise<StoredProject> {
  const find = (name: string) => cluster.shards.find((one) => one.name === name)!
  let project = await newWideProject(cluster, first.map(find))
  for (let i = 0; i < later.length; i += 2) {
    const [names, until] = later.slice(i, i + 2) as [readonly string[], string]
    project = await recordWidening(cluster, project, names, until)
  }
  return project
}

test('every shard has users of both kinds', async () => {
  for (const { id, shards } of widened) {
    for (const name of shards) {
      const { store } = cluster.shards.find((one) => one.name === name)!
      const kinds = await select(
        store,
        sql`SELECT startsWith(user_id, 'anonymous-') AS is_derived FROM users WHERE project_id = ${string(id)} GROUP BY ALL ORDER BY ALL`,
      )
      expect({ name, kinds }).toEqual({ name, kinds: [{ is_derived: 0 }, { is_derived: 1 }] })
    }
  }
})

test.each<[string, fc.Arbitrary<PartialRequest>, typeof LARGE_SIZES | undefined]>([
  ['any question', rollupRequest, undefined],
  ['questions about session attributes', attributeRequest, LARGE_SIZES],
])(
  '%s: the same bytes from one shard and from a project that was widened',
  async (_what, requests, sizes) => {
    const ask = async (project: StoredProject, asked: PartialRequest) =>
      JSON.stringify(await runQuery(cluster, project, asked, NOW, sizes))
    await fc.assert(
      fc.asyncProperty(requests, async (asked) => {
        const one = await ask(narrow, asked)
        for (const project of widened) expect(await ask(project, asked)).toBe(one)
      }),
      { seed: SEED, numRuns: QUESTIONS, endOnFailure: true },
    )
  },
)
