/** Several groupings: the time series of the largest groups, and tuples of values; on one shard and across two. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { StoredProject } from '../../../src/projects/project.js'
import { startCluster, type TestCluster } from '../../support/cluster/cluster.js'
import { newWideProject, runQuery, sendToShards } from '../../support/cluster/wide-world.js'
import { NOW, type PartialRequest, type SentEvent } from '../../support/world/world.js'

let cluster: TestCluster
let projects: readonly StoredProject[]

/** An event on a day of January 2026. */
const happen = (day: number, user_id: string, fields: object = {}): SentEvent => ({
  timestamp: new Date(Date.UTC(2026, 0, day, 12)).toISOString(),
  user_id,
  path: '/',
  ...fields,
})
const EVENTS: readonly SentEvent[] = [
  happen(1, 'a', { country: 'DE', browser: 'Firefox' }),
  happen(1, 'b', { country: 'DE', browser: 'Chrome' }),
  happen(1, 'c', { country: 'FR', browser: 'Chrome' }),
  happen(3, 'a', { country: 'DE', browser: 'Firefox' }),
  happen(3, 'a', { country: 'DE', browser: 'Firefox', path: '/next' }),
  happen(3, 'd', {
    country: 'FR',
    browser: 'Firefox',
    name: 'signup',
    properties: { plan: 'pro' },
  }),
  happen(3, 'e', { country: 'US', browser: 'Safari' }),
  happen(3, 'e', { country: 'US', browser: 'Safari' }),
  happen(3, 'e', { country: 'US', browser: 'Safari' }),
  happen(3, 'e', { country: 'US', browser: 'Safari' }),
  happen(3, 'e', { country: 'US', browser: 'Safari' }),
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

const PERIOD = ['2026-01-01', '2026-01-03'] as const

/** Returns the rows of a request as texts, and how many there are; the same on one shard and across two. */
async function ask(asked: Omit<PartialRequest, 'date_range'>) {
  const request = { date_range: PERIOD, ...asked }
  const [one, two] = await Promise.all(
    projects.map((project) => runQuery(cluster, project, request, NOW)),
  )
  expect(JSON.stringify(two)).toBe(JSON.stringify(one))
  const rows = one!.data.map(({ group, metrics }) =>
    [...Object.values(group), ...Object.values(metrics)].map((value) => String(value)).join(' '),
  )
  return { rows, total: one!.pagination.total }
}

const SHORT_DATE = /^2026-01-0(\d)T00:00:00(Z|\+01:00)/

test.each<[string, Omit<PartialRequest, 'date_range'>, readonly string[]]>([
  [
    'of the two largest groups, by date and then by size',
    { metrics: ['users', 'pageviews'], then_by: ['country'], group_limit: 2 },
    ['1 DE 2 2', '1 FR 1 1', '2 DE 0 0', '2 FR 0 0', '3 DE 1 2', '3 FR 1 0'],
  ],
  [
    'of the largest by another metric, a page of them',
    {
      metrics: ['pageviews', 'new_users'],
      then_by: ['country'],
      limit: 3,
      offset: 2,
      group_limit: 2,
    },
    ['2 US 0 0', '2 DE 0 0', '3 US 5 1'],
  ],
  [
    'as many as fit',
    { metrics: ['pageviews'], then_by: ['country'], limit: 7 },
    ['1 US 0', '1 DE 2', '2 US 0', '2 DE 0', '3 US 5', '3 DE 2'],
  ],
  [
    'by the second grouping',
    { metrics: ['users'], then_by: ['browser'], order_by: [['browser', 'desc']], group_limit: 2 },
    ['1 Firefox 1', '2 Firefox 0', '3 Firefox 2', '1 Chrome 2', '2 Chrome 0', '3 Chrome 0'],
  ],
  [
    'by a metric, which is null without visits; equal values by date and size',
    {
      metrics: ['users', 'bounce_rate'],
      then_by: ['country'],
      group_limit: 2,
      order_by: [['bounce_rate', 'asc']],
    },
    ['3 DE 1 0', '1 DE 2 100', '1 FR 1 100', '2 DE 0 null', '2 FR 0 null', '3 FR 1 null'],
  ],
  [
    'of pages: visits are those that entered there',
    { metrics: ['users', 'visits', 'views_per_visit'], then_by: ['page:path'], group_limit: 2 },
    [
      '1 / 3 3 null',
      '1 /next 0 0 null',
      '2 / 0 0 null',
      '2 /next 0 0 null',
      '3 / 3 2 null',
      '3 /next 1 0 null',
    ],
  ],
  [
    'of names, with a metric that has no value: the first of them',
    { metrics: ['visits', 'events', 'new_users'], then_by: ['event:name'], group_limit: 5 },
    ['1 signup null 0 0', '2 signup null 0 0', '3 signup null 1 1'],
  ],
  [
    'of a property in a zone',
    {
      metrics: ['events'],
      then_by: ['event:prop:plan'],
      time_zone: 'Europe/Berlin',
    },
    ['1 pro 0', '2 pro 0', '3 pro 1'],
  ],
  [
    'of the largest pairs of a page and an attribute; other pairs of their values are left out',
    { metrics: ['pageviews', 'new_users'], then_by: ['page:path', 'browser'], group_limit: 2 },
    [
      '1 / Safari 0 0',
      '1 / Chrome 2 2',
      '2 / Safari 0 0',
      '2 / Chrome 0 0',
      '3 / Safari 5 1',
      '3 / Chrome 0 0',
    ],
  ],
  [
    'of tuples, by the last grouping, then by date and size',
    {
      metrics: ['events', 'users'],
      then_by: ['country', 'browser', 'event:name'],
      order_by: [['event:name', 'asc']],
    },
    ['1 FR Firefox signup 0 0', '2 FR Firefox signup 0 0', '3 FR Firefox signup 1 1'],
  ],
  ['of nothing', { metrics: ['events'], then_by: ['event:prop:nobody'], group_limit: 5 }, []],
])('series %s', async (_what, asked, rows) => {
  const got = await ask({ group_by: ['interval:day'], ...asked })
  expect(got.rows.map((row) => row.replace(SHORT_DATE, '$1'))).toEqual(rows)
})

test.each<[string, Omit<PartialRequest, 'date_range'>, readonly string[]]>([
  [
    'by the first metric',
    { metrics: ['users', 'visits'], group_by: ['country'], then_by: ['browser'] },
    ['DE Chrome 1 1', 'DE Firefox 1 2', 'FR Chrome 1 1', 'FR Firefox 1 0', 'US Safari 1 1'],
  ],
  [
    'by a grouping',
    {
      metrics: ['users'],
      group_by: ['browser'],
      then_by: ['country'],
      order_by: [['browser', 'desc']],
    },
    ['Safari US 1', 'Firefox DE 1', 'Firefox FR 1', 'Chrome DE 1', 'Chrome FR 1'],
  ],
  [
    'by the second grouping, a page',
    {
      metrics: ['pageviews'],
      group_by: ['country'],
      then_by: ['page:path'],
      order_by: [['page:path', 'desc']],
      limit: 2,
    },
    ['DE /next 1', 'DE / 3'],
  ],
  [
    'of events and properties',
    {
      metrics: ['events', 'visits', 'new_users'],
      group_by: ['event:name'],
      then_by: ['event:prop:plan'],
    },
    ['signup pro 1 null 1'],
  ],
  [
    'of four groupings, by the third',
    {
      metrics: ['pageviews', 'visits', 'new_users'],
      group_by: ['page:path'],
      then_by: ['country', 'browser', 'device_type'],
      order_by: [['browser', 'desc']],
    },
    [
      '/ US Safari  5 1 1',
      '/ DE Firefox  2 2 1',
      '/ FR Firefox  0 0 1',
      '/next DE Firefox  1 0 1',
      '/ DE Chrome  1 1 1',
      '/ FR Chrome  1 1 1',
    ],
  ],
])('groups %s', async (_what, asked, rows) => {
  expect((await ask(asked)).rows).toEqual(rows)
})

test('series are compared with the same groups in the other period, bucket by bucket', async () => {
  const request = {
    date_range: ['2026-01-03', '2026-01-04'],
    metrics: ['users', 'pageviews'],
    group_by: ['interval:day'],
    then_by: ['country'],
    group_limit: 2,
    compare: ['2026-01-01', '2026-01-01'],
  } as const
  for (const project of projects) {
    const { data } = await runQuery(cluster, project, request, NOW)
    const rows = data.map(({ group, metrics, comparison }) => [
      group['country'],
      Object.values(metrics),
      Object.values(comparison!.metrics),
    ])
    expect(rows).toEqual([
      ['DE', [1, 2], [2, 2]],
      ['FR', [1, 0], [1, 1]],
      ['DE', [0, 0], [null, null]],
      ['FR', [0, 0], [null, null]],
    ])
  }
})

test('pairs are compared with the same pairs', async () => {
  const request = {
    date_range: ['2026-01-03', '2026-01-03'],
    metrics: ['pageviews'],
    group_by: ['country'],
    then_by: ['browser'],
    compare: ['2026-01-01', '2026-01-01'],
  } as const
  for (const project of projects) {
    const { data } = await runQuery(cluster, project, request, NOW)
    expect(
      data.map(({ group, metrics, comparison }) => [
        ...Object.values(group),
        metrics.pageviews,
        comparison!.metrics['pageviews'],
      ]),
    ).toEqual([
      ['US', 'Safari', 5, 0],
      ['DE', 'Firefox', 2, 1],
      ['FR', 'Firefox', 0, 0],
    ])
  }
})

test('tuples are compared with the same tuples, and lost ones follow', async () => {
  const request = {
    date_range: ['2026-01-03', '2026-01-03'],
    metrics: ['users'],
    group_by: ['country'],
    then_by: ['browser', 'page:path'],
    compare: ['2026-01-01', '2026-01-01'],
    include: { lost: true },
    having: [['users', 'lte', 1]],
    limit: 5,
    offset: 1,
  } as const
  for (const project of projects) {
    const { data, pagination } = await runQuery(cluster, project, request, NOW)
    expect(pagination.total).toBe(6)
    expect(
      data.map(({ group, metrics, comparison }) => [
        ...Object.values(group),
        metrics.users,
        comparison!.metrics['users'],
      ]),
    ).toEqual([
      ['DE', 'Firefox', '/next', 1, 0],
      ['FR', 'Firefox', '/', 1, 0],
      ['US', 'Safari', '/', 1, 0],
      ['DE', 'Chrome', '/', 0, 1],
      ['FR', 'Chrome', '/', 0, 1],
    ])
  }
})

test('totals are those of all groups, also without a row', async () => {
  for (const [second, total] of [
    ['country', 6],
    ['event:prop:nobody', 0],
  ] as const) {
    const request = { date_range: PERIOD, metrics: ['users'], include: { totals: true } } as const
    const series = {
      ...request,
      group_by: ['interval:day'],
      then_by: [second],
      group_limit: 2,
    } as const
    for (const project of projects) {
      const { totals, pagination, query } = await runQuery(cluster, project, series, NOW)
      expect(totals).toEqual({ metrics: { users: 5 } })
      expect(pagination.total).toBe(total)
      expect(query).toMatchObject({ then_by: [second], group_limit: 2, interval: 'day' })
    }
  }
})
