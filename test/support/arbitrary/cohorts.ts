/** Random events of people who come back, and random questions about them. */
import fc from 'fast-check'
import type {
  Filter,
  FunnelRequest,
  JourneysRequest,
  RetentionRequest,
} from '../../../src/contract/api.js'
import type { SentEvent } from '../world/world.js'
import { event, filter } from './world.js'

const DAY = 86_400_000
const FIRST = Date.parse('2024-01-01')
/** How many days later the last event may be. */
const DAYS = 190

/** The days after a first one on which people come back. */
const LATER = [0, 0, 0, 1, 2, 6, 7, 8, 14, 29, 30, 31, 60, 61, 90]
/** Moments of a day. Some events of a person are at the same millisecond. */
const MOMENTS = [0, 1, 60_000, 61_000, 1_800_000, 1_860_000, 43_200_000, DAY - 1]

/** Events of 50 people, who come one after the other. */
export const returningEvent: fc.Arbitrary<SentEvent> = fc
  .tuple(event, fc.nat(49), fc.constantFrom(...LATER), fc.constantFrom(...MOMENTS))
  .map(([one, user, later, ms]): SentEvent => ({
    ...Object.fromEntries(
      Object.entries(one).filter(([name]) => !['event_id', 'session_id'].includes(name)),
    ),
    timestamp: new Date(FIRST + (2 * user + later) * DAY + ms).toISOString(),
    user_id: `u${user}`,
  }))

/** Moments before, within and after the events. */
export const askingMoment = fc
  .tuple(fc.integer({ min: 40, max: DAYS + 40 }), fc.constantFrom(0, 999, 43_200_000, DAY - 1))
  .map(([day, ms]) => new Date(FIRST + day * DAY + ms))

const showDay = (day: number): string => new Date(FIRST + day * DAY).toISOString().slice(0, 10)
const showSecond = (day: number): string => `${showDay(day)}T12:00:00Z`
const end = fc.tuple(
  fc.oneof(fc.integer({ min: -10, max: DAYS + 20 }), fc.constantFrom(0, 60, 152)),
  fc.boolean(),
)

/** Days and seconds, and the presets that mean months. */
export const returningRange: fc.Arbitrary<RetentionRequest['date_range']> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(end, end).map(([one, other]): [string, string] => {
      const [[from, isDay], [to, isOtherDay]] = one[0] <= other[0] ? [one, other] : [other, one]
      return [
        (isDay || from === to ? showDay : showSecond)(from),
        (isOtherDay ? showDay : showSecond)(to),
      ]
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom('12months', 'mtd', '30days', 'all', 'ytd', '7days') },
)

const FILTERLESS = { filters: [], filtersOperator: 'and' } as const

/** No filter, or one or two of any kind. */
export const someFilters = fc.oneof(
  { weight: 1, arbitrary: fc.constant(FILTERLESS) },
  {
    weight: 1,
    arbitrary: fc.record({
      filters: fc.array(filter, { minLength: 1, maxLength: 2 }),
      filtersOperator: fc.constantFrom('and' as const, 'or' as const),
    }),
  },
)

export const retentionRequest: fc.Arbitrary<RetentionRequest> = fc.noBias(
  fc
    .record({
      interval: fc.constantFrom('day' as const, 'week' as const, 'month' as const),
      date_range: returningRange,
      intervals: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
      filters: someFilters,
    })
    .map(({ filters, intervals, ...rest }) => ({
      ...rest,
      // A table of days by itself would have too many counts.
      ...(intervals === undefined && rest.interval !== 'day' ? {} : { intervals: intervals ?? 9 }),
      ...filters,
    })),
)

/** A step that some of the events match, and often the same ones as another step. */
const step: fc.Arbitrary<FunnelRequest['steps'][number]> = fc
  .tuple(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc.constantFrom<readonly Filter[]>(
          [{ type: 'page', path: { operator: 'startsWith', value: '/a' } }],
          [{ type: 'page', path: { operator: 'eq', value: '/' } }],
          [{ type: 'event', name: { operator: 'eq', value: 'pageview' } }],
          [{ type: 'event', name: { operator: 'notEq', value: 'pageview' } }],
          [{ type: 'user', anonymous: false }],
          [],
        ),
      },
      { weight: 1, arbitrary: fc.array(filter, { minLength: 1, maxLength: 2 }) },
    ),
    fc.constantFrom('and' as const, 'or' as const),
  )
  .map(([filters, filtersOperator]) => ({ filters: [...filters], filtersOperator }))

export const funnelRequest: fc.Arbitrary<FunnelRequest> = fc.noBias(
  fc
    .record({
      date_range: fc.oneof(
        returningRange,
        fc.constant<[string, string]>(['2024-01-01', '2024-12-31']),
      ),
      steps: fc.array(step, { minLength: 2, maxLength: 4 }),
      within: fc.constantFrom<FunnelRequest['within']>(
        ...(['visit', 'visit', 'visit', 1, 60, 61, 1_800, 86_400] as const),
        ...([86_399, 604_800, 7_776_000, 315_360_000] as const),
      ),
      filters: fc.oneof({ weight: 4, arbitrary: fc.constant(FILTERLESS) }, someFilters),
    })
    .map(({ filters, ...rest }) => ({ ...rest, ...filters })),
)

export const journeysRequest: fc.Arbitrary<JourneysRequest> = fc.noBias(
  fc
    .record({
      date_range: fc.oneof(
        returningRange,
        fc.constant<[string, string]>(['2024-01-01', '2024-12-31']),
      ),
      anchor: fc.tuple(fc.constantFrom('from' as const, 'to' as const), step),
      kinds: fc.constantFrom<JourneysRequest['kinds']>(['page'], ['event'], ['page', 'event']),
      depth: fc.integer({ min: 1, max: 5 }),
      limit: fc.constantFrom(1, 2, 5, 100),
      filters: fc.oneof({ weight: 4, arbitrary: fc.constant(FILTERLESS) }, someFilters),
    })
    .map(({ anchor: [side, filters], filters: ofAll, ...rest }) => ({
      ...rest,
      [side]: filters,
      ...ofAll,
    })),
)
