/**
 * The law of the rollups of large projects: a query that filters by another dimension than it groups by, or asks for sums of numbers by a
 * dimension, has the same response from these rollups, from the facts, and from DuckDB; with late events and without the users that were
 * deleted, on one shard and on three.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { listRelations, type Plan } from '../../src/analytics/plan/plan.js'
import { deleteUsersFromShards } from '../../src/deletion/delete-users.js'
import type { RelationName } from '../../src/model/relations.js'
import type { StoredProject } from '../../src/projects/project.js'
import { pairRequest, sumsRequest } from '../support/arbitrary/rollups.js'
import { createVisits, DOMAIN, EXCLUDED } from '../support/arbitrary/visits.js'
import { startCluster, type TestCluster } from '../support/cluster/cluster.js'
import { newWideProject, runQuery, sendToShards } from '../support/cluster/wide-world.js'
import { answer } from '../support/duckdb/answer.js'
import type { DuckDatabase } from '../support/duckdb/database.js'
import { createDuckWorld } from '../support/duckdb/world.js'
import { scaled } from '../support/effort.js'
import { createContext } from '../support/store/loading.js'
import {
  countPairs,
  createLargeSizes,
  fillDefaults,
  NOW,
  type PartialRequest,
} from '../support/world/world.js'

const SEED = Number(process.env['LAWS_SEED'] ?? 20_260_615)
const QUERIES = scaled(40)
const TIMEOUT_MS = 300_000 + QUERIES * 2_000
const VISITS = 500
const WIDTHS = [1, 3]
const BATCHES = 3
const DELETED = ['u1', 'u2', 'ü3', 'U4', "it's 5", '😀6']

/** The events lie in these months. */
const SIZES = createLargeSizes(2023, 11, 5)

let cluster: TestCluster
let duck: DuckDatabase
/** The same project on each width. */
let projects: readonly StoredProject[]

beforeAll(async () => {
  cluster = await startCluster(3)
  projects = await Promise.all(
    WIDTHS.map((width) =>
      newWideProject(cluster, cluster.shards.slice(0, width), {
        domain: DOMAIN,
        excludedIps: EXCLUDED.ips,
        excludedCountries: EXCLUDED.countries,
      }),
    ),
  )
  for (const { store } of cluster.shards) {
    for (const project of projects) await countPairs(store, project)
  }
  const [sent = []] = fc.sample(createVisits(VISITS), { seed: SEED, numRuns: 1 })
  const size = Math.ceil(sent.length / BATCHES)
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const part = sent.slice(batch * size, (batch + 1) * size)
    await sendToShards(
      cluster,
      projects,
      projects.flatMap(({ id }) => part.map((event) => ({ ...event, project: id }))),
    )
  }
  for (const { id, shards: names } of projects) {
    const shards = cluster.shards
      .filter(({ name }) => names.includes(name))
      .map((shard) => ({ ...shard, loader: createContext() }))
    await deleteUsersFromShards(shards, id, DELETED, { check: () => Promise.resolve() })
  }
  duck = await createDuckWorld(
    { domain: DOMAIN, ...EXCLUDED },
    sent.filter(({ user_id: user }) => !DELETED.includes(String(user))),
  )
})
afterAll(async () => {
  duck.close()
  await cluster.stop()
})

test.each<[string, fc.Arbitrary<PartialRequest>, readonly RelationName[]]>([
  ['filtered queries, from pairs', pairRequest, ['pairs_monthly', 'pair_users_monthly']],
  ['sums of numbers by a dimension, from their rollup', sumsRequest, ['numbers_monthly']],
])(
  'the responses are those of facts and of DuckDB: %s',
  async (_what, request, rollups) => {
    let fromRollups = 0
    await fc.assert(
      fc.asyncProperty(request, async (asked) => {
        const { createdAt } = projects[0]!
        const want = await answer(duck, fillDefaults(asked), { now: NOW, createdAt })
        for (const project of projects) {
          const plans: Plan[] = []
          const given = await runQuery(cluster, project, asked, NOW, SIZES, (plan) => {
            plans.push(plan)
          })
          expect(given).toEqual(want)
          // A project that is not known to be large reads its facts.
          expect(await runQuery(cluster, project, asked)).toEqual(want)
          if (plans.flatMap(listRelations).some((one) => rollups.includes(one))) fromRollups += 1
        }
      }),
      { seed: SEED, numRuns: QUERIES, endOnFailure: true },
    )
    expect(fromRollups / (QUERIES * WIDTHS.length)).toBeGreaterThan(0.5)
  },
  TIMEOUT_MS,
)
