/** The estimated cost of plans across shards. */
import { describe, expect, test } from '@jest/globals'
import { ALL_RELATIONS, FACTS, type RelationName } from '../../../../src/model/relations.js'
import type { ProjectSizes } from '../../../../src/model/project-sizes.js'
import {
  addCosts,
  estimateCost,
  estimateWideWork,
  estimateWork,
  UNIT_COSTS,
  UNITS,
  type Unit,
  type Work,
} from '../../../../src/analytics/plan/cost.js'
import { listScans, type Plan } from '../../../../src/analytics/plan/plan.js'
import { listPlans, planQuery } from '../../../../src/analytics/plan/planner.js'
import { resolveQuery, type Query } from '../../../../src/analytics/request/query.js'
import type { AnalyticsQueryRequest } from '../../../../src/contract/api.js'
import { fillDefaults } from '../../../support/world/world.js'

type Given = Partial<AnalyticsQueryRequest>
const [JANUARY, FEBRUARY] = [new Date('2026-01-01'), new Date('2026-02-01')]

/** Sizes of a shard with this number of events in January. */
const sizesOf = (events: number): ProjectSizes => ({
  readAt: FEBRUARY,
  months: [{ month: JANUARY, events, visits: events / 10 }],
  values: new Map([['page:path', 200]]),
})

const resolve = (given: Given): Query => {
  const request = fillDefaults({ date_range: '7days', metrics: ['users'], ...given })
  return resolveQuery(request, 'p1', { start: JANUARY, end: FEBRUARY })
}
/** Builds the plan that reads all rollups, and counts all users at once. */
const plan = (given: Given, relations: readonly RelationName[]): Plan =>
  [...listPlans(resolve(given), relations).values()][0]!

const NONE = Object.fromEntries(UNITS.map((unit) => [unit, 0])) as Work
const times = (work: Work, width: number): Work =>
  Object.fromEntries(UNITS.map((unit: Unit) => [unit, work[unit] * width])) as Work

const BY_PATH: Given = { group_by: ['page:path'] }
const SIZES = sizesOf(31_000)

describe('the work of', () => {
  test.each<[string, Given, readonly RelationName[], number, Partial<Work>]>([
    ['a total', {}, FACTS, 2, { wideSelect: 1, askedShard: 2, shardGroup: 2 }],
    ['groups', BY_PATH, FACTS, 3, { wideSelect: 1, askedShard: 3, shardGroup: 600 }],
    ['two relations', {}, ALL_RELATIONS, 4, { wideSelect: 2, askedShard: 4, shardGroup: 4 }],
    [
      'buckets',
      { group_by: ['interval:auto'] },
      FACTS,
      2,
      { wideSelect: 1, askedShard: 2, shardGroup: 2 * 31 },
    ],
    [
      'groups that match a filter: no more than events',
      { ...BY_PATH, filters: [{ type: 'browser', value: ['Chrome'], operator: 'oneOf' }] },
      FACTS,
      2,
      { wideSelect: 1, askedShard: 2, shardGroup: 400 },
    ],
  ])('%s', (_what, given, relations, width, asking) => {
    const one = plan({ metrics: ['users', 'pageviews'], ...given }, relations)
    expect(estimateWideWork(one, SIZES, width)).toEqual({
      shards: times(estimateWork(one, SIZES), width),
      asking: { ...NONE, wideStatement: 1, ...asking },
    })
  })
})

test('users that are counted last: the shards are asked once more for the page, and twice for candidates', () => {
  const countLast = (given: Given): Plan =>
    [...listPlans(resolve({ ...BY_PATH, limit: 10, ...given }), ALL_RELATIONS).values()].find(
      ({ userCounting }) => userCounting.kind !== 'all',
    )!
  const byPageviews: Given = { metrics: ['users', 'pageviews'], order_by: [['pageviews', 'desc']] }
  const asked = [byPageviews, {}].map((given) => {
    const { shards, asking } = estimateWideWork(countLast(given), SIZES, 2)
    return [shards.statement, asking.wideStatement, asking.askedShard, asking.shardGroup]
  })
  expect(asked).toEqual([
    [4, 1, 4, 2 * (200 + 10)],
    [6, 1, 6, 2 * (200 + 25)],
  ])
})

test('the cost is that of all shards and of the one that asks; one shard asks nobody', () => {
  const one = plan(BY_PATH, FACTS)
  const alone = addCosts(estimateWork(one, SIZES), UNIT_COSTS)
  expect(estimateCost(one, SIZES)).toEqual({ ms: alone })
  const asking = { wideStatement: 1, wideSelect: 1, askedShard: 8, shardGroup: 1_600 }
  const askingMs = addCosts({ ...NONE, ...asking }, UNIT_COSTS)
  expect(estimateCost(one, SIZES, 8)).toEqual({
    ms: expect.closeTo(8 * alone + askingMs),
    askingMs,
  })
})

describe('the plan for a shard by its events, by width', () => {
  const relationsOf = (one: Plan): readonly RelationName[] =>
    listScans(one).map(({ relation }) => relation)
  const ROLLUPS: readonly RelationName[] = ['pageviews_monthly', 'users_monthly']
  test.each<[string, number, number, readonly RelationName[]]>([
    ['few: events', 1_000, 1, ['events']],
    ['few: events', 1_000, 8, ['events']],
    ['one SELECT instead of two', 120_000, 1, ['events']],
    ['one SELECT instead of two, also for the shard that asks', 120_000, 2, ['events']],
    ['its SELECTs count for little beside the work of many shards', 150_000, 64, ROLLUPS],
    ['many: rollups', 1_000_000, 1, ROLLUPS],
    ['many: rollups', 1_000_000, 2, ROLLUPS],
  ])('%s (%d events, %d shards)', (_why, events, width, want) => {
    const chosen = planQuery(resolve(BY_PATH), ALL_RELATIONS, sizesOf(events), width)
    expect(relationsOf(chosen)).toEqual(want)
  })
})
