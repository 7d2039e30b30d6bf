/** The law of queries across projects on several shards: each row is that of the same query about the project alone. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { ShardsData } from '../../src/analytics/across/read-projects.js'
import { runAcrossProjects } from '../../src/analytics/across/run-across-projects.js'
import type { QueriedProject } from '../../src/analytics/operation.js'
import type { Plan } from '../../src/analytics/plan/plan.js'
import { createQueryRunner } from '../../src/clickhouse/run.js'
import { locate } from '../../src/cluster/cluster.js'
import { findEarliest, findStatementGroup, openReader } from '../../src/cluster/shard-reads.js'
import type { AcrossResponse } from '../../src/contract/across-projects.js'
import { findFirstEventTimeOfAny } from '../../src/projects/event-times.js'
import type { StoredProject } from '../../src/projects/project.js'
import { createSentEvent } from '../support/arbitrary/senders.js'
import { startCluster, type TestCluster } from '../support/cluster/cluster.js'
import { newWideProject, runQuery, sendToShards } from '../support/cluster/wide-world.js'
import { scaled } from '../support/effort.js'
import { fillAcross, type PartialAcross } from '../support/world/across.js'
import { acrossRequest, expectEachAlone } from '../support/world/across-law.js'
import { NOW } from '../support/world/world.js'

const SEED = Number(process.env['LAWS_SEED'] ?? 20_260_615)
const QUESTIONS = scaled(30)
const BATCHES = 2
/** The first and the last shard of each project. */
const RANGES = [
  [1, 1],
  [1, 1],
  [2, 2],
  [2, 2],
  [1, 2],
  [1, 2],
] as const

let cluster: TestCluster
let projects: readonly StoredProject[] = []

beforeAll(async () => {
  cluster = await startCluster(2)
  projects = await Promise.all(
    RANGES.map(([from, to]) => newWideProject(cluster, cluster.shards.slice(from - 1, to))),
  )
  const batch = fc.array(createSentEvent(), { minLength: 20, maxLength: 80, size: 'max' })
  for (let n = 0; n < BATCHES; n += 1) {
    const sent = fc.sample(batch, { seed: SEED + n, numRuns: projects.length })
    const events = projects.flatMap(({ id }, i) =>
      sent[i]!.map((event) => ({ ...event, project: id })),
    )
    await sendToShards(cluster, projects, events)
  }
})
afterAll(() => cluster.stop())

function openData(some: readonly QueriedProject[]): ShardsData {
  const project = some[0]!
  const shards = locate(cluster, project)
  const runner = createQueryRunner({ ...shards[0].store, reader: openReader(shards) }, 30_000)
  return {
    group: findStatementGroup(cluster, project),
    run: (statement) => runner(statement),
    firstEventAt: (ids) =>
      findEarliest(shards, ({ store }) => findFirstEventTimeOfAny(store.reader, ids)),
  }
}

const runAcross = (
  some: readonly StoredProject[],
  asked: PartialAcross,
  onPlan?: (plan: Plan) => void,
): Promise<AcrossResponse> =>
  runAcrossProjects(fillAcross(asked), some, { now: () => NOW, openData, onPlan })

test('each row is that of the query about the project alone', async () => {
  await fc.assert(
    fc.asyncProperty(acrossRequest, fc.subarray([0, 1, 2, 3, 4, 5]), async (asked, chosen) => {
      const some = chosen.map((i) => projects[i]!)
      await expectEachAlone(await runAcross(some, asked), some, asked, (project, request) =>
        runQuery(cluster, project, request),
      )
    }),
    { seed: SEED, numRuns: QUESTIONS, endOnFailure: true },
  )
})

test('each set of shards runs one statement', async () => {
  const plans: Plan[] = []
  await runAcross(projects, { date_range: ['2024-01-01', '2024-03-31'] }, (plan) =>
    plans.push(plan),
  )
  const ids = projects.map(({ id }) => id)
  expect(plans.map(({ query }) => query.projectIds)).toEqual([
    ids.slice(0, 2),
    ids.slice(2, 4),
    ids.slice(4),
  ])
})

test('while projects are widened, each has a statement of its own that reads facts', async () => {
  const plans: Plan[] = []
  const widening = projects.slice(4).map((project) => ({ ...project, isWidening: true }))
  const asked = fillAcross({ date_range: ['2024-01-01', '2024-03-31'], interval: 'month' })
  const response = await runAcross(widening, asked, (plan) => plans.push(plan))
  expect(response.data).toEqual((await runAcross(projects.slice(4), asked)).data)
  expect(plans).toHaveLength(4)
  expect(new Set(plans.flatMap(({ scans }) => scans.map(({ relation }) => relation)))).toEqual(
    new Set(['events']),
  )
})
