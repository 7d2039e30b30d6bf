/** Random events and queries for the rollups: visits around the ends of months, and periods of whole days and months. */
import fc from 'fast-check'
import type {
  Dimension,
  Filter,
  GroupBy,
  Interval,
  ListClause,
  ThenBy,
} from '../../../src/contract/api.js'
import { SUMMED_DIMENSIONS } from '../../../src/model/number-sums.js'
import { PAIRS } from '../../../src/model/pairs.js'
import {
  addInclude,
  event,
  filter,
  groupOf,
  INTERVALS,
  METRICS,
  stringClause,
  visitOf,
} from './world.js'
import { chooseComparison } from './comparisons.js'
import type { PartialRequest, SentEvent } from '../world/world.js'
import { chooseZone } from '../world/zones.js'
import { addThenBy } from './then-by.js'

const DAY = 86_400_000
const MINUTE = 60_000

/** Four months with a leap day: visits around the ends of days, months and the year, and in between. */
const DAYS = [
  '2023-12-31',
  '2024-01-01',
  '2024-01-15',
  '2024-02-28',
  '2024-02-29',
  '2024-03-01',
  '2024-03-31',
]
const moment = fc
  .tuple(
    fc.constantFrom(...DAYS),
    fc.integer({ min: -5, max: 6 }),
    fc.constantFrom(0, 0, 1, -1, 12_345, 29 * MINUTE),
  )
  .map(([day, halves, off]) => new Date(Date.parse(day) + halves * 30 * MINUTE + off).toISOString())

const LETTERS = 'abcdefghijkl'.split('')
const MANY_VALUES = ['', ...LETTERS]
const PATHS = ['', '/', ...LETTERS.map((name) => `/${name}`), '/a%', "/it's"]
const NAMES = ['pageview', 'pageview', 'pageview', 'signup', 'Signup', "it's"]
const PLANS = ['', 'pro', 'Pro', 'free', 'f%', '1', 'true']
const COUNTRIES = ['', 'DE', 'FR', 'US']
/** Events that one user repeats, so that some groups have many events and few users. */
const BUSY_EVENTS = [
  { user_id: 'u1', path: '/', city: 'a', utm_campaign: 'a' },
  { user_id: 'u1', path: '/a', city: 'b', utm_campaign: 'b' },
]

/**
 * An event whose session may continue in any batch, by time or by session id. Session attributes vary from
 * event to event: a late event that comes first in its session changes the attributes its user is counted by.
 */
export const rollupEvent: fc.Arbitrary<SentEvent> = fc
  .tuple(
    event,
    fc.record({
      timestamp: moment,
      event_id: fc.oneof(
        { weight: 4, arbitrary: fc.constant('') },
        { weight: 1, arbitrary: fc.nat(30).map(String) },
      ),
      user_id: fc.constantFrom('u1', 'u2', 'u3', 'u4', 'u5', 'u6', 'u7', 'ü8'),
      session_id: fc.constantFrom('', '', '', '', '', '', 's'),
      name: fc.constantFrom(...NAMES),
      path: fc.constantFrom(...PATHS),
      country: fc.constantFrom(...COUNTRIES),
      city: fc.constantFrom(...MANY_VALUES),
      utm_campaign: fc.constantFrom(...MANY_VALUES),
    }),
    fc.option(fc.record({ plan: fc.constantFrom(...PLANS) }), { nil: {} }),
    fc.constantFrom({}, {}, ...BUSY_EVENTS),
  )
  .map(([base, own, properties, crowded]) => ({
    ...base,
    ...own,
    ...crowded,
    properties: { ...(base['properties'] as object | undefined), ...properties },
  }))

/** The first and the last day of months and years. */
export const WHOLE_PERIODS = [
  ['2024-02-01', '2024-02-29'],
  ['2024-01-01', '2024-03-31'],
  ['2023-12-01', '2024-04-30'],
  ['2024-01-01', '2024-12-31'],
  ['2023-01-01', '2024-12-31'],
] as const
const STARTS = ['2023-12-01', '2024-01-01', '2024-02-01', '2024-03-01', '2024-04-01']

const day = fc
  .oneof(
    fc.integer({ min: -4, max: 95 }).map((days) => Date.parse('2024-01-01') + days * DAY),
    fc.constantFrom(...DAYS).map((date) => Date.parse(date)),
  )
  .map((at) => new Date(at).toISOString().slice(0, 10))
const second = fc.oneof(
  moment.map((at) => `${at.slice(0, 19)}Z`),
  fc
    .tuple(day, fc.constantFrom('00:00:00', '00:00:01', '12:00:00', '23:59:58', '23:59:59'))
    .map(([date, time]) => `${date}T${time}Z`),
)
const start = fc.constantFrom(...STARTS)

/** A random period; some lie within one day. */
const range: fc.Arbitrary<readonly [string, string]> = fc
  .oneof(
    { weight: 3, arbitrary: fc.constantFrom(...WHOLE_PERIODS) },
    { weight: 2, arbitrary: fc.tuple(start, day) },
    { weight: 2, arbitrary: fc.tuple(day, day) },
    { weight: 3, arbitrary: fc.tuple(fc.oneof(start, day), second) },
    { weight: 3, arbitrary: fc.tuple(second, fc.oneof(day, second)) },
    { weight: 1, arbitrary: day.map((one) => [one, one] as const) },
  )
  .filter(([from, to]) => Date.parse(from) <= endOf(to))

const endOf = (text: string): number => Date.parse(text) + (text.includes('T') ? 0 : DAY - 1_000)

const list = (values: readonly string[]): fc.Arbitrary<ListClause> =>
  fc.record({
    value: fc.array(fc.constantFrom(...values), { maxLength: 3 }),
    operator: fc.constantFrom('oneOf' as const, 'noneOf' as const),
  })

/** For dimensions: filters on one alone. Rollups do not count by channels and pages of visits. */
const FILTERS: Readonly<Partial<Record<GroupBy, fc.Arbitrary<Filter>>>> = {
  country: list(COUNTRIES).map((country) => ({ type: 'location', country })),
  city: list(MANY_VALUES).map((city) => ({ type: 'location', city })),
  'page:origin': stringClause(['', 'https://example.com', 'blog']).map((origin) => ({
    type: 'page',
    origin,
  })),
  'page:path': stringClause(PATHS).map((path) => ({ type: 'page', path })),
  browser: list(MANY_VALUES).map((one) => ({ type: 'browser', ...one })),
  device_type: list(['', 'desktop', 'mobile']).map((one) => ({ type: 'device', ...one })),
  region: list(['', 'DE-BE', 'é']).map((one) => ({ type: 'region', ...one })),
  language: list(['', 'de']).map((one) => ({ type: 'language', ...one })),
  os: list(['', 'a', 'A']).map((one) => ({ type: 'os', ...one })),
  referrer: stringClause(['', 'a', '%', '😀']).map((one) => ({ type: 'referrer', ...one })),
  referrer_type: list(['search', 'social', 'direct']).map((one) => ({
    type: 'referrer_type',
    ...one,
  })),
  channel: list(['Direct', 'Organic Social', 'Other', 'x']).map((one) => ({
    type: 'channel',
    ...one,
  })),
  utm_source: stringClause(['', 'a', '_']).map((utm_source) => ({ type: 'utm_tags', utm_source })),
  utm_campaign: stringClause(MANY_VALUES).map((utm_campaign) => ({
    type: 'utm_tags',
    utm_campaign,
  })),
  'page:entry': stringClause(PATHS).map((one) => ({ type: 'entry_page', ...one })),
  'page:exit': stringClause(PATHS).map((one) => ({ type: 'exit_page', ...one })),
  'event:name': stringClause([...NAMES, 'sign', '']).map((name) => ({ type: 'event', name })),
  'event:prop:plan': fc
    .array(stringClause(PLANS), { minLength: 1, maxLength: 2 })
    .map((clauses) => ({
      type: 'event',
      properties: clauses.map((one) => ({ property: 'plan', ...one })),
    })),
}
const FILTERED_DIMENSIONS = Object.keys(FILTERS) as readonly GroupBy[]
/** Filters that are hard without grouping by the same dimension: events may lack a property, visits have many pages. */
const TRICKY_FILTERS: readonly GroupBy[] = ['event:prop:plan', 'event:prop:plan', 'page:path']
const filteredDimension = fc.oneof(
  fc.constantFrom(...FILTERED_DIMENSIONS),
  fc.constantFrom(...TRICKY_FILTERS),
)
const HIGH_CARDINALITY_GROUPS: readonly GroupBy[] = [
  'page:path',
  'page:path',
  'event:prop:plan',
  'event:prop:plan',
  'city',
  'referrer',
  'utm_campaign',
]
const grouping: fc.Arbitrary<readonly GroupBy[]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 3, arbitrary: fc.constant(['interval:auto'] as const) },
  { weight: 10, arbitrary: fc.constantFrom(...HIGH_CARDINALITY_GROUPS).map((token) => [token]) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(...FILTERED_DIMENSIONS, 'utm_term' as const).map((token) => [token]),
  },
)

/** Filters of a kind; one in five is a group of them. */
const withGroups = (one: fc.Arbitrary<Filter>): fc.Arbitrary<Filter> =>
  fc.oneof({ weight: 4, arbitrary: one }, { weight: 1, arbitrary: groupOf(one) })
/** Filters on one dimension alone. */
export const filterBy = (name: GroupBy): fc.Arbitrary<Filter> => withGroups(FILTERS[name]!)

/** No filters, filters on the dimension that is grouped by (on any one dimension without a grouping), or any filters. */
function filtersFor([token]: readonly GroupBy[]): fc.Arbitrary<readonly Filter[]> {
  const own = token === undefined ? undefined : FILTERS[token]
  const one = own === undefined ? filteredDimension.chain(filterBy) : withGroups(own)
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 5, arbitrary: fc.array(one, { minLength: 1, maxLength: own === undefined ? 1 : 2 }) },
    { weight: 1, arbitrary: fc.array(filter, { minLength: 1, maxLength: 2 }) },
  )
}

/** Small pages of groups; all rows of a time series or an aggregate. */
const pageFor = ([token]: readonly GroupBy[]): fc.Arbitrary<
  Pick<PartialRequest, 'limit' | 'offset'>
> =>
  token === undefined || token === 'interval:auto'
    ? fc.constant({ limit: 1000, offset: 0 })
    : fc.record({
        limit: fc.constantFrom(1, 2, 3, 1000),
        offset: fc.constantFrom(0, 0, 0, 1, 4),
      })

/** Intervals of which no period has too many buckets; most often the one whose size follows from the period. */
const SERIES: readonly Interval[] = [
  ...INTERVALS.filter((token) => token !== 'interval:hour'),
  ...Array.from({ length: 4 }, () => 'interval:auto' as const),
]

/** Makes intervals of `interval:auto`. No further draw is needed, so other random requests stay as they are. */
const varyInterval = (group_by: readonly GroupBy[], pick: number): readonly GroupBy[] =>
  group_by.map((token) =>
    token === 'interval:auto' ? (SERIES[pick % SERIES.length] ?? token) : token,
  )

const anyRequest = grouping.chain((group_by) =>
  fc
    .record({
      date_range: range,
      others: fc.uniqueArray(fc.constantFrom(...METRICS), { minLength: 1 }),
      asksForUsers: fc.constantFrom(true, true, true, true, false),
      filters: filtersFor(group_by),
      filtersOperator: fc.constantFrom('and' as const, 'or' as const),
      page: pageFor(group_by),
      pick: fc.nat(),
      direction: fc.constantFrom('desc' as const, 'desc' as const, 'asc' as const),
    })
    .map(({ others, asksForUsers, page, pick, direction, ...drawn }) => {
      const asked = { ...drawn, group_by: varyInterval(group_by, pick) }
      const metrics = asksForUsers
        ? ['users' as const, ...others.filter((one) => one !== 'users')]
        : others
      const fields = [
        ...(asksForUsers ? ['users', 'users', 'users'] : []),
        ...metrics,
        ...asked.group_by,
      ]
      const order_by = [[fields[pick % fields.length]!, direction] as const]
      const zone = pick % 8 === 7 ? chooseZone(asked.date_range, pick) : {}
      return { ...asked, ...page, metrics, order_by, ...zone, ...chooseComparison(pick) }
    })
    .chain(addInclude),
)

/** Random requests. Without fast-check's bias towards small values, every kind keeps its weight. */
export const rollupRequest: fc.Arbitrary<PartialRequest> = fc.noBias(
  anyRequest.chain(addThenBy(FILTERED_DIMENSIONS as readonly ThenBy[], 14)),
)

/** The session attributes among the dimensions. */
const SESSION_ATTRIBUTES = FILTERED_DIMENSIONS.filter(
  (name) => !['page:path', 'page:origin'].includes(name) && !name.startsWith('event:'),
)
const attribute = fc.constantFrom(...SESSION_ATTRIBUTES)

/** Random requests that look only at session attributes, at two of them more often than not. */
export const attributeRequest: fc.Arbitrary<PartialRequest> = fc.noBias(
  fc
    .tuple(
      anyRequest,
      fc.oneof(
        { weight: 1, arbitrary: fc.constant([]) },
        { weight: 3, arbitrary: fc.tuple(attribute) },
      ),
      fc.array(
        fc.oneof(
          { weight: 7, arbitrary: attribute.chain(filterBy) },
          { weight: 1, arbitrary: visitOf(filter) },
        ),
        { maxLength: 2 },
      ),
    )
    .map(([asked, group_by, filters]): PartialRequest => ({
      ...asked,
      group_by,
      filters,
      order_by: [],
    }))
    .chain(addThenBy(SESSION_ATTRIBUTES as readonly ThenBy[], 5)),
)

/** The pairs whose two dimensions can both be filtered by here. */
const FILTERED_PAIRS = PAIRS.filter(({ of, by }) => of in FILTERS && by in FILTERS) as readonly {
  readonly of: Dimension
  readonly by: Dimension
}[]

/** Random requests that look at the two dimensions of a pair: as groups, in filters, or both. */
export const pairRequest: fc.Arbitrary<PartialRequest> = fc.noBias(
  fc.constantFrom(...FILTERED_PAIRS).chain(({ of, by }) =>
    fc
      .tuple(
        anyRequest,
        fc.oneof(
          { weight: 2, arbitrary: fc.constantFrom(...WHOLE_PERIODS) },
          { weight: 1, arbitrary: range },
        ),
        fc.constantFrom<Pick<PartialRequest, 'group_by' | 'then_by'>>(
          { group_by: [of] },
          { group_by: [of] },
          { group_by: [by] },
          { group_by: [] },
          { group_by: ['interval:month'] },
          { group_by: [of], then_by: [by] },
        ),
        fc.tuple(filterBy(of), filterBy(by)),
        fc.boolean(),
      )
      .map(([asked, date_range, grouping, [ofFilter, byFilter], isBoth]): PartialRequest => {
        const [first] = grouping.group_by ?? []
        const other = first === by ? ofFilter : byFilter
        const isPart = first !== of && first !== by
        const { metrics, limit = 1000, offset = 0, filtersOperator } = asked
        return {
          ...{ metrics, limit, offset, filtersOperator },
          ...grouping,
          date_range,
          filters: isBoth || isPart ? [ofFilter, byFilter] : [other],
          order_by: [],
        }
      }),
  ),
)

const SUMMED = SUMMED_DIMENSIONS.filter((name) => name in FILTERS)

/** Random requests for numbers, in all or by a dimension by which they are summed: as group, in filters, or both. */
export const sumsRequest: fc.Arbitrary<PartialRequest> = fc.noBias(
  fc.constantFrom(...SUMMED).chain((dimension) =>
    fc
      .record({
        date_range: fc.oneof(
          { weight: 2, arbitrary: fc.constantFrom(...WHOLE_PERIODS) },
          { weight: 1, arbitrary: range },
        ),
        grouping: fc.constantFrom<Pick<PartialRequest, 'group_by' | 'then_by'>>(
          { group_by: [dimension] },
          { group_by: [dimension] },
          { group_by: [] },
          { group_by: ['interval:month'] },
          { group_by: ['interval:month'], then_by: [dimension] },
        ),
        metrics: fc.uniqueArray(fc.constantFrom('sum', 'avg', 'count', 'max', 'p75'), {
          minLength: 1,
          maxLength: 3,
        }),
        property: fc.constantFrom('event:prop:amount' as const, 'event:prop:plan' as const),
        filters: fc.oneof(fc.constant([]), fc.tuple(filterBy(dimension))),
        pick: fc.nat(),
      })
      .map(({ grouping, metrics, property, date_range, filters, pick }): PartialRequest => ({
        ...{ date_range, filters, ...grouping, ...chooseComparison(pick) },
        metrics: metrics.map((metric) => ({ metric, of: property, as: metric, money: false })),
        limit: 1000,
      })),
  ),
)
