/** Pageleaves: they count as events, and a visit with one pageview and nothing but pageleaves is a bounce. */
import { beforeAll, expect, test } from '@jest/globals'
import { toCluster } from '../../../src/cluster/cluster.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { runJourneys } from '../../support/cluster/operations.js'
import { withDatabase } from '../../support/store/database.js'
import {
  countPairs,
  LARGE_SIZES,
  newProject,
  runQuery,
  send,
  type PartialRequest,
  type SentEvent,
} from '../../support/world/world.js'

const event = (user: string, minute: number, name: string, path = '/'): SentEvent => ({
  timestamp: new Date(Date.UTC(2026, 2, 1, 10, minute)).toISOString(),
  user_id: user,
  name,
  path,
  country: 'DE',
  device_type: 'mobile',
})

/** Of four visits, two are bounces: one with a pageleave, and one without. */
const FIRST: readonly SentEvent[] = [
  event('stays', 0, 'pageview'),
  event('leaves', 0, 'pageview'),
  event('signs up', 0, 'pageview'),
  event('signs up', 1, 'signup'),
  event('reads on', 0, 'pageview'),
]
/** What arrives later continues the stored visits. */
const SECOND: readonly SentEvent[] = [
  event('leaves', 4, 'pageleave'),
  event('signs up', 2, 'pageleave'),
  event('reads on', 2, 'pageleave'),
  event('reads on', 2, 'pageview', '/b'),
  event('reads on', 4, 'pageleave', '/b'),
]

const database = withDatabase()
let project: StoredProject
beforeAll(async () => {
  project = await newProject(database.store)
  await countPairs(database.store, project)
  await send(database.store, project, FIRST)
  await send(database.store, project, SECOND)
})

const METRICS = [
  'visits',
  'bounce_rate',
  'visit_duration',
  'pageviews',
  'events',
  'views_per_visit',
] as const
const ALL = {
  visits: 4,
  bounce_rate: 50,
  visit_duration: (0 + 240 + 120 + 240) / 4,
  pageviews: 5,
  events: 5,
  views_per_visit: 1.25,
}

test.each<[string, Partial<PartialRequest>]>([
  ['a day', {}],
  ['a month', { date_range: ['2026-03-01', '2026-03-31'] }],
  ['an hour', { date_range: ['2026-03-01T10:00:00Z', '2026-03-01T10:59:59Z'] }],
  ['a country', { filters: [{ field: 'country', operator: 'is', value: ['DE'] }] }],
  [
    'a pair',
    {
      date_range: ['2026-03-01', '2026-03-31'],
      filters: [
        { field: 'country', operator: 'is', value: ['DE'] },
        { field: 'device_type', operator: 'is', value: ['mobile'] },
      ],
    },
  ],
])('of %s', async (_, asked) => {
  for (const sizes of [undefined, LARGE_SIZES]) {
    const request = { date_range: ['2026-03-01', '2026-03-01'] as const, metrics: METRICS }
    const { data } = await runQuery(
      database.store,
      project,
      { ...request, ...asked },
      undefined,
      sizes,
    )
    expect(data).toEqual([{ group: {}, metrics: ALL }])
  }
})

test('they are no steps of journeys', async () => {
  const { data } = await runJourneys(toCluster(database.store), project, {
    date_range: ['2026-03-01', '2026-03-01'],
    from: {
      filters: [{ field: 'page:path', operator: 'is', value: ['/'] }],
      filtersOperator: 'and',
    },
    kinds: ['page', 'event'],
    depth: 1,
    limit: 10,
    filters: [],
    filtersOperator: 'and',
  })
  expect(data.map(({ step, kind, value, visits }) => [step, kind, value, visits])).toEqual([
    [0, 'anchor', null, 4],
    [1, 'page', '/b', 1],
    [1, 'event', 'signup', 1],
    [1, 'none', null, 2],
  ])
})
