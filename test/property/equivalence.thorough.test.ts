/** The law of rollups: they agree with the events, and queries give the same response with and without them. */
import { beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { MonthSize, ProjectSizes } from '../../src/model/project-sizes.js'
import {
  ALL_RELATIONS,
  FACTS,
  RELATIONS,
  type Grain,
  type RelationName,
} from '../../src/model/relations.js'
import { resolveComparison } from '../../src/analytics/request/comparison.js'
import { resolvePeriod } from '../../src/analytics/request/period.js'
import { listScans, type Plan, type RejectedRelation } from '../../src/analytics/plan/plan.js'
import { listPlans, planQuery, planWithOthers } from '../../src/analytics/plan/planner.js'
import { resolveQuery } from '../../src/analytics/request/query.js'
import { buildStatement } from '../../src/analytics/sql/build-statement.js'
import { type CheckReport } from '../../src/rollups/check.js'
import {
  attributeRequest,
  pairRequest,
  rollupEvent,
  rollupRequest,
} from '../support/arbitrary/rollups.js'
import { goalRequest } from '../support/arbitrary/goal-requests.js'
import { scaled } from '../support/effort.js'
import { withDatabase } from '../support/store/database.js'
import {
  countPairs,
  fillDefaults,
  newProject,
  NOW,
  send,
  type PartialRequest,
} from '../support/world/world.js'
import { checkRollups } from '../support/store/loading.js'

const SEED = Number(process.env['LAWS_SEED'] ?? 20_260_615)
/** The number of worlds, and a third of the number of queries to each. */
const WORLDS = scaled(1)
const QUESTIONS = scaled(8)
const BATCHES = 3

const database = withDatabase()
let projectIds: readonly string[] = []
const reports: CheckReport[] = []

// The nth batches of all worlds are loaded as one file, and checked together.
beforeAll(async () => {
  const { store } = database
  const batch = fc.array(rollupEvent, { minLength: 10, maxLength: 80, size: 'max' })
  const batches = fc.array(batch, { minLength: BATCHES, maxLength: BATCHES })
  const worlds = await Promise.all(
    fc.sample(batches, { seed: SEED, numRuns: WORLDS }).map(async (sent) => ({
      id: (await newProject(store)).id,
      sent,
    })),
  )
  projectIds = worlds.map(({ id }) => id)
  for (const id of projectIds) await countPairs(store, { id })
  for (let n = 0; n < BATCHES; n += 1) {
    const events = worlds.flatMap(({ id, sent }) =>
      sent[n]!.map((event) => ({ ...event, project: id })),
    )
    await send(store, { id: '' }, events)
    reports.push(await checkRollups(store.writer, {}))
  }
})

function plan(
  asked: PartialRequest,
  projectId: string,
  relations: readonly RelationName[],
  known?: ProjectSizes,
  pick?: number,
): Plan {
  const request = fillDefaults(asked)
  const period = resolvePeriod(asked.date_range, NOW, NOW, asked.time_zone)
  const compared = resolveComparison(request, period)
  const query = resolveQuery(request, projectId, period, compared)
  return planWithOthers(query, (one) => {
    const { conversions, ...planned } = planQuery(one, relations, known)
    if (pick === undefined)
      return { ...planned, ...(conversions === undefined ? {} : { conversions }) }
    const all = [...listPlans(one, relations).values()]
    const last = all.filter(({ userCounting }) => userCounting.kind !== 'all')
    const some = pick % 2 === 0 || last.length === 0 ? all : last
    return { ...planned, ...some[pick % some.length] }
  })
}

/** Takes a plan, whatever the planner would choose, and often one that counts users last; undefined: its choice. */
const choice = fc.option(fc.nat(), { nil: undefined, freq: 2 })

const magnitude = fc.constantFrom(0, 1, 100, 10_000, 1e6, 1e9)
const monthSize = (month: string): fc.Arbitrary<MonthSize> =>
  fc.record({ month: fc.constant(new Date(month)), events: magnitude, visits: magnitude })
/** Sizes of a project that may be missing, old or wrong by any factor. */
const sizes: fc.Arbitrary<ProjectSizes | undefined> = fc.option(
  fc.record({
    readAt: fc.date({ min: new Date('2023-12-01'), max: NOW, noInvalidDate: true }),
    months: fc
      .subarray(['2023-12-01', '2024-01-01', '2024-02-01', '2024-03-01'])
      .chain((months) => fc.tuple(...months.map((month) => monthSize(month)))),
    values: fc
      .array(fc.tuple(fc.constantFrom('page:path', 'country', 'event:prop:plan'), magnitude))
      .map((values) => new Map(values)),
  }),
  { nil: undefined, freq: 10 },
)

/** Sizes by which queries about session attributes are answered from sessions. */
const LARGE: ProjectSizes = {
  readAt: NOW,
  months: ['2023-12-01', '2024-01-01', '2024-02-01', '2024-03-01'].map((month) => ({
    month: new Date(month),
    events: 1e9,
    visits: 1e8,
  })),
  values: new Map(),
}

/** All relations, or facts and some of the rollups: the others must replace the missing ones. */
const relations: fc.Arbitrary<readonly RelationName[]> = fc.oneof(
  { weight: 2, arbitrary: fc.constant(ALL_RELATIONS) },
  { weight: 1, arbitrary: fc.subarray([...ALL_RELATIONS]).map((some) => withFacts(some)) },
)
const withFacts = (some: readonly RelationName[]): readonly RelationName[] =>
  ALL_RELATIONS.filter((name) => some.includes(name) || FACTS.includes(name))

test('after every batch each rollup agrees with the events', () => {
  const agreeing = { months: 4, groups: expect.any(Number), different: 0, differences: [] }
  expect(reports).toEqual(Array.from({ length: BATCHES }, () => agreeing))
  expect(Math.min(...reports.map(({ groups }) => groups))).toBeGreaterThan(500)
})

test.each([
  ['from any plan', rollupRequest, sizes, choice],
  [
    'about session attributes from sessions',
    attributeRequest,
    fc.constant(LARGE),
    fc.constant(undefined),
  ],
  ['about pairs of dimensions from their rollups', pairRequest, fc.constant(LARGE), choice],
  ['about conversions of goals from rollups', goalRequest, fc.constant(LARGE), choice],
])(
  'a query gives the same response %s as from events and sessions alone',
  async (_how, requests, someSizes, picks) => {
    const answer = async (of: Plan) => {
      const { rows, total } = await database.store.reader.query(buildStatement(of, 'nonce'))
      return { rows, total }
    }
    const pages: number[] = []
    await fc.assert(
      fc.asyncProperty(
        ...([fc.nat(), requests, relations, someSizes, picks] as const),
        async (n, asked, some, known, pick) => {
          const projectId = projectIds[n % projectIds.length]!
          const [planned, plain] = await Promise.all([
            answer(plan(asked, projectId, some, known, pick)),
            answer(plan(asked, projectId, ['sessions', 'events'])),
          ])
          expect(planned).toEqual(plain)
          pages.push(plain.rows.length)
        },
      ),
      { seed: SEED, numRuns: 2 * WORLDS * QUESTIONS, endOnFailure: false },
    )
    // Empty pages prove nothing.
    expect(pages.filter((rows) => rows > 0).length / pages.length).toBeGreaterThan(0.6)
  },
  900_000,
)

test('enough of the queries about pairs are answered from rollups of pairs', () => {
  const plans = fc
    .sample(fc.tuple(pairRequest, relations), { seed: SEED, numRuns: 500 })
    .map(([asked, some]) => plan(asked, 'any', some, LARGE))
  const shareOf = (name: RelationName): number =>
    plans.filter((one) => listScans(one).some(({ relation }) => relation === name)).length / 500
  expect(shareOf('pairs_monthly')).toBeGreaterThan(0.4)
  expect(shareOf('pair_users_monthly')).toBeGreaterThan(0.15)
})

test('enough of the queries about goals are answered from rollups', () => {
  const plans = fc
    .sample(goalRequest, { seed: SEED, numRuns: 300 })
    .map((asked) => plan(asked, 'any', ALL_RELATIONS, LARGE))
  const isOf = (name: RelationName) => (one: Plan) =>
    (one.conversions ?? []).some(({ plan: { scans } }) =>
      scans.some(({ relation }) => relation === name),
    )
  const shareOf = (name: RelationName): number => plans.filter(isOf(name)).length / plans.length
  expect(shareOf('pair_users_monthly')).toBeGreaterThan(0.2)
  expect(shareOf('events_monthly')).toBeGreaterThan(0.05)
})

test('enough of the queries about session attributes are answered from sessions', () => {
  const plans = fc
    .sample(fc.tuple(attributeRequest, relations), { seed: SEED, numRuns: 500 })
    .map(([asked, some]) => plan(asked, 'any', some, LARGE))
  const isFromSessions = (one: Plan): boolean =>
    listScans(one).some(({ relation }) => relation === 'whole_sessions')
  expect(plans.filter(isFromSessions).length / plans.length).toBeGreaterThan(0.3)
})

describe('enough of the random queries read', () => {
  const plans = fc
    .sample(rollupRequest, { seed: SEED, numRuns: 1_000 })
    .map((asked) => plan(asked, 'any', ALL_RELATIONS))
  const picked = fc
    .sample(fc.tuple(rollupRequest, choice), { seed: SEED, numRuns: 500 })
    .map(([asked, pick]) => plan(asked, 'any', ALL_RELATIONS, undefined, pick))
  const informed = fc
    .sample(fc.tuple(rollupRequest, sizes), { seed: SEED, numRuns: 1_000 })
    .map(([asked, known]) => plan(asked, 'any', ALL_RELATIONS, known))
  const isRollup = (name: RelationName): boolean => RELATIONS[name].rollup !== undefined
  const readsRollups = ({ scans }: Plan): boolean =>
    scans.some(({ relation }) => isRollup(relation))
  const reads = ({ scans }: Plan, ...grains: readonly Grain[]): boolean =>
    grains.every((grain) => scans.some(({ relation }) => RELATIONS[relation].grain === grain))
  const isDearer = ({ reason }: RejectedRelation): boolean => reason.includes('less time')
  const isFiltered = ({ query }: Plan): boolean =>
    query.predicate.kind !== 'all' || query.predicate.of.length > 0

  test.each<[string, (plan: Plan) => boolean, number]>([
    ['a rollup', readsRollups, 0.6],
    ['rollups by day', (one) => reads(one, 'day'), 0.3],
    ['rollups by month', (one) => reads(one, 'month'), 0.3],
    ['rollups alone', (one) => !reads(one, 'moment'), 0.25],
    ['months, days and parts of days', (one) => reads(one, 'month', 'day', 'moment'), 0.04],
    ['a rollup, with a filter', (one) => readsRollups(one) && isFiltered(one), 0.3],
  ])('%s', (_what, isSo, share) => {
    expect(plans.filter(isSo).length / plans.length).toBeGreaterThan(share)
  })

  test.each<[string, (plan: Plan) => boolean, number]>([
    ['users of the groups on the page', ({ userCounting }) => userCounting.kind === 'page', 0.1],
    ['users of candidate groups', ({ userCounting }) => userCounting.kind === 'candidates', 0.03],
  ])('with random plans: %s', (_what, isSo, share) => {
    expect(picked.filter(isSo).length / picked.length).toBeGreaterThan(share)
  })

  test.each<[string, (plan: Plan) => boolean, number]>([
    ['facts where rollups would do', ({ rejected }) => rejected.some(isDearer), 0.1],
    ['days of facts by their moments', (one) => reads(one, 'moment') && !one.readsDays, 0.1],
    ['days of facts by their day', (one) => reads(one, 'moment') && one.readsDays, 0.1],
  ])('with random sizes: %s', (_what, isSo, share) => {
    expect(informed.filter(isSo).length / informed.length).toBeGreaterThan(share)
  })
})
