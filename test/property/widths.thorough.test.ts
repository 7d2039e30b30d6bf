/** The law of widths: a project gives the same responses on one shard and across several. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Cluster } from '../../src/cluster/cluster.js'
import type { StoredProject } from '../../src/projects/project.js'
import { attributeRequest, rollupRequest } from '../support/arbitrary/rollups.js'
import { createSentEvent } from '../support/arbitrary/senders.js'
import { startCluster, type TestCluster } from '../support/cluster/cluster.js'
import { answerWithUsersLast } from '../support/cluster/users-last.js'
import { newWideProject, runQuery, sendToShards } from '../support/cluster/wide-world.js'
import { scaled } from '../support/effort.js'
import { LARGE_SIZES, NOW, type PartialRequest, type SentEvent } from '../support/world/world.js'

const SEED = Number(process.env['LAWS_SEED'] ?? 20_260_615)
const WORLDS = 1
const QUESTIONS = scaled(20)
const BATCHES = 2
const WIDTHS = [1, 2, 3, 4].slice(0, scaled(6))

let cluster: TestCluster
/** Its project of each width, and the shards among which it finds its own. */
type World = readonly { readonly cluster: Cluster; readonly project: StoredProject }[]
let worlds: readonly World[]
/** A world of the early years. */
let early: World

/** Where the first day of 2024 is moved to: around every moment at which the seconds since 1970 get another digit. */
const EARLY_STARTS = ['1970-01-03', '1970-04-27', '1973-03-04', '1986-01-01', '2001-09-09']
const MOVES = EARLY_STARTS.map((text) => Date.parse(text) - Date.parse('2024-01-01'))
/** Moves a date, or a moment as text. */
const move = (text: string, by: number): string => {
  const moved = new Date(Date.parse(text) + by).toISOString()
  return text.includes('T') ? moved.replace('.000Z', 'Z') : moved.slice(0, 10)
}
const movePeriod = ([from, to]: readonly [string, string], by: number) =>
  [move(from, by), move(to, by)] as const

beforeAll(async () => {
  cluster = await startCluster(WIDTHS.length, { from: 1, to: 3 })
  const all = await Promise.all(Array.from({ length: WORLDS + 1 }, createWorld))
  ;[early, ...worlds] = all as [World, ...World[]]
  const batch = fc.array(createSentEvent(), { minLength: 20, maxLength: 100, size: 'max' })
  for (let n = 0; n < BATCHES; n += 1) {
    const [moved, ...sent] = fc.sample(batch, { seed: SEED + n, numRuns: WORLDS + 1 })
    const projects = all.flatMap((world) => world.map(({ project }) => project))
    const events = [moved!.flatMap(moveToEarlyYears), ...sent].flatMap((one, i) =>
      all[i]!.flatMap(({ project }) => one.map((event) => ({ ...event, project: project.id }))),
    )
    await sendToShards(cluster, projects, events)
  }
})
afterAll(() => cluster.stop())

const createWorld = (): Promise<World> =>
  Promise.all(
    WIDTHS.map(async (width) => ({
      // Three of four shards are no group.
      cluster: width === 3 ? { ...cluster, shards: takeFirst(cluster, 3) } : cluster,
      project: await newWideProject(cluster, takeFirst(cluster, width)),
    })),
  )

/** The event at each of the early starts; its id is that of one event on its shard. */
const moveToEarlyYears = (event: SentEvent): readonly SentEvent[] =>
  MOVES.map((by, i) => ({
    ...event,
    timestamp: new Date(Date.parse(event.timestamp) + by).toISOString(),
    ...(event['event_id'] === '' ? {} : { event_id: `${String(event['event_id'])} ${i}` }),
  }))

const takeFirst = ({ shards }: Cluster, width: number): Cluster['shards'] => {
  const [first, ...others] = shards
  return [first, ...others.slice(0, width - 1)]
}

/** A request about one of the early years, or about all of them. */
const earlyRequest = fc
  .tuple(fc.oneof(rollupRequest, attributeRequest), fc.constantFrom(...MOVES), fc.nat(4))
  .map(([asked, by, n]): PartialRequest => {
    const { date_range, compare } = asked
    if (n === 0) return { ...asked, date_range: 'all' }
    return {
      ...asked,
      date_range: Array.isArray(date_range)
        ? movePeriod(date_range as [string, string], by)
        : date_range,
      ...(Array.isArray(compare) ? { compare: movePeriod(compare as [string, string], by) } : {}),
    }
  })

test.each<
  [string, fc.Arbitrary<PartialRequest>, (n: number) => World, typeof LARGE_SIZES | undefined]
>([
  ['any question', rollupRequest, (n) => worlds[n % WORLDS]!, undefined],
  ['questions about session attributes', attributeRequest, (n) => worlds[n % WORLDS]!, LARGE_SIZES],
  ['questions about 1970 to 2001', earlyRequest, () => early, undefined],
])('%s: the same bytes on one shard and across several', async (_what, requests, choose, sizes) => {
  const rows: number[] = []
  await fc.assert(
    fc.asyncProperty(fc.nat(), requests, async (n, asked) => {
      const world = choose(n)
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
  expect(rows.filter((count) => count > 0).length / rows.length).toBeGreaterThan(0.5)
})

const countsUsersByGroup = ({ group_by, metrics = [] }: PartialRequest): boolean =>
  (metrics.length === 0 || metrics.includes('users')) &&
  group_by?.[0]?.startsWith('interval:') !== true

test('counting users last: the same bytes as counting all at once on one shard', async () => {
  const rows: number[] = []
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      rollupRequest.filter(countsUsersByGroup),
      fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      async (n, asked, limit) => {
        const request = { ...asked, ...(limit === undefined ? {} : { limit }) }
        const world = worlds[n % WORLDS]!
        const [one] = world
        const want = JSON.stringify(await runQuery(one!.cluster, one!.project, request))
        for (const { cluster: own, project } of world) {
          for (const body of await answerWithUsersLast(own, project, request)) {
            expect(JSON.stringify(body)).toBe(want)
            rows.push(body.data.length)
          }
        }
      },
    ),
    { seed: SEED, numRuns: WORLDS * QUESTIONS, endOnFailure: true },
  )
  // Empty pages prove nothing.
  expect(rows.filter((count) => count > 0).length / rows.length).toBeGreaterThan(0.3)
})
