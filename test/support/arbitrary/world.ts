/** Random events and requests over few values, so that filters and groups often match. */
import { FILTER_FIELD_NAMES } from '../../../src/contract/filter-fields.js'
import fc from 'fast-check'
import type {
  Dimension,
  Filter,
  StringClause,
  GroupBy,
  Interval,
  Metric,
  ThenBy,
} from '../../../src/contract/api.js'
import { listEnumValues, readSpec } from '../../../src/contract/spec.js'
import type { PartialRequest, SentEvent } from '../world/world.js'
import { chooseZone } from '../world/zones.js'
import { addThenBy } from './then-by.js'

const DAY = 86_400_000
const MINUTE = 60_000

/** Values with the special characters of patterns and of quoting. */
const VALUES = [
  '',
  'a',
  'A',
  'ab',
  '%',
  '_',
  '*',
  '\\',
  "'",
  '`',
  '"',
  'a\tb',
  'é',
  'É',
  'ος',
  'ΟΣ',
  'ß',
  'ẞ',
  'İ',
  '\u212a',
  'k',
  '😀',
  '{p0:String}',
]
const value = fc.constantFrom(...VALUES)
const COUNTRIES = ['', 'DE', 'FR', 'US']
const PATHS = ['', '/', '/a', '/a%', '/a_b', '/b\\', '/ü', '/%2Fa']
const NAMES = ['pageview', 'pageview', 'pageview', 'pageleave', 'signup', 'Signup', "it's"]
const PROPERTIES = ['plan', '', 'a.b', '__proto__', '😀'].filter((name) => name !== '')
const { document } = readSpec('openapi')
/** Every metric of the contract. */
export const METRICS = listEnumValues(document, 'Metric') as readonly Metric[]
/** The intervals of the contract that suit any period. */
export const INTERVALS = (listEnumValues(document, 'Interval') as readonly Interval[]).filter(
  (interval) => interval !== 'interval:minute' && interval !== 'interval:15minutes',
)
const VALUE_GROUPINGS: readonly ThenBy[] = [
  ...(listEnumValues(document, 'Dimension') as readonly Dimension[]),
  'event:prop:plan',
  'event:prop:__proto__',
  'event:prop:nobody',
]
const GROUPINGS: readonly GroupBy[] = [...INTERVALS, ...VALUE_GROUPINGS]

/** Moments around boundaries: midnight, ends of months, a leap day, pauses of exactly half an hour. */
const moment = fc
  .tuple(
    fc.constantFrom('2024-02-29', '2024-03-01', '2024-03-31', '2024-12-31', '2025-01-01'),
    fc.integer({ min: -4, max: 6 }),
    fc.constantFrom(0, 0, 1, -1, 1_000, 12_345, 29 * MINUTE),
  )
  .map(([day, halves, off]) => new Date(Date.parse(day) + halves * 30 * MINUTE + off))

/** Names the referrer of an event with a referrer URL, so that DuckDB needs no list of referrers. */
const nameReferrer = (referrer = ''): string => (referrer === '' ? 'x' : referrer)

/** What an event says of where it came from. The type is given, so that none is derived from the source. */
const campaign = fc.constantFrom<Readonly<Record<string, string>>>(
  ...Array<Readonly<Record<string, string>>>(12).fill({}),
  { referrer_type: 'paid', utm_source: 'Google', utm_medium: 'cpc' },
  { referrer_type: 'paid', utm_source: 'facebook-ads' },
  { referrer_type: 'paid', utm_source: '', referrer: 'Google' },
  { referrer_type: 'paid', utm_source: 'a', utm_medium: 'Paid-Social' },
  { referrer_type: 'paid', utm_source: '_', utm_medium: 'sem' },
  { referrer_type: 'paid', utm_source: 'ab' },
  { referrer_type: 'email' },
  { referrer_type: 'llm', utm_source: 'google' },
  { referrer_type: 'unknown', utm_medium: 'Referral' },
  { referrer_type: 'unknown', referrer: 'ab' },
  { referrer_type: 'mine' },
)
const CHANNELS = listEnumValues(document, 'Channel')

export const event: fc.Arbitrary<SentEvent> = fc
  .record(
    {
      at: moment,
      event_id: fc.constantFrom('1', '2', '3', '4', '5', '6', '7', '8'),
      user_id: fc.constantFrom('u1', 'u2', 'u3', 'ü4'),
      session_id: fc.constantFrom('s1', 's2'),
      name: fc.constantFrom(...NAMES),
      anonymous: fc.boolean(),
      origin: fc.constantFrom('', 'https://example.com', 'https://blog.example.com'),
      path: fc.constantFrom(...PATHS),
      hash: value,
      country: fc.constantFrom(...COUNTRIES),
      city: value,
      region: fc.constantFrom('', 'DE-BE', 'de-be', 'é'),
      language: fc.constantFrom('', 'de', 'pt-BR', '😀'),
      browser: value,
      device_type: fc.constantFrom('', 'desktop', 'mobile', 'tablet'),
      os: value,
      referrer: value,
      referrer_url: fc.constantFrom('', 'https://www.google.com/', 'https://t.co/x'),
      referrer_type: fc.constantFrom('search', 'social'),
      utm_source: value,
      utm_campaign: value,
      campaign,
      properties: fc.dictionary(
        fc.constantFrom(...PROPERTIES),
        fc.oneof(value, fc.integer({ min: 0, max: 3 }), fc.boolean()),
        { maxKeys: 2 },
      ),
    },
    { requiredKeys: ['at', 'user_id', 'name', 'path'] },
  )
  .map(({ at, session_id, campaign: tags = {}, ...rest }): SentEvent => ({
    timestamp: at.toISOString(),
    ...rest,
    ...tags,
    ...(rest.referrer_url === undefined
      ? {}
      : { referrer: nameReferrer(rest.referrer), referrer_type: rest.referrer_type ?? 'social' }),
    ...(session_id === undefined ? {} : { session_id }),
  }))

const LITERAL_OPERATORS = [
  'any',
  'eq',
  'notEq',
  'contains',
  'notContains',
  'startsWith',
  'endsWith',
] as const
/** Patterns of every construct, each of which matches some of the values and not others. */
const PATTERNS = [
  ...['', 'a', '^/', '^/[ab]$', 'A|é|É', '(?i)SIGN', '.', '^.{1,2}$', '\\.', '[%_]', '[^a-c]$'],
  ...['^$', 'it.s', '\\pL', '(?:pro|f.ee)$', '^[^o]*$', '\\bpro\\b', 'p|(a|b)+$', '\\x{1F600}'],
  ...['a\\tb', '(?-s)a.b', 'Σ', '\\Q\\\\E', '^(?P<n>[a-m])', 'n?p$', '[[:upper:]]'],
]
const insensitive = fc.record(
  { caseSensitive: fc.constantFrom(false, false, true) },
  { requiredKeys: [] },
)
/** A clause with one of the values, or in one of seven cases with a pattern. */
export const stringClause = (values: readonly string[]): fc.Arbitrary<StringClause> =>
  fc
    .tuple(
      fc.oneof(
        {
          weight: 6,
          arbitrary: fc.record({
            value: fc.constantFrom(...values),
            operator: fc.constantFrom(...LITERAL_OPERATORS),
          }),
        },
        {
          weight: 1,
          arbitrary: fc.record({
            value: fc.constantFrom(...PATTERNS),
            operator: fc.constantFrom('matches' as const, 'notMatches' as const),
          }),
        },
      ),
      insensitive,
    )
    .map(([clause, sensitivity]) => ({ ...clause, ...sensitivity }))
const listClause = (values: readonly string[]) =>
  fc.record({
    value: fc.array(fc.constantFrom(...values), { maxLength: 3 }),
    operator: fc.constantFrom('oneOf' as const, 'noneOf' as const),
  })
const optional: { requiredKeys: ['type'] } = { requiredKeys: ['type'] }

/** Filters on what is known of a visit. Together they are as frequent as each of the others. */
const visitFilter: fc.Arbitrary<Filter> = fc.oneof(
  fc
    .tuple(fc.constantFrom('entry_page' as const, 'exit_page' as const), stringClause(PATHS))
    .map(([type, one]) => ({ type, ...one })),
  listClause([...CHANNELS, '']).map((one) => ({ type: 'channel' as const, ...one })),
  listClause(['', 'DE-BE', 'x']).map((one) => ({ type: 'region' as const, ...one })),
  listClause(['', 'de', 'pt-BR']).map((one) => ({ type: 'language' as const, ...one })),
)

/** Some values, some patterns or none, as the operator needs. */
const comparison = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      operator: fc.constantFrom(
        ...(['is', 'is_not', 'contains', 'contains_not', 'starts_with', 'ends_with'] as const),
      ),
      value: fc.array(fc.constantFrom(...VALUES, ...PATHS, ...COUNTRIES), { maxLength: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      operator: fc.constantFrom('matches' as const, 'matches_not' as const),
      value: fc.array(fc.constantFrom(...PATTERNS), { maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ operator: 'is_set' as const }) },
)
const sensitivity = fc.record(
  { case_sensitive: fc.constantFrom(false, false, true) },
  { requiredKeys: [] },
)

/** Filters that compare a field or a property with several values. */
const valueFilter: fc.Arbitrary<Filter> = fc
  .tuple(
    fc.oneof(
      { weight: 3, arbitrary: fc.record({ field: fc.constantFrom(...FILTER_FIELD_NAMES) }) },
      {
        weight: 1,
        arbitrary: fc.record({ property: fc.constantFrom(...PROPERTIES, 'nobody') }),
      },
    ),
    comparison,
    sensitivity,
  )
  .map(([compared, ...others]) => Object.assign({}, compared, ...others) as Filter)

const clockFilter: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({
    type: fc.constant('clock' as const),
    weekdays: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 6 }),
  }),
  fc.record({
    type: fc.constant('clock' as const),
    hours: fc.uniqueArray(fc.integer({ min: 0, max: 23 }), { minLength: 6, maxLength: 20 }),
  }),
)

const plainFilter: fc.Arbitrary<Filter> = fc.oneof(
  { weight: 3, arbitrary: valueFilter },
  fc.record(
    {
      type: fc.constant('page' as const),
      origin: stringClause(['', 'https://example.com', 'blog', '.com']),
      path: stringClause(PATHS),
      hash: stringClause(VALUES),
    },
    optional,
  ),
  fc.record(
    {
      type: fc.constant('event' as const),
      name: stringClause([...NAMES, 'sign', '']),
      properties: fc.array(
        fc
          .tuple(fc.constantFrom(...PROPERTIES, 'nobody'), stringClause([...VALUES, '1', 'true']))
          .map(([property, clause]) => ({ property, ...clause })),
        { maxLength: 2 },
      ),
    },
    optional,
  ),
  fc.record({ type: fc.constant('user' as const), anonymous: fc.boolean() }),
  clockFilter,
  fc.record(
    {
      type: fc.constant('location' as const),
      country: listClause(COUNTRIES),
      city: listClause(VALUES),
    },
    optional,
  ),
  fc.tuple(stringClause(VALUES)).map(([one]) => ({ type: 'referrer' as const, ...one })),
  stringClause(['', 'google', 'https://', 'https://t.co/x']).map((one) => ({
    type: 'referrer_url' as const,
    ...one,
  })),
  listClause(['search', 'social', 'direct', 'unknown']).map((one) => ({
    type: 'referrer_type' as const,
    ...one,
  })),
  fc.record(
    {
      type: fc.constant('utm_tags' as const),
      utm_source: stringClause(VALUES),
      utm_campaign: stringClause(VALUES),
      utm_term: stringClause(VALUES),
    },
    optional,
  ),
  listClause(VALUES).map((one) => ({ type: 'browser' as const, ...one })),
  listClause(['', 'desktop', 'mobile']).map((one) => ({ type: 'device' as const, ...one })),
  listClause(VALUES).map((one) => ({ type: 'os' as const, ...one })),
  visitFilter,
)

/** Groups of one or two filters. */
export const groupOf = (inner: fc.Arbitrary<Filter>): fc.Arbitrary<Filter> =>
  fc.record({
    type: fc.constant('group' as const),
    operator: fc.constantFrom('and' as const, 'or' as const, 'not' as const),
    filters: fc.array(inner, { minLength: 1, maxLength: 2 }),
  })
/** Visits with an event that satisfies one or two filters. */
export const visitOf = (inner: fc.Arbitrary<Filter>): fc.Arbitrary<Filter> =>
  fc
    .array(inner, { minLength: 1, maxLength: 2 })
    .map((filters) => ({ type: 'visit' as const, filters }))
const negation = (inner: fc.Arbitrary<Filter>): fc.Arbitrary<Filter> =>
  inner.map((one) => ({ type: 'group', operator: 'not', filters: [one] }))

/** A filter; one in four is a group or a visit. */
export const filter: fc.Arbitrary<Filter> = fc.oneof(
  { weight: 12, arbitrary: plainFilter },
  { weight: 1, arbitrary: groupOf(plainFilter) },
  { weight: 1, arbitrary: groupOf(fc.oneof(plainFilter, negation(groupOf(plainFilter)))) },
  { weight: 1, arbitrary: visitOf(plainFilter) },
  { weight: 1, arbitrary: negation(visitOf(groupOf(plainFilter))) },
)

const day = fc
  .integer({ min: 0, max: 410 })
  .map((days) => new Date(Date.parse('2024-01-10') + days * DAY))
const end = fc
  .tuple(fc.oneof(moment, day), fc.boolean())
  .map(([at, dateOnly]) =>
    dateOnly ? at.toISOString().slice(0, 10) : `${at.toISOString().slice(0, 19)}Z`,
  )

const dateRange: fc.Arbitrary<readonly [string, string]> = fc
  .tuple(end, end)
  .filter(([a, b]) => startOf(a) <= endOf(b))

const startOf = (text: string): number => Date.parse(text)
const endOf = (text: string): number => Date.parse(text) + (text.includes('T') ? 1_000 : DAY) - 1

/** Members that few requests have: one in `n` asks for the totals. */
export const addInclude = <Request extends PartialRequest>(
  asked: Request,
): fc.Arbitrary<Request & Pick<PartialRequest, 'include'>> =>
  fc
    .constantFrom({ totals: true }, { totals: false }, {}, ...Array<undefined>(5))
    .map((include) => (include === undefined ? asked : { ...asked, include }))

export const request: fc.Arbitrary<PartialRequest> = fc
  .record({
    date_range: dateRange,
    metrics: fc.uniqueArray(fc.constantFrom(...METRICS), { minLength: 1 }),
    group_by: fc.oneof(
      { weight: 1, arbitrary: fc.constant([] as GroupBy[]) },
      { weight: 4, arbitrary: fc.constantFrom(...GROUPINGS).map((token) => [token]) },
    ),
    filters: fc.array(filter, { maxLength: 3 }),
    filtersOperator: fc.constantFrom('and' as const, 'or' as const),
    limit: fc.constantFrom(1, 3, 1000),
    offset: fc.constantFrom(0, 0, 1, 2),
    order: fc.tuple(fc.nat(), fc.constantFrom('asc' as const, 'desc' as const)),
  })
  .map(({ order: [pick, direction], ...asked }) => {
    const token = asked.group_by[0]
    const fields = [...asked.metrics, ...(token === undefined ? [] : [token])]
    const field = fields[pick % (fields.length + 1)]
    const zone = pick % 4 === 3 ? chooseZone(asked.date_range, pick) : {}
    return {
      ...asked,
      order_by: field === undefined ? [] : [[field, direction] as const],
      ...zone,
    }
  })
  .chain(addInclude)
  .chain(addThenBy(VALUE_GROUPINGS, 4))
