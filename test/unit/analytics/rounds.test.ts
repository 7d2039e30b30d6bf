/** Plans that count users last across shards are answered in rounds, unless the data changes or too many groups are left. */
import { describe, expect, test } from '@jest/globals'
import type { Statement } from '../../../src/clickhouse/sql.js'
import { listPlans, planQuery } from '../../../src/analytics/plan/planner.js'
import type { Plan } from '../../../src/analytics/plan/plan.js'
import { toTotalsQuery } from '../../../src/analytics/request/derived-queries.js'
import { resolveQuery } from '../../../src/analytics/request/query.js'
import type { ResponseRows } from '../../../src/analytics/response.js'
import type { RunStatement } from '../../../src/analytics/operation.js'
import { runPlan } from '../../../src/analytics/rounds.js'
import { buildStatement } from '../../../src/analytics/sql/build-statement.js'
import type { AnalyticsQueryRequest } from '../../../src/contract/api.js'
import { ALL_RELATIONS } from '../../../src/model/relations.js'
import { fillDefaults } from '../../support/world/world.js'

const JANUARY = { start: new Date('2026-01-01'), end: new Date('2026-02-01') }
const GROUP = { name: 'tallyhouse_1_2', database: 'stats', width: 2, isWidening: false }
const BY_PAGEVIEWS = { order_by: [['pageviews', 'desc']] } as const

function planRounds(asked: Partial<AnalyticsQueryRequest>): Plan {
  const request = fillDefaults({
    date_range: '7days',
    group_by: ['page:path'],
    metrics: ['users', 'pageviews'],
    ...asked,
  })
  const plans = [...listPlans(resolveQuery(request, 'p', JANUARY), ALL_RELATIONS).values()]
  return plans.find(({ userCounting }) => userCounting.kind !== 'all')!
}

type Answer = ResponseRows & { readonly total: number }
const row = (group_key: string, events: number, users?: number) => ({
  group_key,
  metric_pageviews: events,
  group_events: events,
  metric_users: users ?? null,
})
const listed = (total: number, ...rows: readonly (readonly [string, number])[]): Answer => ({
  rows: rows.map(([key, events]) => row(key, events)),
  total,
})
const counted = (...rows: readonly (readonly [string, number, number])[]): Answer => ({
  rows: rows.map((one) => row(...one)),
  total: rows.length,
})
const SINGLE: Answer = { rows: [row('single', 1, 1)], total: 1 }
const SINGLE_STATEMENT = 'single'

/** Creates what runs statements from their answers. */
const toRun = (answer: (statement: Statement) => Promise<Answer>) =>
  answer as unknown as RunStatement

/** Runs a plan whose statements get these answers. Returns the keys that each statement asks for. */
async function run(plan: Plan, answers: readonly Answer[]) {
  const asked: unknown[] = []
  const single = buildStatement(plan, 'nonce', GROUP)
  const left = [...answers]
  const answer = await runPlan(
    plan,
    'nonce',
    GROUP,
    toRun(({ query, query_params }) => {
      if (query === single.query) {
        asked.push(SINGLE_STATEMENT)
        return Promise.resolve(SINGLE)
      }
      asked.push(Object.values(query_params).find((value) => Array.isArray(value)) ?? 'all')
      return Promise.resolve(left.shift()!)
    }),
  )
  const rows = answer.rows.map(({ group_key, metric_users }) => [group_key, metric_users])
  return { rows, total: answer.total, asked }
}

describe('by another metric', () => {
  const plan = planRounds({ ...BY_PAGEVIEWS, limit: 2 })
  const first = listed(3, ['b', 9], ['a', 8])
  test.each<[string, readonly Answer[], object]>([
    [
      'the order is that of the first round',
      [first, counted(['a', 8, 3], ['b', 9, 2])],
      {
        rows: [
          ['b', 2],
          ['a', 3],
        ],
        total: 3,
        asked: ['all', ['b', 'a']],
      },
    ],
    ['an empty page needs no second round', [listed(3)], { rows: [], total: 3, asked: ['all'] }],
    ...(
      [
        ['a group has more events', counted(['a', 8, 3], ['b', 10, 2])],
        ['a group is gone', counted(['a', 8, 3])],
        [
          'a group has another number',
          { rows: [row('a', 8, 3), { ...row('b', 9, 2), metric_pageviews: 8 }], total: 2 },
        ],
      ] as const
    ).map(([what, second]): [string, readonly Answer[], object] => [
      `${what}: one statement answers`,
      [first, second],
      { rows: [['single', 1]], total: 1, asked: ['all', ['b', 'a'], SINGLE_STATEMENT] },
    ]),
  ])('%s', async (_what, answers, want) => {
    expect(await run(plan, answers)).toEqual(want)
  })
})

describe('by users', () => {
  const plan = planRounds({ limit: 1, offset: 1 })
  const many = Array.from({ length: 9 }, (_, i) => [`k${i}`, 20 - i] as const)
  const firstEight = many.slice(0, 8).map(([key]) => key)
  const countEight = (users: (i: number) => number): Answer =>
    counted(...many.slice(0, 8).map(([key, events], i) => [key, events, users(i)] as const))
  test.each<[string, readonly Answer[], object]>([
    [
      'the groups with the most events are counted, and ordered by users and key',
      [listed(3, ['c', 9], ['a', 8], ['b', 7]), counted(['a', 8, 2], ['b', 7, 5], ['c', 9, 2])],
      { rows: [['a', 2]], total: 3, asked: ['all', ['c', 'a', 'b']] },
    ],
    [
      'the others have too few events',
      [listed(9, ...many), countEight((i) => 20 - i)],
      { rows: [['k1', 19]], total: 9, asked: ['all', firstEight] },
    ],
    [
      'another may have as many users as the last on the page',
      [listed(9, ...many), countEight(() => 12), counted(['k8', 12, 12])],
      { rows: [['k1', 12]], total: 9, asked: ['all', firstEight, ['k8']] },
    ],
    [
      'too many may have: one statement answers',
      [listed(10, ...many), countEight(() => 12)],
      { rows: [['single', 1]], total: 1, asked: ['all', firstEight, SINGLE_STATEMENT] },
    ],
    [
      'one of the others has changed: one statement answers',
      [listed(9, ...many), countEight(() => 12), counted(['k8', 13, 12])],
      { rows: [['single', 1]], total: 1, asked: ['all', firstEight, ['k8'], SINGLE_STATEMENT] },
    ],
    ['beyond the end', [listed(1, ['a', 1])], { rows: [], total: 1, asked: ['all'] }],
    [
      'keys that do not fit into a statement: one statement answers',
      [listed(2, ['x'.repeat(59_000), 9], ['y'.repeat(2_000), 8])],
      { rows: [['single', 1]], total: 1, asked: ['all', SINGLE_STATEMENT] },
    ],
  ])('%s', async (_what, answers, want) => {
    expect(await run(plan, answers)).toEqual(want)
  })
})

test.each<[string, readonly Answer[], object]>([
  [
    'those of the first round',
    [
      { rows: [{ ...row('a', 8), total_users: 5, total_pageviews: 17 }], total: 1 },
      { rows: [{ ...row('a', 8, 3), total_users: 6, total_pageviews: 18 }], total: 1 },
    ],
    { group_key: '', metric_users: 5, metric_pageviews: 17 },
  ],
  [
    'without rows, those of a statement of their own',
    [listed(0), { rows: [{ group_key: '', metric_users: 0, metric_pageviews: 0 }], total: 1 }],
    { group_key: '', metric_users: 0, metric_pageviews: 0 },
  ],
])('totals in rounds: %s', async (_what, answers, want) => {
  const plan = planRounds({ ...BY_PAGEVIEWS, include: { totals: true } })
  const left = [...answers]
  const { totals } = await runPlan(
    { ...plan, totals: planQuery(toTotalsQuery(plan.query)) },
    'nonce',
    GROUP,
    toRun(() => Promise.resolve(left.shift()!)),
  )
  expect({ totals, left }).toEqual({ totals: want, left: [] })
})

test('a plan that counts users of all groups is one statement', async () => {
  const plan = planRounds(BY_PAGEVIEWS)
  const all: Plan = { ...plan, userCounting: { kind: 'all' } }
  expect((await run(all, [])).asked).toEqual([SINGLE_STATEMENT])
})

test('on one shard, users are counted last within the statement', async () => {
  const plan = planRounds(BY_PAGEVIEWS)
  const asked: Statement[] = []
  const run = toRun((statement) => {
    asked.push(statement)
    return Promise.resolve(SINGLE)
  })
  await runPlan(plan, 'nonce', undefined, run)
  expect(asked).toEqual([buildStatement(plan, 'nonce')])
})
