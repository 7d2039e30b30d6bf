/** The law of widths: a project gives the same responses on one shard and across several. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Cluster } from '../../src/cluster/cluster.js'
import type { StoredProject } from '../../src/projects/project.js'
import { attributeRequest, rollupRequest } from '../support/arbitrary/rollups.js'
import { createSentEvent } from '../support/arbitrary/senders.js'
import { startCluster, type TestCluster } from '../support/cluster/cluster.js'
import { answerInRounds } from '../support/cluster/rounds.js'
import { newWideProject, runQuery, sendToShards } from '../support/cluster/wide-world.js'
import { amount } from '../support/sampling.js'
import { LARGE_SIZES, NOW, type PartialRequest } from '../support/world/world.js'

const SEED = Number(process.env['LAWS_SEED'] ?? 20_260_615)
const WORLDS = Number(process.env['LAWS_WORLDS'] ?? 1)
const QUESTIONS = amount('LAWS_QUESTIONS', { short: 10, long: 30 })
const BATCHES = 2
const WIDTHS = [1, 2, 3, 4].slice(0, amount('LAWS_WIDTHS', { short: 3, long: 4 }))

let cluster: TestCluster
/** For each world its project of each width, and the shards among which it finds its own. */
let worlds: readonly (readonly { readonly cluster: Cluster; readonly project: StoredProject }[])[]

beforeAll(async () => {
  cluster = await startCluster(WIDTHS.length, { from: 1, to: 3 })
  worlds = await Promise.all(
    Array.from({ length: WORLDS }, () =>
      Promise.all(
        WIDTHS.map(async (width) => ({
          // Three of four shards are no group.
          cluster: width === 3 ? { ...cluster, shards: takeFirst(cluster, 3) } : cluster,
          project: await newWideProject(cluster, takeFirst(cluster, width)),
        })),
      ),
    ),
  )
  const batch = fc.array(createSentEvent(), { minLength: 20, maxLength: 100, size: 'max' })
  for (let n = 0; n < BATCHES; n += 1) {
    const sent = fc.sample(batch, { seed: SEED + n, numRuns: WORLDS })
    const projects = worlds.flatMap((world) => world.map(({ project }) => project))
    const events = sent.flatMap((one, i) =>
      worlds[i]!.flatMap(({ project }) => one.map((event) => ({ ...event, project: project.id }))),
    )
    await sendToShards(cluster, projects, events)
  }
}, 300_000)
afterAll(() => cluster.stop())

const takeFirst = ({ shards }: Cluster, width: number): Cluster['shards'] => {
  const [first, ...others] = shards
  return [first, ...others.slice(0, width - 1)]
}

test.each<[string, fc.Arbitrary<PartialRequest>, typeof LARGE_SIZES | undefined]>([
  ['any question', rollupRequest, undefined],
  ['questions about session attributes', attributeRequest, LARGE_SIZES],
])(
  '%s: the same bytes on one shard and across several',
  async (_what, requests, sizes) => {
    const rows: number[] = []
    await fc.assert(
      fc.asyncProperty(fc.nat(), requests, async (n, asked) => {
        const world = worlds[n % WORLDS]!
        const [one, ...wider] = await Promise.all(
          world.map(async ({ cluster: own, project }) =>
            JSON.stringify(await runQuery(own, project, asked, NOW, sizes)),
          ),
        )
        expect(wider).toEqual(wider.map(() => one))
        rows.push((JSON.parse(one!) as { data: unknown[] }).data.length)
      }),
      { seed: SEED, numRuns: WORLDS * QUESTIONS, endOnFailure: true },
    )
    // Empty pages prove nothing.
    expect(rows.filter((count) => count > 0).length / rows.length).toBeGreaterThan(0.6)
  },
  600_000,
)

const countsUsersByGroup = ({ group_by, metrics = [] }: PartialRequest): boolean =>
  (metrics.length === 0 || metrics.includes('users')) &&
  group_by?.[0]?.startsWith('interval:') !== true

test('counting users in rounds: the same bytes as on one shard', async () => {
  const rounds: number[] = []
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      rollupRequest.filter(countsUsersByGroup),
      fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      async (n, asked, limit) => {
        const request = { ...asked, ...(limit === undefined ? {} : { limit }) }
        const [one, ...wider] = worlds[n % WORLDS]!
        const want = JSON.stringify(await runQuery(one!.cluster, one!.project, request))
        for (const { cluster: own, project } of wider) {
          for (const answer of await answerInRounds(own, project, request)) {
            expect(JSON.stringify(answer.body)).toBe(want)
            rounds.push(answer.rounds.length)
          }
        }
      },
    ),
    { seed: SEED, numRuns: WORLDS * QUESTIONS, endOnFailure: true },
  )
  // Empty pages take one round.
  expect(rounds.filter((count) => count > 1).length / rounds.length).toBeGreaterThan(0.3)
}, 600_000)
