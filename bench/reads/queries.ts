/** The queries: the requests to the service, and the columns for the same query on the facts. */
import type { AnalyticsQueryRequest } from '../../src/contract/api.js'
import { sql, string, TRUE, type Sql } from '../../src/clickhouse/sql.js'
import { fillDefaults } from '../../test/support/world/world.js'
import { LARGE, SMALL } from './generate.js'
import { COMPOSED, MONTH, QUARTER, YEAR, type BenchPeriod } from './periods.js'

/** A query without its project and period. */
export interface Shape {
  readonly name: string
  readonly request: Partial<AnalyticsQueryRequest>
  /** Writes the key that groups events; absent for a total. */
  readonly event?: (period: BenchPeriod) => Sql
  /** The same for `sessions`. Absent next to `event` when the result needs no visits. */
  readonly visit?: (period: BenchPeriod) => Sql
  /** The same for the events of one visit, as an aggregate. */
  readonly visitOfEvents?: (period: BenchPeriod) => Sql
  /** The conditions for events and visits. */
  readonly isEvent: Sql
  readonly isVisit: Sql
  /** Whether rows are buckets in order of time, empty ones included. */
  readonly isSeries?: boolean
  /** The order of the rows by hand. Absent: by users, or with empty buckets in order of time. */
  readonly order?: Sql
}

export interface BenchQuery {
  readonly project: string
  readonly period: BenchPeriod
  readonly shape: Shape
  /** Whether the usual statements are measured, too. */
  readonly hasUsual: boolean
}

/** Groups by a column that has the same value in all events of a session. */
const groupByAttribute = (
  name: string,
  column: Sql,
  group: AnalyticsQueryRequest['group_by'][number],
): Shape => ({
  name,
  request: { group_by: [group] },
  event: () => column,
  visit: () => column,
  visitOfEvents: () => sql`any(${column})`,
  isEvent: TRUE,
  isVisit: TRUE,
})

const TOTAL: Shape = { name: 'total', request: {}, isEvent: TRUE, isVisit: TRUE }
const SERIES: Shape = {
  name: 'interval:auto',
  request: { group_by: ['interval:auto'] },
  event: ({ bucket }) => bucket(sql`timestamp`),
  visit: ({ bucket }) => bucket(sql`start_at`),
  visitOfEvents: ({ bucket }) => bucket(sql`min(timestamp)`),
  isEvent: TRUE,
  isVisit: TRUE,
  isSeries: true,
}
const BY_COUNTRY = groupByAttribute('by country', sql`country`, 'country')
const BY_PATH: Shape = {
  name: 'by page:path',
  request: { group_by: ['page:path'] },
  event: () => sql`path`,
  visit: () => sql`entry_path`,
  visitOfEvents: () => sql`argMinIf(path, timestamp, name = 'pageview')`,
  isEvent: sql`path != ''`,
  isVisit: sql`entry_path != ''`,
}
const IN_COUNTRY = { type: 'location', country: { operator: 'oneOf', value: ['BA'] } } as const
const IN_RARE_COUNTRY = {
  type: 'location',
  country: { operator: 'oneOf', value: ['LJ'] },
} as const
const IN_ORGANIC = {
  type: 'channel',
  operator: 'oneOf',
  value: ['Organic Search'],
} as const
const ON_MOBILES = { type: 'device', operator: 'oneOf', value: ['mobile'] } as const
const IN_CHROME = { type: 'browser', operator: 'oneOf', value: ['Chrome'] } as const

/** Adds a condition on columns that events and sessions both have. */
const addFilter = (
  shape: Shape,
  what: string,
  filters: AnalyticsQueryRequest['filters'],
  condition: Sql,
): Shape => ({
  ...shape,
  name: `${shape.name}, filtered by ${what}`,
  request: { ...shape.request, filters },
  isEvent: sql`${shape.isEvent} AND ${condition}`,
  isVisit: sql`${shape.isVisit} AND ${condition}`,
})

/** Selects the visits of the year that have an event: the generated visits end before the year does. */
const addVisitFilter = (
  shape: Shape,
  what: string,
  one: NonNullable<AnalyticsQueryRequest['filters']>[number],
  isEvent: Sql,
): Shape =>
  addFilter(
    shape,
    what,
    [{ type: 'visit', filters: [one] }],
    sql`session IN (SELECT session FROM events WHERE project_id = ${string(LARGE)} AND ${isEvent})`,
  )

const BY_NAME: Shape = {
  name: 'by event:name',
  request: { group_by: ['event:name'] },
  event: () => sql`name`,
  isEvent: sql`name != 'pageview'`,
  isVisit: TRUE,
}
const BY_CAMPAIGN = groupByAttribute('by utm_campaign', sql`utm_campaign`, 'utm_campaign')
const IN_COUNTRY_BY_PATH = addFilter(BY_PATH, 'country', [IN_COUNTRY], sql`country = 'BA'`)

const SHAPES: readonly Shape[] = [
  TOTAL,
  SERIES,
  BY_COUNTRY,
  BY_PATH,
  BY_NAME,
  {
    name: 'by event:prop:plan',
    request: { group_by: ['event:prop:plan'] },
    event: () => sql`properties['plan']`,
    isEvent: sql`mapContains(properties, 'plan')`,
    isVisit: TRUE,
  },
  IN_COUNTRY_BY_PATH,
  addFilter(BY_PATH, 'a rare country', [IN_RARE_COUNTRY], sql`country = 'LJ'`),
  addFilter(BY_COUNTRY, 'browser', [IN_CHROME], sql`browser = 'Chrome'`),
  addFilter(
    BY_PATH,
    'country and browser',
    [IN_COUNTRY, IN_CHROME],
    sql`country = 'BA' AND browser = 'Chrome'`,
  ),
  addFilter(BY_PATH, 'channel', [IN_ORGANIC], sql`referrer_type = 'search'`),
  addFilter(BY_NAME, 'device', [ON_MOBILES], sql`device_type = 'mobile'`),
  addFilter(
    TOTAL,
    'country and browser',
    [IN_COUNTRY, IN_CHROME],
    sql`country = 'BA' AND browser = 'Chrome'`,
  ),
  addFilter(BY_CAMPAIGN, 'channel', [IN_ORGANIC], sql`referrer_type = 'search'`),
]
/** Groups of the visits of the year that have an event. */
export const VISITS_WITH_EVENT: readonly Shape[] = [
  addVisitFilter(
    BY_COUNTRY,
    'visits with an event',
    { type: 'event', name: { operator: 'eq', value: 'event-1' } },
    sql`name = 'event-1'`,
  ),
  addVisitFilter(
    BY_COUNTRY,
    'visits that saw a page',
    { type: 'page', path: { operator: 'eq', value: '/section/7' } },
    sql`path = '/section/7'`,
  ),
]
/** Further queries of the large project. */
const MORE: readonly (readonly [BenchPeriod, Shape])[] = [
  [COMPOSED, TOTAL],
  [COMPOSED, BY_COUNTRY],
  [COMPOSED, IN_COUNTRY_BY_PATH],
  [QUARTER, IN_COUNTRY_BY_PATH],
  ...VISITS_WITH_EVENT.map((shape) => [YEAR, shape] as const),
  [MONTH, groupByAttribute('by city', sql`city`, 'city')],
  [MONTH, BY_CAMPAIGN],
]

export const QUERIES: readonly BenchQuery[] = [
  ...[LARGE, SMALL].flatMap((project) =>
    [MONTH, YEAR].flatMap((period) =>
      SHAPES.map((shape) => ({ project, period, shape, hasUsual: true })),
    ),
  ),
  ...MORE.map(([period, shape]) => ({ project: LARGE, period, shape, hasUsual: false })),
]

/** Builds the request of a query. */
export const buildRequest = ({ period, shape }: BenchQuery): AnalyticsQueryRequest =>
  fillDefaults({
    date_range: period.range,
    metrics: ['users', 'pageviews', 'events', 'bounce_rate', 'visit_duration'],
    ...shape.request,
  })
