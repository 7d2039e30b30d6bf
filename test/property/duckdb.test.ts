/** The law of the second implementation: the service gives the responses that DuckDB computes, on one shard and across several. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { StoredProject } from '../../src/projects/project.js'
import { FACTS } from '../../src/model/relations.js'
import { question, type Question } from '../support/arbitrary/questions.js'
import { valuesRequest } from '../support/arbitrary/values.js'
import { createVisits, DOMAIN, EXCLUDED } from '../support/arbitrary/visits.js'
import { startCluster, type TestCluster } from '../support/cluster/cluster.js'
import { newWideProject, runQuery, runValues, sendToShards } from '../support/cluster/wide-world.js'
import { answer } from '../support/duckdb/answer.js'
import type { DuckDatabase } from '../support/duckdb/database.js'
import { answerValues } from '../support/duckdb/values.js'
import { createDuckWorld } from '../support/duckdb/world.js'
import { scaled } from '../support/effort.js'
import { fillDefaults, LARGE_SIZES, NOW, type SentEvent } from '../support/world/world.js'

const SEED = Number(process.env['LAWS_SEED'] ?? 20_260_615)
/** The number of worlds, of visits in each, and of questions to each. */
const WORLDS = scaled(1)
const VISITS = scaled(400)
const QUESTIONS = scaled(20)
/** A question takes up to a second on a busy machine. */
const TIMEOUT_MS = 300_000 + WORLDS * QUESTIONS * 2_000
const BATCHES = 2
const WIDTHS = [1, 2, 4]

interface World {
  readonly duck: DuckDatabase
  /** The same project on each width. */
  readonly projects: readonly StoredProject[]
}

let cluster: TestCluster
let worlds: readonly World[]

beforeAll(async () => {
  cluster = await startCluster(4)
  const sent = fc.sample(createVisits(VISITS), { seed: SEED, numRuns: WORLDS })
  worlds = await Promise.all(sent.map(createWorld))
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const events = worlds.flatMap(({ projects }, i) =>
      projects.flatMap(({ id }) =>
        takePart(sent[i]!, batch).map((event) => ({ ...event, project: id })),
      ),
    )
    await sendToShards(
      cluster,
      worlds.flatMap(({ projects }) => projects),
      events,
    )
  }
})
afterAll(async () => {
  for (const { duck } of worlds) duck.close()
  await cluster.stop()
})

async function createWorld(events: readonly SentEvent[]): Promise<World> {
  const fields = {
    domain: DOMAIN,
    excludedIps: EXCLUDED.ips,
    excludedCountries: EXCLUDED.countries,
  }
  return {
    duck: await createDuckWorld({ domain: DOMAIN, ...EXCLUDED }, events),
    projects: await Promise.all(
      WIDTHS.map((width) => newWideProject(cluster, cluster.shards.slice(0, width), fields)),
    ),
  }
}

/** The events of one batch, in the order of their arrival. */
function takePart(events: readonly SentEvent[], batch: number): readonly SentEvent[] {
  const size = Math.ceil(events.length / BATCHES)
  return events.slice(batch * size, (batch + 1) * size)
}

const ask = async ({ projects }: World, { asked, now, isLarge }: Question): Promise<string[]> =>
  Promise.all(
    projects.map(async (project) =>
      JSON.stringify(
        await runQuery(cluster, project, asked, now, isLarge ? LARGE_SIZES : undefined),
      ),
    ),
  )

test(
  'the service answers on 1, 2 and 4 shards what DuckDB answers',
  async () => {
    const rows: number[] = []
    await fc.assert(
      fc.asyncProperty(fc.nat(), question, async (n, one) => {
        const world = worlds[n % WORLDS]!
        const { createdAt } = world.projects[0]!
        const [want, got] = await Promise.all([
          answer(world.duck, fillDefaults(one.asked), { now: one.now, createdAt }),
          ask(world, one),
        ])
        const text = JSON.stringify(want)
        for (const [i, other] of got.entries()) {
          if (other === text) continue
          expect({ width: WIDTHS[i], answer: JSON.parse(other) as unknown }).toEqual({
            width: WIDTHS[i],
            answer: want,
          })
          expect(other).toBe(text)
        }
        rows.push(want.data.length)
      }),
      { seed: SEED, numRuns: WORLDS * QUESTIONS, endOnFailure: true },
    )
    // Empty pages prove nothing.
    expect(rows.filter((count) => count > 0).length / rows.length).toBeGreaterThan(0.6)
  },
  TIMEOUT_MS,
)

test(
  'the values of fields are those that DuckDB finds: on 1, 2 and 4 shards, from rollups and from facts',
  async () => {
    const sizes: number[] = []
    await fc.assert(
      fc.asyncProperty(fc.nat(), valuesRequest, async (n, asked) => {
        const { duck, projects } = worlds[n % WORLDS]!
        const { createdAt } = projects[0]!
        const want = await answerValues(duck, asked, { now: NOW, createdAt })
        const [first, ...others] = projects
        const got = await Promise.all([
          runValues(cluster, first!, asked, FACTS),
          ...[first!, ...others].map((project) => runValues(cluster, project, asked)),
        ])
        expect(got).toEqual(got.map(() => want))
        expect(new Set(got.map((one) => JSON.stringify(one)))).toEqual(
          new Set([JSON.stringify(want)]),
        )
        sizes.push(want.data.length)
      }),
      { seed: SEED, numRuns: WORLDS * QUESTIONS, endOnFailure: true },
    )
    // Empty lists prove nothing.
    expect(sizes.filter((count) => count > 0).length / sizes.length).toBeGreaterThan(0.5)
  },
  TIMEOUT_MS,
)
