/** The law of retention, funnels and journeys: the service gives the responses that DuckDB computes, on one shard and across several. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type {
  FunnelRequest,
  JourneysRequest,
  JourneysResponse,
  RetentionRequest,
  RetentionResponse,
} from '../../src/contract/api.js'
import { FACTS } from '../../src/model/relations.js'
import type { StoredProject } from '../../src/projects/project.js'
import {
  askingMoment,
  funnelRequest,
  journeysRequest,
  retentionRequest,
  returningEvent,
} from '../support/arbitrary/cohorts.js'
import { startCluster, type TestCluster } from '../support/cluster/cluster.js'
import { runFunnel, runJourneys, runRetention } from '../support/cluster/operations.js'
import { newWideProject, runQuery, sendToShards } from '../support/cluster/wide-world.js'
import type { DuckDatabase } from '../support/duckdb/database.js'
import { answerFunnel } from '../support/duckdb/funnel.js'
import { answerJourneys } from '../support/duckdb/journeys.js'
import { answerRetention } from '../support/duckdb/retention.js'
import { createDuckWorld } from '../support/duckdb/world.js'
import { scaled } from '../support/effort.js'
import { NOW, type SentEvent } from '../support/world/world.js'

const SEED = Number(process.env['LAWS_SEED'] ?? 20_260_615)
/** Fewer prove too little. */
const QUESTIONS = Math.max(12, scaled(12))
const BATCHES = 2
const WIDTHS = [1, 3]

/** What some people did: when on 1 March 2024, and a page or an event. */
const VISITORS: Readonly<Record<string, readonly (readonly [time: string, what: string])[]>> = {
  direct: [
    ['10:00:00.000', '/'],
    ['10:00:10.000', '/pricing'],
    ['10:00:30.500', 'signup'],
  ],
  'two at the same moment': [
    ['10:00:00.000', '/pricing'],
    ['10:05:00.000', '/'],
    ['10:05:00.000', '/pricing'],
    ['10:06:00.000', 'signup'],
  ],
  'begins again': [
    ['10:00:00.000', '/'],
    ['10:20:00.000', '/'],
    ['10:21:00.000', '/pricing'],
    ['10:22:00.000', 'signup'],
  ],
  'comes back': [
    ['10:00:00.000', '/'],
    ['10:01:00.000', '/pricing'],
    ['12:00:00.000', 'signup'],
  ],
}
const DRAWN: readonly SentEvent[] = Object.entries(VISITORS).flatMap(([user_id, events]) =>
  events.map(([time, what]) => ({
    timestamp: `2024-03-01T${time}Z`,
    user_id,
    ...(what.startsWith('/') ? { path: what } : { name: what, path: '/form' }),
  })),
)

let cluster: TestCluster
let projects: readonly StoredProject[]
/** On three shards, with the events of VISITORS. */
let drawn: StoredProject
let duck: DuckDatabase

beforeAll(async () => {
  cluster = await startCluster(3)
  projects = await Promise.all(
    WIDTHS.map((width) => newWideProject(cluster, cluster.shards.slice(0, width))),
  )
  const batch = fc.array(returningEvent, { minLength: 200, maxLength: 200, size: 'max' })
  const batches = fc.sample(batch, { seed: SEED, numRuns: BATCHES })
  const sent: readonly SentEvent[] = batches.flat()
  duck = await createDuckWorld(
    { domain: 'example.com', ips: [], countries: [], botAgents: [] },
    sent,
  )
  drawn = await newWideProject(cluster, cluster.shards)
  await sendToShards(
    cluster,
    [drawn],
    DRAWN.map((event) => ({ ...event, project: drawn.id })),
  )
  // Events of another project change nothing.
  const stranger = await newWideProject(cluster, cluster.shards)
  for (const [i, events] of batches.entries()) {
    await sendToShards(
      cluster,
      [...projects, stranger],
      [
        ...projects.flatMap(({ id }) => events.map((event) => ({ ...event, project: id }))),
        ...batches[1 - i]!.map((event) => ({ ...event, path: '/a', project: stranger.id })),
      ],
    )
  }
})
afterAll(async () => {
  duck.close()
  await cluster.stop()
})

test('retention: the service answers on 1 and 3 shards what DuckDB answers', async () => {
  const tables: (number | null)[][] = []
  await fc.assert(
    fc.asyncProperty(
      retentionRequest,
      askingMoment,
      fc.boolean(),
      async (request, now, readsFacts) => {
        const { createdAt } = projects[0]!
        const want = await answerRetention(duck, request, { now, createdAt })
        const listRelations = readsFacts ? () => FACTS : undefined
        for (const project of projects) {
          const got = await runRetention(cluster, project, request, { now, listRelations })
          expect(JSON.stringify(got)).toBe(JSON.stringify(want))
        }
        tables.push(want.data.flatMap(({ counts }) => counts))
      },
    ),
    { seed: SEED, numRuns: QUESTIONS, endOnFailure: true },
  )
  // Empty tables prove nothing.
  const share = (is: (count: number | null) => boolean): number =>
    tables.filter((counts) => counts.some(is)).length / tables.length
  expect(share((count) => count !== null && count > 0)).toBeGreaterThan(0.4)
  expect(share((count) => count === null)).toBeGreaterThan(0.1)
})

test('funnels: the service answers on 1 and 3 shards what DuckDB answers', async () => {
  const users: number[][] = []
  await fc.assert(
    fc.asyncProperty(funnelRequest, askingMoment, async (request, now) => {
      const { createdAt } = projects[0]!
      const want = await answerFunnel(duck, request, { now, createdAt })
      for (const project of projects) {
        const got = await runFunnel(cluster, project, request, { now })
        expect(JSON.stringify(got)).toBe(JSON.stringify(want))
      }
      users.push(want.data.map((step) => step.users))
    }),
    { seed: SEED, numRuns: QUESTIONS, endOnFailure: true },
  )
  // Empty steps prove nothing.
  const share = (is: (counts: readonly number[]) => boolean): number =>
    users.filter(is).length / users.length
  expect(share(([, second = 0]) => second > 0)).toBeGreaterThan(0.2)
  expect(share((counts) => counts.at(-1)! > 0)).toBeGreaterThan(0.05)
  expect(share(([first = 0, second = 0]) => second < first)).toBeGreaterThan(0.2)
})

test('journeys: the service answers on 1 and 3 shards what DuckDB answers', async () => {
  const answers: JourneysResponse['data'][] = []
  await fc.assert(
    fc.asyncProperty(journeysRequest, askingMoment, async (request, now) => {
      const { createdAt } = projects[0]!
      const want = await answerJourneys(duck, request, { now, createdAt })
      for (const project of projects) {
        const got = await runJourneys(cluster, project, request, { now })
        expect(JSON.stringify(got)).toBe(JSON.stringify(want))
      }
      answers.push(want.data)
      for (let step = 1; step <= request.depth; step++) {
        const came = want.data.filter((row) => row.step === step - 1 && row.kind !== 'none')
        expect(sumVisits(want.data.filter((row) => row.step === step))).toBe(sumVisits(came))
      }
    }),
    { seed: SEED, numRuns: QUESTIONS, endOnFailure: true },
  )
  // Empty answers prove nothing.
  const share = (is: (row: JourneysResponse['data'][number]) => boolean): number =>
    answers.filter((data) => data.some(is)).length / answers.length
  expect(share(({ kind }) => kind === 'page' || kind === 'event')).toBeGreaterThan(0.4)
  expect(share(({ kind }) => kind === 'other')).toBeGreaterThan(0.1)
  expect(share(({ kind }) => kind === 'none')).toBeGreaterThan(0.3)
  expect(share(({ step, kind }) => step > 1 && kind !== 'none')).toBeGreaterThan(0.2)
})

const sumVisits = (rows: JourneysResponse['data']): number =>
  rows.reduce((sum, { visits }) => sum + visits, 0)

test('the sizes of the cohorts are the new users of the intervals', async () => {
  const [project] = projects
  const asked: Pick<RetentionRequest, 'date_range' | 'filters' | 'filtersOperator'> = {
    date_range: ['2024-01-10', '2024-04-20'],
    filters: [{ type: 'device', operator: 'noneOf', value: ['desktop'] }],
    filtersOperator: 'and',
  }
  const { data } = await runRetention(cluster, project!, { ...asked, interval: 'week' })
  const series = await runQuery(cluster, project!, {
    ...asked,
    metrics: ['new_users'],
    group_by: ['interval:week'],
  })
  expect(data.map(({ start, size }) => [start, size])).toEqual(
    series.data.map(({ group, metrics }) => [group['date'], metrics.new_users]),
  )
  expect(data.some(({ size }) => size !== null && size > 0)).toBe(true)
})

const MONTHS: RetentionRequest = {
  interval: 'month',
  date_range: ['2024-01-01', '2024-03-31'],
  filters: [],
  filtersOperator: 'and',
}

test('a table that lies ahead is null, and asks nothing', async () => {
  const now = new Date('2023-12-31T23:59:59.999Z')
  const want: RetentionResponse['data'] = ['01', '02', '03'].map((month) => ({
    start: `2024-${month}-01T00:00:00Z`,
    size: null,
    counts: [null, null],
  }))
  for (const project of projects) {
    expect((await runRetention(cluster, project, MONTHS, { now })).data).toEqual(want)
  }
})

test('the retention of the plan is compared with the start of the period', async () => {
  const now = new Date('2024-03-31T12:00:00Z')
  for (const project of projects) {
    const limited = { ...project, retentionDays: 90 }
    const ask = (from: string) =>
      runRetention(cluster, limited, { ...MONTHS, date_range: [from, '2024-03-31'] }, { now })
    await expect(ask('2023-12-31')).rejects.toMatchObject({ code: 'PLAN_LIMIT_EXCEEDED' })
    expect((await ask('2024-01-01')).data).toHaveLength(3)
  }
})

test('a preset of too many counts is refused when its period is known', async () => {
  const request = { ...MONTHS, interval: 'day', date_range: '12months' } as const
  await expect(runRetention(cluster, projects[0]!, request)).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [
      {
        field: 'interval',
        message:
          'makes 350 cohorts with 349 intervals each, and a table may have at most 10000 counts: choose a larger interval, fewer intervals or a shorter date_range',
      },
    ],
  })
})

const EVERY: FunnelRequest['steps'][number] = { filters: [], filtersOperator: 'and' }
const NEVER: FunnelRequest['steps'][number] = {
  filters: [{ type: 'event', name: { operator: 'eq', value: 'never' } }],
  filtersOperator: 'and',
}

test('ten steps of every event, and steps of none', async () => {
  const ten: FunnelRequest = {
    date_range: ['2024-01-01', '2024-12-31'],
    steps: [EVERY, EVERY, EVERY, EVERY, EVERY, EVERY, EVERY, EVERY, NEVER, EVERY],
    within: 315_360_000,
    filters: [],
    filtersOperator: 'and',
  }
  const { createdAt } = projects[0]!
  const { data: want } = await answerFunnel(duck, ten, { now: NOW, createdAt })
  expect(want.map(({ users }) => users)).toContain(0)
  for (const project of projects) {
    expect((await runFunnel(cluster, project, ten)).data).toEqual(want)
    const empty = await runFunnel(cluster, project, {
      ...ten,
      date_range: ['2030-01-01', '2030-01-02'],
    })
    expect(empty.data).toEqual(
      ten.steps.map((_step, i) => ({
        step: i + 1,
        users: 0,
        share_of_first: null,
        share_of_previous: null,
        median_seconds: null,
      })),
    )
    await expect(runFunnel(cluster, { ...project, retentionDays: 90 }, ten)).rejects.toMatchObject({
      code: 'PLAN_LIMIT_EXCEEDED',
    })
  }
})

function pageStep(value: string): FunnelRequest['steps'][number] {
  return { ...EVERY, filters: [{ type: 'page', path: { operator: 'eq', value } }] }
}
function eventStep(value: string): FunnelRequest['steps'][number] {
  return { ...EVERY, filters: [{ type: 'event', name: { operator: 'eq', value } }] }
}

type Step = readonly [
  users: number,
  ofFirst: number,
  ofPrevious: number | null,
  median: number | null,
]
test.each<[FunnelRequest['within'], readonly Step[]]>([
  [
    'visit',
    [
      [4, 100, null, null],
      [3, 75, 75, 60],
      [2, 50, 66.67, 40.25],
    ],
  ],
  [
    90,
    [
      [4, 100, null, null],
      [3, 75, 75, 60],
      [1, 25, 33.33, 20.5],
    ],
  ],
  [
    7_200,
    [
      [4, 100, null, null],
      [3, 75, 75, 60],
      [3, 75, 100, 60],
    ],
  ],
  [
    7_199,
    [
      [4, 100, null, null],
      [3, 75, 75, 60],
      [2, 50, 66.67, 40.25],
    ],
  ],
])('a funnel drawn by hand, within %s', async (within, want) => {
  const { data } = await runFunnel(cluster, drawn, {
    date_range: ['2024-03-01', '2024-03-01'],
    steps: [pageStep('/'), pageStep('/pricing'), eventStep('signup')],
    within,
    filters: [],
    filtersOperator: 'and',
  })
  expect(data).toEqual(
    want.map(([users, share_of_first, share_of_previous, median_seconds], i) => ({
      step: i + 1,
      users,
      share_of_first,
      share_of_previous,
      median_seconds,
    })),
  )
})

type JourneyStep = readonly [step: number, kind: string, value: string | null, visits: number]
test.each<[string, Partial<JourneysRequest>, readonly JourneyStep[]]>([
  [
    'from the start page, by pages',
    { from: pageStep('/') },
    [
      [0, 'anchor', null, 4],
      [1, 'page', '/pricing', 4],
      [2, 'none', null, 4],
    ],
  ],
  [
    'to a sign-up, with events',
    { to: eventStep('signup'), kinds: ['page', 'event'], depth: 3 },
    [
      [0, 'anchor', null, 4],
      [1, 'page', '/pricing', 3],
      [1, 'none', null, 1],
      [2, 'page', '/', 3],
      [3, 'page', '/pricing', 1],
      [3, 'none', null, 2],
    ],
  ],
])('journeys drawn by hand, %s', async (_, asked, want) => {
  const { data } = await runJourneys(cluster, drawn, {
    date_range: ['2024-03-01', '2024-03-01'],
    kinds: ['page'],
    depth: 2,
    limit: 10,
    filters: [],
    filtersOperator: 'and',
    ...asked,
  })
  expect(data.map(({ step, kind, value, visits }) => [step, kind, value, visits])).toEqual(want)
})
