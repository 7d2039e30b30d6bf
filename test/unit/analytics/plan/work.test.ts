/** The estimated work of plans: what is read and counted. */
import { describe, expect, test } from '@jest/globals'
import { FACTS, ALL_RELATIONS, type RelationName } from '../../../../src/model/relations.js'
import type { ProjectSizes } from '../../../../src/model/project-sizes.js'
import { listPlans } from '../../../../src/analytics/plan/planner.js'
import { estimateFacts } from '../../../../src/analytics/plan/estimates.js'
import { estimateWork, type Work } from '../../../../src/analytics/plan/cost.js'
import { resolveQuery } from '../../../../src/analytics/request/query.js'
import type { AnalyticsQueryRequest } from '../../../../src/contract/api.js'
import { fillDefaults } from '../../../support/world/world.js'

const [JANUARY, FEBRUARY, MARCH] = ['2026-01-01', '2026-02-01', '2026-03-01'].map(
  (day) => new Date(day),
) as [Date, Date, Date]

/** 31,000 events in January, 1,000 of them a day; 14,000 in the first half of February, which is not over. */
const SIZES: ProjectSizes = {
  readAt: new Date('2026-02-15'),
  months: [
    { month: JANUARY, events: 31_000, visits: 3_100 },
    { month: FEBRUARY, events: 14_000, visits: 1_400 },
  ],
  values: new Map([['page:path', 200]]),
}

describe('the facts in a period', () => {
  test.each<[string, Date, Date, ReturnType<typeof estimateFacts>]>([
    ['a month', JANUARY, FEBRUARY, { events: 31_000, visits: 3_100, months: 1 }],
    ['a month that is not over', FEBRUARY, MARCH, { events: 14_000, visits: 1_400, months: 1 }],
    ['both', JANUARY, MARCH, { events: 45_000, visits: 4_500, months: 2 }],
    ['a day', JANUARY, new Date('2026-01-02'), { events: 1_000, visits: 100, months: 1 }],
    [
      'a month that is not known',
      MARCH,
      new Date('2026-04-01'),
      { events: 0, visits: 0, months: 0 },
    ],
  ])('%s', (_what, start, end, want) => {
    expect(estimateFacts(SIZES, [{ start, end }])).toEqual(want)
  })
})

describe('the work of', () => {
  /** Rows of other projects in the granules that are read. */
  const BESIDE = 16_384
  const NONE = {
    ...{ statement: 1, select: 0, partition: 0, secondStep: 0, sumRow: 0, bitmap: 0 },
    ...{ bitmapUser: 0, eventColumn: 0, eventUser: 0, sessionColumn: 0 },
    ...{ wideStatement: 0, wideSelect: 0, askedShard: 0, shardGroup: 0 },
  }
  const ofJanuary = (
    given: Partial<AnalyticsQueryRequest>,
    relations: readonly RelationName[],
  ): Work => {
    const request = fillDefaults({ date_range: '7days', ...given })
    const query = resolveQuery(request, 'p1', { start: JANUARY, end: FEBRUARY })
    const [plan] = listPlans(query, relations).values()
    return estimateWork(plan!, SIZES)
  }
  const pages = { group_by: ['page:path'], metrics: ['users', 'pageviews'] } as const

  test.each<[string, Work, Partial<Work>]>([
    [
      'totals from rollups: a row each',
      ofJanuary({}, ALL_RELATIONS),
      { select: 2, partition: 2, sumRow: 1, bitmap: 1, bitmapUser: 3_100 / 51 },
    ],
    [
      'totals from events: their time and name, and those of other projects beside them',
      ofJanuary({}, FACTS),
      {
        ...{ select: 1, partition: 1, eventColumn: (31_000 + BESIDE) * 2 },
        eventUser: 31_000 * (1 + 1 / 600),
      },
    ],
    [
      'visits from sessions',
      ofJanuary({ metrics: ['bounce_rate'] }, FACTS),
      { select: 1, partition: 1, sessionColumn: (3_100 + BESIDE) * 5 },
    ],
    [
      'groups from events: their column as well',
      ofJanuary(pages, FACTS),
      {
        ...{ select: 1, partition: 1, eventColumn: (31_000 + BESIDE) * 3 },
        eventUser: 31_000 * (1 + 200 / 600),
      },
    ],
  ])('%s', (_what, work, want) => {
    expect(work).toEqual({ ...NONE, ...want })
  })
})
