/** The questions: what is asked of the service, and by which columns the same is asked of the facts. */
import type { AnalyticsQueryRequest } from '../../src/contract/api.js'
import { sql, TRUE, type Sql } from '../../src/clickhouse/sql.js'
import { filled } from '../../test/support/world/world.js'
import { LARGE, SMALL } from './generate.js'
import { COMPOSED, MONTH, YEAR, type BenchPeriod } from './periods.js'

/** What is asked for a period. */
export interface Shape {
  readonly name: string
  readonly asked: Partial<AnalyticsQueryRequest>
  /** What events are grouped by. Absent: nothing. */
  readonly event?: (period: BenchPeriod) => Sql
  /** The same of `sessions`. Absent while `event` is there: visits have no part in it. */
  readonly visit?: (period: BenchPeriod) => Sql
  /** The same of the events of one visit, as an aggregate. */
  readonly visitOfEvents?: (period: BenchPeriod) => Sql
  /** What makes a group of an event, and of a visit. */
  readonly isEvent: Sql
  readonly isVisit: Sql
  /** Rows are buckets in order of time, and none is left out. */
  readonly isSeries?: boolean
}

export interface Question {
  readonly project: string
  readonly period: BenchPeriod
  readonly shape: Shape
  /** Whether it is also asked as is usual elsewhere. */
  readonly isUsual: boolean
}

/** A grouping by a column that all events of a session have in common. */
const attribute = (
  name: string,
  column: Sql,
  group: AnalyticsQueryRequest['group_by'][number],
): Shape => ({
  name,
  asked: { group_by: [group] },
  event: () => column,
  visit: () => column,
  visitOfEvents: () => sql`any(${column})`,
  isEvent: TRUE,
  isVisit: TRUE,
})

const TOTAL: Shape = { name: 'total', asked: {}, isEvent: TRUE, isVisit: TRUE }
const SERIES: Shape = {
  name: 'interval:auto',
  asked: { group_by: ['interval:auto'] },
  event: ({ bucket }) => bucket(sql`timestamp`),
  visit: ({ bucket }) => bucket(sql`start_at`),
  visitOfEvents: ({ bucket }) => bucket(sql`min(timestamp)`),
  isEvent: TRUE,
  isVisit: TRUE,
  isSeries: true,
}
const BY_COUNTRY = attribute('by country', sql`country`, 'country')
const BY_PATH: Shape = {
  name: 'by page:path',
  asked: { group_by: ['page:path'] },
  event: () => sql`path`,
  visit: () => sql`entry_path`,
  visitOfEvents: () => sql`argMinIf(path, timestamp, name = 'pageview')`,
  isEvent: sql`path != ''`,
  isVisit: sql`entry_path != ''`,
}
const IN_COUNTRY = { type: 'location', country: { operator: 'oneOf', value: ['BA'] } } as const
const IN_CHROME = { type: 'browser', operator: 'oneOf', value: ['Chrome'] } as const

/** A shape with a condition that tells events and sessions apart by the same columns. */
const filteredBy = (
  shape: Shape,
  what: string,
  filters: AnalyticsQueryRequest['filters'],
  condition: Sql,
): Shape => ({
  ...shape,
  name: `${shape.name}, filtered by ${what}`,
  asked: { ...shape.asked, filters },
  isEvent: sql`${shape.isEvent} AND ${condition}`,
  isVisit: sql`${shape.isVisit} AND ${condition}`,
})

const SHAPES: readonly Shape[] = [
  TOTAL,
  SERIES,
  BY_COUNTRY,
  BY_PATH,
  {
    name: 'by event:name',
    asked: { group_by: ['event:name'] },
    event: () => sql`name`,
    isEvent: sql`name != 'pageview'`,
    isVisit: TRUE,
  },
  {
    name: 'by event:prop:plan',
    asked: { group_by: ['event:prop:plan'] },
    event: () => sql`properties['plan']`,
    isEvent: sql`mapContains(properties, 'plan')`,
    isVisit: TRUE,
  },
  filteredBy(BY_PATH, 'country', [IN_COUNTRY], sql`country = 'BA'`),
  filteredBy(
    BY_PATH,
    'country and browser',
    [IN_COUNTRY, IN_CHROME],
    sql`country = 'BA' AND browser = 'Chrome'`,
  ),
]
/** Besides, of the large project. */
const MORE: readonly (readonly [BenchPeriod, Shape])[] = [
  [COMPOSED, TOTAL],
  [COMPOSED, BY_COUNTRY],
  [MONTH, attribute('by city', sql`city`, 'city')],
  [MONTH, attribute('by utm_campaign', sql`utm_campaign`, 'utm_campaign')],
]

export const QUESTIONS: readonly Question[] = [
  ...[LARGE, SMALL].flatMap((project) =>
    [MONTH, YEAR].flatMap((period) =>
      SHAPES.map((shape) => ({ project, period, shape, isUsual: true })),
    ),
  ),
  ...MORE.map(([period, shape]) => ({ project: LARGE, period, shape, isUsual: false })),
]

/** The request of a question. */
export const requestOf = ({ period, shape }: Question): AnalyticsQueryRequest =>
  filled({
    date_range: period.range,
    metrics: ['users', 'pageviews', 'events', 'bounce_rate', 'visit_duration'],
    ...shape.asked,
  })
