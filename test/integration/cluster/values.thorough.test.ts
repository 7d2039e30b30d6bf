/** The values of fields: what pickers of filters show. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { VALUES } from '../../../src/analytics/operations/values.js'
import { createQueryRunner } from '../../../src/clickhouse/run.js'
import { locate } from '../../../src/cluster/cluster.js'
import { findEarliest, findStatementGroup, openReader } from '../../../src/cluster/shard-reads.js'
import type { AnalyticsQueryRequest, ValuesRequest } from '../../../src/contract/api.js'
import { listScans, type Plan } from '../../../src/analytics/plan/plan.js'
import { FACTS } from '../../../src/model/relations.js'
import { findFirstEventTime } from '../../../src/projects/event-times.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { startCluster, type TestCluster } from '../../support/cluster/cluster.js'
import { newWideProject, runQuery, sendToShards } from '../../support/cluster/wide-world.js'
import { answer as answerRequest, NOW, type SentEvent } from '../../support/world/world.js'

let cluster: TestCluster
let projects: readonly StoredProject[]

const PATHS = ['/', '/blog/', '/blog/Hello', '/100%', '/blog/']
const hit = (n: number, fields: object = {}): SentEvent => ({
  timestamp: new Date(Date.UTC(2026, 0, 1 + n)).toISOString(),
  user_id: `u${n % 7}`,
  path: PATHS[n % 5],
  country: ['DE', 'FR', 'DE', ''][n % 4],
  browser: n % 3 === 0 ? 'Firefox' : 'Chrome',
  ...fields,
})
const EVENTS: readonly SentEvent[] = [
  ...Array.from({ length: 40 }, (_, n) =>
    hit(n, n % 10 === 0 ? { properties: { author: `a${n}` } } : {}),
  ),
  ...Array.from({ length: 6 }, (_, n) =>
    hit(n, {
      name: n === 0 ? 'signup' : 'Sign out',
      properties: { plan: n < 4 ? 'pro' : 'free', ...(n === 5 ? { 'a.b': true } : {}) },
    }),
  ),
]

beforeAll(async () => {
  cluster = await startCluster(2)
  const [first, second] = cluster.shards
  projects = [
    await newWideProject(cluster, [first]),
    await newWideProject(cluster, [first, second!]),
  ]
  await sendToShards(
    cluster,
    projects,
    projects.flatMap(({ id }) => EVENTS.map((event) => ({ ...event, project: id }))),
  )
})
afterAll(() => cluster.stop())

const ALL = { date_range: ['2026-01-01', '2026-02-28'], search: '', limit: 100 } as const

async function ask(
  project: StoredProject,
  request: ValuesRequest,
  listRelations?: () => typeof FACTS,
) {
  const shards = locate(cluster, project)
  const runner = createQueryRunner({ ...shards[0].store, reader: openReader(shards) }, 30_000)
  const plans: Plan[] = []
  const answer = await answerRequest(VALUES, request, project, {
    group: findStatementGroup(cluster, project),
    run: (asked) => runner(asked),
    firstEventAt: (id) => findEarliest(shards, ({ store }) => findFirstEventTime(store.reader, id)),
    now: () => NOW,
    onPlan: (plan) => plans.push(plan),
    ...(listRelations === undefined ? {} : { listRelations }),
  })
  return { answer, plan: plans[0]! }
}

type Want = readonly (readonly [value: string, pageviews: number, events: number])[]

const CASES: readonly [string, Pick<ValuesRequest, 'field'> & Partial<ValuesRequest>, Want][] = [
  [
    'a session attribute',
    { field: 'browser' },
    [
      ['Chrome', 26, 4],
      ['Firefox', 14, 2],
    ],
  ],
  [
    'a page',
    { field: 'page:path' },
    [
      ['/blog/', 16, 2],
      ['/', 8, 2],
      ['/100%', 8, 1],
      ['/blog/Hello', 8, 1],
    ],
  ],
  ['a text, as it is written', { field: 'page:path', search: 'blog/H' }, [['/blog/Hello', 8, 1]]],
  ['a text with a wildcard of others', { field: 'page:path', search: '0%' }, [['/100%', 8, 1]]],
  ['a text that no value contains', { field: 'page:path', search: 'BLOG' }, []],
  ['a text in a session attribute', { field: 'country', search: 'R' }, [['FR', 10, 2]]],
  [
    'names of custom events',
    { field: 'event:name' },
    [
      ['Sign out', 0, 5],
      ['signup', 0, 1],
    ],
  ],
  ['a text in names of custom events', { field: 'event:name', search: 'up' }, [['signup', 0, 1]]],
  [
    'a property',
    { field: 'event:prop:plan' },
    [
      ['pro', 0, 4],
      ['free', 0, 2],
    ],
  ],
  [
    'names of properties, each with the events that have it, whatever the value',
    { field: 'event:prop' },
    [
      ['plan', 0, 6],
      ['a.b', 0, 1],
      ['author', 4, 0],
    ],
  ],
  ['a text in names of properties', { field: 'event:prop', search: 'a.' }, [['a.b', 0, 1]]],
  ['a wildcard of others in no name', { field: 'event:prop', search: '%' }, []],
  ['a text in a property', { field: 'event:prop:plan', search: 'ee' }, [['free', 0, 2]]],
]

test.each(CASES)(
  '%s: the same on one shard and across two, from rollups and facts',
  async (_, asked, want) => {
    const request: ValuesRequest = { ...ALL, ...asked }
    for (const project of projects) {
      const { answer, plan } = await ask(project, request)
      expect(answer).toEqual({
        period: { from: '2026-01-01T00:00:00Z', to: '2026-02-28T23:59:59Z' },
        query: {
          field: asked.field,
          date_range: ALL.date_range,
          search: request.search,
          limit: 100,
        },
        pagination: { limit: 100, offset: 0, returned: want.length, total: want.length },
        data: want.map(([value, pageviews, events]) => ({ value, pageviews, events })),
      })
      // Whole months are read from rollups.
      expect(listScans(plan).map(({ relation }) => relation)).toEqual([
        expect.stringContaining('monthly'),
      ])
      expect((await ask(project, request, () => FACTS)).answer).toEqual(answer)
    }
  },
)

test.each<[string, Partial<ValuesRequest> & Pick<ValuesRequest, 'field'>, Want]>([
  [
    'names of properties of the events of a name',
    {
      field: 'event:prop',
      filters: [{ type: 'event', name: { operator: 'eq', value: 'signup' } }],
    },
    [['plan', 0, 1]],
  ],
  [
    'names of properties of either',
    {
      field: 'event:prop',
      search: 'a',
      filters: [
        { type: 'event', name: { operator: 'eq', value: 'signup' } },
        { type: 'event', properties: [{ property: 'author', operator: 'eq', value: 'a10' }] },
      ],
      filtersOperator: 'or',
    },
    [
      ['plan', 0, 1],
      ['author', 1, 0],
    ],
  ],
  [
    'pages with a text, of a browser',
    {
      field: 'page:path',
      search: 'blog',
      filters: [{ type: 'browser', operator: 'oneOf', value: ['Firefox'] }],
    },
    [
      ['/blog/', 6, 0],
      ['/blog/Hello', 2, 0],
    ],
  ],
  [
    'of the field itself, with a text',
    {
      field: 'browser',
      search: 'o',
      filters: [{ type: 'browser', operator: 'noneOf', value: ['Chrome'] }],
      filtersOperator: 'and',
    },
    [['Firefox', 14, 2]],
  ],
])('filters, %s: the same on one shard and across two', async (_, asked, want) => {
  for (const project of projects) {
    const { answer } = await ask(project, { ...ALL, ...asked })
    expect([answer.query, answer.data]).toEqual([
      { ...ALL, ...asked },
      want.map(([value, pageviews, events]) => ({ value, pageviews, events })),
    ])
    expect((await ask(project, { ...ALL, ...asked }, () => FACTS)).answer).toEqual(answer)
  }
})

test('the missing value is one, and the limit cuts the list', async () => {
  for (const project of projects) {
    const { answer } = await ask(project, { ...ALL, field: 'country', limit: 2 })
    expect([answer.pagination, answer.data]).toEqual([
      { limit: 2, offset: 0, returned: 2, total: 3 },
      [
        { value: 'DE', pageviews: 20, events: 3 },
        { value: '', pageviews: 10, events: 1 },
      ],
    ])
    const { data } = (await ask(project, { ...ALL, field: 'country' })).answer
    expect(data.at(-1)).toEqual({ value: 'FR', pageviews: 10, events: 2 })
  }
})

test('the counts are those of the breakdown by the field', async () => {
  for (const field of ['page:path', 'country', 'os'] as const) {
    const body: Pick<AnalyticsQueryRequest, 'date_range' | 'metrics' | 'group_by'> = {
      date_range: ['2026-01-03', '2026-01-20T12:00:00Z'],
      metrics: ['pageviews', 'events'],
      group_by: [field],
    }
    const [project] = projects
    const { answer } = await ask(project!, { ...ALL, ...body, field })
    const { data, pagination } = await runQuery(cluster, project!, body)
    expect(answer.pagination).toEqual(pagination)
    expect(answer.data).toEqual(
      data.map(({ group, metrics }) => ({ value: Object.values(group)[0], ...metrics })),
    )
  }
})

test('PLAN_LIMIT_EXCEEDED: the values of a period before the retention of the plan', async () => {
  const [project] = projects
  const limited = { ...project!, retentionDays: 30 }
  await expect(ask(limited, { ...ALL, field: 'os' })).rejects.toMatchObject({
    code: 'PLAN_LIMIT_EXCEEDED',
  })
})
