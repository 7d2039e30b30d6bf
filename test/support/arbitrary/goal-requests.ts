/** Random requests for conversions of goals that rollups have: goals of an event name or a page, by what is paired with it. */
import fc from 'fast-check'
import type { GoalMetric } from '../../../src/contract/api.js'
import type { PartialRequest } from '../world/world.js'
import { filterBy, rollupRequest, WHOLE_PERIODS } from './rollups.js'

type Grouped = Pick<PartialRequest, 'group_by' | 'then_by' | 'group_limit'>

const grouping = fc.constantFrom<Grouped>(
  { group_by: [] },
  { group_by: ['channel'] },
  { group_by: ['channel'] },
  { group_by: ['country'] },
  { group_by: ['event:name'] },
  { group_by: ['page:path'] },
  { group_by: ['interval:month'] },
  { group_by: ['interval:quarter'], then_by: ['country'], group_limit: 2 },
)

const FUNCTIONS = ['conversions', 'converted_users', 'conversion_rate'] as const

const metric = fc.record({ metric: fc.constantFrom(...FUNCTIONS), goal: fc.nat(1) })

export const goalRequest: fc.Arbitrary<PartialRequest> = fc.noBias(
  fc
    .tuple(
      rollupRequest,
      fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...WHOLE_PERIODS) },
        { weight: 1, arbitrary: rollupRequest.map(({ date_range }) => date_range) },
      ),
      grouping,
      fc.tuple(
        ...[0, 1].map(() =>
          fc
            .oneof(
              { weight: 2, arbitrary: filterBy('event:name') },
              { weight: 1, arbitrary: filterBy('page:path') },
            )
            .map((filter) => [filter]),
        ),
      ),
      fc.array(metric, { minLength: 1, maxLength: 4 }),
      fc.constantFrom<NonNullable<PartialRequest['metrics']>>([], ['users'], ['events', 'users']),
      fc.nat(),
    )
    .map(([asked, date_range, grouped, goals, drawn, others, pick]): PartialRequest => {
      const added = drawn.map(({ metric: name, goal }, i): GoalMetric => ({
        ...{ metric: name, goal: `goal${goal}`, as: `${name}_${i}` },
        filters: goals[goal]!,
      }))
      const { compare, include, limit = 1000, time_zone } = asked
      return {
        ...{ date_range, limit, offset: 0, ...grouped },
        metrics: pick % 2 === 0 ? [...added, ...others] : [...others, ...added],
        ...(compare === undefined ? {} : { compare }),
        ...(include === undefined ? {} : { include }),
        ...(time_zone === undefined ? {} : { time_zone }),
        ...(pick % 3 === 0 ? { order_by: [[added[0]!.as, 'asc']] } : { order_by: [] }),
        ...(pick % 5 === 0 ? { having: [[added[0]!.as, 'gte', 1]] } : {}),
      }
    }),
)
