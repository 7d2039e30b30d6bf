/** The metrics of the contract. */
import type { Metric } from '../../../src/contract/api.js'
import { raw, sql, type Sql } from './sql.js'

/** How visits are grouped: as their events are, by their entry page, or not at all. */
export type VisitGroups = 'same' | 'entry' | 'none'

export interface AggregateRow {
  /** Whether it is computed over the matching events of a group, or over its visits. */
  readonly over: 'events' | 'visits'
  /** The aggregate over rows of that table. */
  readonly aggregate: Sql
  /** Its value in a group without such rows. */
  readonly empty: Sql
}

/** Divides whole numbers, rounded half up to two decimals, without a floating-point number in between. */
const divide = (numerator: Sql, denominator: Sql): Sql =>
  sql`((200 * (${numerator}) + ${denominator}) // (2 * ${denominator})) / 100`

const NONE = sql`NULL`
export const ZERO = sql`0`

type Quotient = 'views_per_visit' | 'events_per_visit'

/** The metrics that are aggregates of one table. */
export const AGGREGATES: Readonly<Record<Exclude<Metric, Quotient>, AggregateRow>> = {
  users: { over: 'events', aggregate: sql`count(DISTINCT "user")`, empty: ZERO },
  new_users: {
    over: 'events',
    aggregate: sql`count(DISTINCT "user") FILTER (is_new)`,
    empty: ZERO,
  },
  pageviews: {
    over: 'events',
    aggregate: sql`count(*) FILTER (name = 'pageview')`,
    empty: ZERO,
  },
  events: {
    over: 'events',
    aggregate: sql`count(*) FILTER (name <> 'pageview')`,
    empty: ZERO,
  },
  bounce_rate: {
    over: 'visits',
    aggregate: divide(sql`100 * count(*) FILTER (is_bounce)`, sql`count(*)`),
    empty: NONE,
  },
  visit_duration: {
    over: 'visits',
    aggregate: divide(sql`sum(duration_ms)`, sql`(1000 * count(*))`),
    empty: NONE,
  },
  visits: { over: 'visits', aggregate: sql`count(*)`, empty: ZERO },
}

/** The metrics that divide one aggregate by another. */
const QUOTIENTS: Readonly<Record<Quotient, Sql>> = {
  views_per_visit: divide(sql`coalesce(pageviews, 0)`, sql`visits`),
  events_per_visit: divide(sql`coalesce(events, 0)`, sql`visits`),
}

const isQuotient = (metric: Metric): metric is Quotient => metric in QUOTIENTS

/** Writes the value of a metric from the columns of all aggregates, which are null in a group without rows. */
export function writeMetric(metric: Metric, visitGroups: VisitGroups): Sql {
  if (isQuotient(metric)) return visitGroups === 'same' ? QUOTIENTS[metric] : NONE
  const { over, empty } = AGGREGATES[metric]
  const isWithoutVisits = over === 'visits' && visitGroups === 'none'
  return sql`coalesce(${raw(metric)}, ${isWithoutVisits ? NONE : empty})`
}
