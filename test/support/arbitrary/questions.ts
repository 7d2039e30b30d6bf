/** Random questions of every kind: requests, each asked at a moment. */
import fc from 'fast-check'
import type {
  Filter,
  GoalMetric,
  HavingOperator,
  NumericMetric,
  Preset,
  ThenBy,
} from '../../../src/contract/api.js'
import { listEnumValues, readSpec } from '../../../src/contract/spec.js'
import type { PartialRequest } from '../world/world.js'
import { comparison } from './comparisons.js'
import { goalRequest } from './goal-requests.js'
import { addThenBy } from './then-by.js'
import { attributeRequest, rollupRequest } from './rollups.js'
import { filter, request } from './world.js'

export interface Question {
  readonly asked: PartialRequest
  /** When it is asked. */
  readonly now: Date
  /** Whether the project is said to be large, so that sessions are read. */
  readonly isLarge: boolean
}

const { document } = readSpec('openapi')
const preset = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(...(listEnumValues(document, 'Preset') as readonly Preset[])),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      last: fc.integer({ min: 1, max: 12 }),
      unit: fc.constantFrom('day' as const, 'week' as const, 'month' as const),
    }),
  },
)

/** Moments from which presets reach back to the events of `createVisits`. */
const moment = fc
  .constantFrom(
    ...['2024-01-01T00:00:00.000Z', '2024-02-29T23:59:59.999Z', '2024-03-01T12:34:56.789Z'],
    ...['2024-03-31T00:30:00.000Z', '2024-04-01T00:00:00.001Z', '2024-12-31T23:59:59.000Z'],
  )
  .map((text) => new Date(text))

const tag = (values: readonly string[]) =>
  fc.record({
    value: fc.constantFrom(...values),
    operator: fc.constantFrom('any' as const, 'eq' as const, 'notEq' as const, 'contains' as const),
  })
/** Filters on values that `filter` does not have. */
const otherFilter: fc.Arbitrary<Filter> = fc.oneof(
  fc.record(
    {
      type: fc.constant('utm_tags' as const),
      utm_medium: tag(['', 'a', 'é']),
      utm_content: tag(['', 'a', '%']),
    },
    { requiredKeys: ['type'] },
  ),
  tag(['a', 'true', '0', '', '{', 'é'.repeat(1_024)]).map((one) => ({
    type: 'event' as const,
    properties: [{ property: 'plan', ...one }],
  })),
  fc.constantFrom<Filter>(
    { type: 'location', city: { operator: 'oneOf', value: ['é'.repeat(1_024)] } },
    { type: 'os', operator: 'noneOf', value: ['Linux'] },
    { type: 'event', properties: [{ property: 'plan', operator: 'any', value: 'x' }] },
    { type: 'browser', operator: 'oneOf', value: ['Firefox', '😀'] },
  ),
)

/** A value in one of `n` cases, otherwise undefined. */
const oneIn = <T>(cases: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: cases - 1, arbitrary: fc.constant(undefined) }, arbitrary)

/** Groupings and orders that the other generators rarely or never produce. */
const otherGrouping = fc.constantFrom<Pick<PartialRequest, 'group_by' | 'order_by'>>(
  { group_by: ['utm_medium'], order_by: [] },
  { group_by: ['utm_content'], order_by: [['utm_content', 'desc']] },
  { group_by: ['event:prop:a.b'], order_by: [] },
  { group_by: ['weekday'], order_by: [['weekday', 'asc']] },
  { group_by: ['hour'], order_by: [] },
  { group_by: ['event:name'], order_by: [] },
  { group_by: ['event:name'], order_by: [['event:name', 'asc']] },
  { group_by: ['interval:auto'], order_by: [['date', 'desc']] },
  { group_by: ['interval:auto'], order_by: [['date', 'asc']] },
)
/** Further groupings. */
const SECOND: readonly ThenBy[] = [
  ...([
    'weekday',
    'hour',
    'country',
    'page:path',
    'event:name',
    'device_type',
    'utm_source',
    'page:origin',
  ] as const),
  'event:prop:plan',
]
const ONE_CURRENCY: Filter = {
  type: 'event',
  properties: [{ property: 'currency', operator: 'eq', value: 'EUR' }],
}
/** Metrics over numbers, which are amounts in one currency or no amounts of money. */
const numericMetrics = fc.record({
  metrics: fc.array(
    fc.record({
      metric: fc.constantFrom(
        ...(listEnumValues(document, 'NumericFunction') as readonly NumericMetric['metric'][]),
      ),
      of: fc.constantFrom('event:prop:amount' as const, 'event:prop:amount', 'event:prop:plan'),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  isMoney: fc.nat(3).map((n) => n === 0),
  isFirst: fc.boolean(),
  order: oneIn(3, fc.constantFrom('asc' as const, 'desc' as const)),
})

type Numbers = typeof numericMetrics extends fc.Arbitrary<infer One> ? One : never

/** Adds metrics over numbers, if there are some. */
function addNumbers(asked: PartialRequest, numbers: Numbers | undefined): PartialRequest {
  if (numbers === undefined) return asked
  const { isMoney, isFirst, order } = numbers
  const added = numbers.metrics.map((metric, i): NumericMetric => ({
    ...metric,
    as: `number_${i}`,
    ...(isMoney ? {} : { money: false }),
  }))
  const names = asked.metrics ?? []
  return {
    ...asked,
    metrics: isFirst ? [...added, ...names] : [...names, ...added],
    ...(isMoney ? { filters: [ONE_CURRENCY] } : {}),
    ...(order === undefined ? {} : { order_by: [['number_0', order]] }),
  }
}
const goalMetrics = fc.record({
  goals: fc.tuple(
    ...['buy', 'read'].map((goal) =>
      fc
        .array(fc.oneof({ weight: 3, arbitrary: filter }, otherFilter), {
          minLength: 1,
          maxLength: 2,
        })
        .map((filters) => ({ goal, filters, value: 'event:prop:amount' as const })),
    ),
  ),
  metrics: fc.array(
    fc.record({
      metric: fc.constantFrom(
        ...(listEnumValues(document, 'GoalFunction') as readonly GoalMetric['metric'][]),
      ),
      goal: fc.nat(1),
      isOfVisits: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  isFirst: fc.boolean(),
  order: oneIn(3, fc.constantFrom('asc' as const, 'desc' as const)),
})

type Goals = typeof goalMetrics extends fc.Arbitrary<infer One> ? One : never

/** Adds metrics of goals, as they are once the goals have been looked up. */
function addGoals(asked: PartialRequest, drawn: Goals | undefined): PartialRequest {
  if (drawn === undefined) return asked
  const { goals, isFirst, order } = drawn
  const added = drawn.metrics.map(({ metric, goal, isOfVisits }, i): GoalMetric => ({
    metric,
    goal: goals[goal]!.goal,
    as: `${metric}_${i}`,
    ...(metric === 'conversion_rate' && isOfVisits ? { of: 'visits' } : {}),
    ...(metric === 'value' ? { money: false } : {}),
    ...{ filters: goals[goal]!.filters, value: goals[goal]!.value },
  }))
  const names = asked.metrics ?? []
  return {
    ...asked,
    metrics: isFirst ? [...added, ...names] : [...names, ...added],
    ...(order === undefined ? {} : { order_by: [[added[0]!.as, order]] }),
  }
}

/** Filters of segments, as they are once these have been looked up. */
const segment: fc.Arbitrary<Filter> = fc
  .tuple(fc.array(fc.oneof(filter, otherFilter), { minLength: 1, maxLength: 2 }), fc.boolean())
  .map(([filters, isNegated]) => {
    const one: Filter = { type: 'segment', value: 'mobile-de', filters }
    return isNegated ? { type: 'group', operator: 'not', filters: [one] } : one
  })

const rowChoice = fc.record({
  having: oneIn(
    4,
    fc.tuple(
      fc.nat(),
      fc.constantFrom(...(listEnumValues(document, 'HavingOperator') as readonly HavingOperator[])),
      fc.constantFrom(0, 1, 2, 5, 50, 33.33, 0.3, -5.5),
    ),
  ),
  against: oneIn(3, fc.tuple(fc.nat(), fc.constantFrom('change', 'difference'), fc.boolean())),
  isLost: fc.nat(2).map((n) => n === 0),
})

type RowChoice = typeof rowChoice extends fc.Arbitrary<infer One> ? One : never

/** Adds conditions on rows, an order by how they differ from the other period, and lost groups, where a request can have these. */
function chooseRows(asked: PartialRequest, { having, against, isLost }: RowChoice): PartialRequest {
  const { metrics = [], compare, group_by: [token] = [], then_by } = asked
  const names = metrics.map((metric) => (typeof metric === 'string' ? metric : metric.as))
  const pick = (n: number): string => names[n % names.length]!
  if (names.length === 0) return asked
  const isSeries = token?.startsWith('interval:') === true
  const canCompare = compare !== undefined && !(isSeries && then_by !== undefined)
  return {
    ...asked,
    ...(having === undefined ? {} : { having: [[pick(having[0]), having[1], having[2]]] }),
    ...(canCompare && against !== undefined
      ? { order_by: [[`${against[1]}:${pick(against[0])}`, against[2] ? 'asc' : 'desc']] }
      : {}),
    ...(canCompare && isLost && token !== undefined && !isSeries
      ? { include: { ...asked.include, lost: true } }
      : {}),
  }
}
const anyFilters = fc.array(fc.oneof(filter, otherFilter, segment), { minLength: 1, maxLength: 3 })

const anyRequest: fc.Arbitrary<PartialRequest> = fc
  .tuple(
    fc.oneof(
      { weight: 2, arbitrary: request },
      { weight: 2, arbitrary: rollupRequest },
      { weight: 1, arbitrary: attributeRequest },
    ),
    oneIn(3, preset),
    oneIn(4, anyFilters),
    oneIn(6, otherGrouping),
    oneIn(2, fc.constant({ limit: 1000, offset: 0 })),
    oneIn(20, fc.constant({ metrics: [], order_by: [] })),
    oneIn(4, comparison),
  )
  .map(([asked, date_range, filters, grouping, page, defaults, compared]) => ({
    ...asked,
    ...(date_range === undefined ? {} : { date_range }),
    ...(filters === undefined ? {} : { filters }),
    ...grouping,
    ...page,
    ...defaults,
    ...compared,
  }))
  .chain(addThenBy(SECOND, 4))
  .chain((asked) => oneIn(3, numericMetrics).map((numbers) => addNumbers(asked, numbers)))
  .chain((asked) => oneIn(3, goalMetrics).map((goals) => addGoals(asked, goals)))
  .chain((asked) => rowChoice.map((choice) => chooseRows(asked, choice)))

/** Series of groups that no visit is in, compared, with metrics of visits alone: nothing is counted for them. */
const seriesWithoutVisits: fc.Arbitrary<PartialRequest> = fc
  .record({
    date_range: preset,
    metrics: fc.subarray(['visits', 'bounce_rate', 'visit_duration'] as const, { minLength: 1 }),
    group_by: fc.constantFrom('interval:auto' as const, 'interval:month' as const),
    then_by: fc.constantFrom('event:name' as const, 'event:prop:plan' as const),
    include: fc.constantFrom({ totals: true }, { totals: false }),
    compared: comparison,
  })
  .map(({ group_by, then_by, compared, ...asked }) => ({
    ...asked,
    group_by: [group_by],
    then_by: [then_by],
    ...compared,
  }))

/** Series by minute and by 15 minutes, of periods whose ends have offsets from UTC. */
const minutes: fc.Arbitrary<PartialRequest> = fc
  .record({
    date_range: fc.constantFrom<PartialRequest['date_range']>(
      ['2024-03-01', '2024-03-01'],
      ['2024-02-29T12:00:30+02:00', '2024-03-01T09:00:29Z'],
      ['2024-03-31T00:30:00+05:30', '2024-03-31T03:00:00+01:00'],
      '1hr',
    ),
    interval: fc.constantFrom(
      { group_by: ['interval:minute'] as const, offset: 300 },
      { group_by: ['interval:15minutes'] as const, offset: 20 },
    ),
    metrics: fc.subarray(['users', 'visits', 'new_users', 'events'] as const, { minLength: 1 }),
    zone: fc.option(fc.constantFrom('Europe/Berlin', 'Asia/Kathmandu'), { nil: undefined }),
    compared: fc.constantFrom(
      { compare: 'previous_period' as const },
      { compare: 'previous_year' as const },
      {},
    ),
  })
  .map(({ interval, zone, compared, ...asked }) => ({
    ...asked,
    ...interval,
    limit: 1000,
    ...(zone === undefined ? {} : { time_zone: zone }),
    ...compared,
  }))

/** Random questions, each kind with its weight. */
export const question: fc.Arbitrary<Question> = fc.noBias(
  fc.record({
    asked: fc.oneof(
      { weight: 9, arbitrary: anyRequest },
      { weight: 1, arbitrary: seriesWithoutVisits },
      { weight: 1, arbitrary: minutes },
      { weight: 2, arbitrary: goalRequest },
    ),
    now: moment,
    isLarge: fc.boolean(),
  }),
)
