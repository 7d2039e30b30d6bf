/** Rollups while sessions change: the groups in which a user is counted, by day and by month. */
import { beforeAll, describe, expect, test } from '@jest/globals'
import { planQuery } from '../../../src/analytics/plan/planner.js'
import { resolvePeriod } from '../../../src/analytics/request/period.js'
import { resolveQuery } from '../../../src/analytics/request/query.js'
import type { AnalyticsQueryRequest } from '../../../src/contract/api.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { withDatabase } from '../../support/store/database.js'
import {
  runQuery,
  fillDefaults,
  countPairs,
  newProject,
  NOW,
  send,
  type PartialRequest,
  type SentEvent,
} from '../../support/world/world.js'
import { checkRollups } from '../../support/store/loading.js'

const database = withDatabase()
const projects = new Map<Case, StoredProject>()

// The nth batches of all cases are loaded as one file; each case has its own project.
beforeAll(async () => {
  for (const one of CASES) projects.set(one, await newProject(database.store))
  for (const project of projects.values()) await countPairs(database.store, project)
  for (let n = 0; CASES.some(({ batches }) => n < batches.length); n += 1) {
    const events = [...projects].flatMap(([{ batches }, { id }]) =>
      (batches[n] ?? []).map((event) => ({ ...event, project: id })),
    )
    await send(database.store, { id: '' }, events)
  }
})

/** A pageview `minutes` after ten o'clock on 31 January. */
const at = (minutes: number, country: string, fields: object = {}): SentEvent => ({
  timestamp: new Date(Date.parse('2026-01-31T10:00:00Z') + minutes * 60_000).toISOString(),
  user_id: 'u',
  path: '/',
  country,
  ...fields,
})
const DAY = 24 * 60

/** A row: the group, its users and its pageviews. */
type GroupRow = readonly [country: string, users: number, pageviews: number]

interface Case {
  readonly what: string
  readonly batches: readonly (readonly SentEvent[])[]
  /** By country on 31 January, and in all of January. */
  readonly day: readonly GroupRow[]
  readonly month: readonly GroupRow[]
  /** In February; absent if no rows are expected. */
  readonly february?: readonly GroupRow[]
}

const CASES: readonly Case[] = [
  {
    what: 'a late event that becomes the first of its session removes the user from the group',
    batches: [[at(0, 'DE')], [at(-10, 'FR')]],
    day: [['FR', 1, 2]],
    month: [['FR', 1, 2]],
  },
  {
    what: 'a user in the group on another day stays in it by month',
    batches: [[at(0, 'DE'), at(-DAY, 'DE')], [at(-10, 'FR')]],
    day: [['FR', 1, 2]],
    month: [
      ['DE', 1, 1],
      ['FR', 1, 2],
    ],
  },
  {
    what: 'a user in the group by another session of that day stays in it',
    batches: [[at(0, 'DE'), at(120, 'DE')], [at(-10, 'FR')]],
    day: [
      ['DE', 1, 1],
      ['FR', 1, 2],
    ],
    month: [
      ['DE', 1, 1],
      ['FR', 1, 2],
    ],
  },
  {
    what: 'other users of the group stay in it',
    batches: [[at(0, 'DE'), at(0, 'DE', { user_id: 'v' })], [at(-10, 'FR')]],
    day: [
      ['DE', 1, 1],
      ['FR', 1, 2],
    ],
    month: [
      ['DE', 1, 1],
      ['FR', 1, 2],
    ],
  },
  {
    what: 'a later event adds the user again',
    batches: [[at(0, 'DE')], [at(-10, 'FR')], [at(300, 'DE')]],
    day: [
      ['DE', 1, 1],
      ['FR', 1, 2],
    ],
    month: [
      ['DE', 1, 1],
      ['FR', 1, 2],
    ],
  },
  {
    what: 'an event of the same batch adds the user again',
    batches: [[at(0, 'DE')], [at(300, 'DE'), at(-10, 'FR')]],
    day: [
      ['DE', 1, 1],
      ['FR', 1, 2],
    ],
    month: [
      ['DE', 1, 1],
      ['FR', 1, 2],
    ],
  },
  {
    what: 'an event of another day adds the user again by month only',
    batches: [[at(0, 'DE')], [at(-10, 'FR')], [at(-DAY, 'DE')]],
    day: [['FR', 1, 2]],
    month: [
      ['DE', 1, 1],
      ['FR', 1, 2],
    ],
  },
  {
    what: 'a user who was added again is removed again',
    batches: [[at(0, 'DE')], [at(-10, 'FR')], [at(300, 'DE')], [at(290, 'US')]],
    day: [
      ['FR', 1, 2],
      ['US', 1, 2],
    ],
    month: [
      ['FR', 1, 2],
      ['US', 1, 2],
    ],
  },
  {
    what: 'a session changes back to its earlier attributes',
    batches: [[at(0, 'DE')], [at(-10, 'FR')], [at(-20, 'DE')]],
    day: [['DE', 1, 3]],
    month: [['DE', 1, 3]],
  },
  {
    what: 'a session across midnight changes on both days, and in both months',
    batches: [[at(830, 'DE'), at(845, 'DE')], [at(820, 'FR')]],
    day: [['FR', 1, 2]],
    month: [['FR', 1, 2]],
    february: [['FR', 1, 1]],
  },
  {
    what: 'a session with an id changes in several months',
    batches: [
      [at(0, 'DE', { session_id: 's' }), at(10 * DAY, 'DE', { session_id: 's' })],
      [at(-DAY, 'FR', { session_id: 's' })],
    ],
    day: [['FR', 1, 1]],
    month: [['FR', 1, 2]],
    february: [['FR', 1, 1]],
  },
  {
    what: 'a late event joins two sessions: the second gets the attributes of the first',
    batches: [[at(0, 'DE'), at(50, 'FR')], [at(25, 'US')]],
    day: [['DE', 1, 3]],
    month: [['DE', 1, 3]],
  },
  {
    what: 'a session without a country is in the group of the empty value',
    batches: [[at(0, '')], [at(-10, 'FR')]],
    day: [['FR', 1, 2]],
    month: [['FR', 1, 2]],
  },
  {
    what: 'a duplicate event changes nothing',
    batches: [
      [at(0, 'DE', { event_id: 'one' }), at(-10, 'FR', { event_id: 'two' })],
      [at(-20, 'US', { event_id: 'one' }), at(0, 'DE', { event_id: 'one' })],
    ],
    day: [['FR', 1, 2]],
    month: [['FR', 1, 2]],
  },
  {
    what: 'two sessions exchange their groups',
    batches: [
      [at(0, 'DE'), at(120, 'FR')],
      [at(-10, 'FR'), at(110, 'DE')],
    ],
    day: [
      ['DE', 1, 2],
      ['FR', 1, 2],
    ],
    month: [
      ['DE', 1, 2],
      ['FR', 1, 2],
    ],
  },
  {
    what: 'a group without users has no row, also if another user has sums of zero in it',
    batches: [
      [at(0, 'DE'), at(0, 'DE', { user_id: 'v' })],
      [at(-10, 'FR'), at(-10, 'US', { user_id: 'v', name: 'signup' })],
    ],
    day: [
      ['FR', 1, 2],
      ['US', 1, 1],
    ],
    month: [
      ['FR', 1, 2],
      ['US', 1, 1],
    ],
  },
]

const breakdown = (from: string, to: string): PartialRequest => ({
  date_range: [from, to],
  group_by: ['country'],
  metrics: ['users', 'pageviews'],
  order_by: [['country', 'asc']],
})
const ON_THE_DAY = breakdown('2026-01-31', '2026-01-31')
const IN_JANUARY = breakdown('2026-01-01', '2026-01-31')
const IN_FEBRUARY = breakdown('2026-02-01', '2026-02-28')

async function readGroups(project: StoredProject, asked: PartialRequest): Promise<GroupRow[]> {
  const { data, pagination } = await runQuery(database.store, project, asked)
  expect(pagination.total).toBe(data.length)
  return data.map(({ group, metrics }) => [group['country']!, metrics.users!, metrics.pageviews!])
}

test.each(CASES)('$what', async (one) => {
  const { day, month, february = [] } = one
  const project = projects.get(one)!
  expect({
    day: await readGroups(project, ON_THE_DAY),
    month: await readGroups(project, IN_JANUARY),
    february: await readGroups(project, IN_FEBRUARY),
  }).toEqual({ day, month, february })
})

test('all rollups agree with the events', async () => {
  expect(await checkRollups(database.store.writer, {})).toEqual({
    months: 2,
    groups: expect.any(Number),
    different: 0,
    differences: [],
  })
})

describe('these queries read rollups only', () => {
  test.each([
    [ON_THE_DAY, ['sessions_daily', 'users_daily']],
    [IN_JANUARY, ['sessions_monthly', 'users_monthly']],
    [IN_FEBRUARY, ['sessions_monthly', 'users_monthly']],
  ])('%j', (asked, want) => {
    const request: AnalyticsQueryRequest = fillDefaults(asked)
    const query = resolveQuery(request, 'any', resolvePeriod(request.date_range, NOW, NOW))
    expect(planQuery(query).scans.map(({ relation }) => relation)).toEqual(want)
  })
})

/** Rows of zeros stay in the tables until a merge, but must not be returned. */
describe('a group that all users have left has no row', () => {
  const left = CASES[0]!
  test.each<[string, Partial<AnalyticsQueryRequest>]>([
    ['of its users alone', { metrics: ['users'] }],
    ['of its visits alone', { metrics: ['bounce_rate'] }],
    ['first in the order', { metrics: ['pageviews'], order_by: [['pageviews', 'asc']], limit: 1 }],
    [
      'filtered for',
      { filters: [{ type: 'location', country: { value: ['DE', 'FR'], operator: 'oneOf' } }] },
    ],
  ])('%s', async (_how, given) => {
    const { data, pagination } = await runQuery(database.store, projects.get(left)!, {
      ...IN_JANUARY,
      order_by: [],
      ...given,
    })
    expect({ groups: data.map(({ group }) => group), total: pagination.total }).toEqual({
      groups: [{ country: 'FR' }],
      total: 1,
    })
  })

  test('a filter on that group counts no users', async () => {
    const { data } = await runQuery(database.store, projects.get(left)!, {
      ...IN_JANUARY,
      group_by: [],
      order_by: [],
      metrics: ['users', 'pageviews', 'events', 'bounce_rate', 'visit_duration'],
      filters: [{ type: 'location', country: { value: ['DE'], operator: 'oneOf' } }],
    })
    expect(data).toEqual([
      {
        group: {},
        metrics: { users: 0, pageviews: 0, events: 0, bounce_rate: null, visit_duration: null },
      },
    ])
  })
})
