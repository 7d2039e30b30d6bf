/** The metrics of the contract. */
import type { Metric } from '../../../src/contract/api.js'
import { sql, type Sql } from './sql.js'

export interface MetricRow {
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
const ZERO = sql`0`

export const METRICS: Readonly<Record<Metric, MetricRow>> = {
  users: { over: 'events', aggregate: sql`count(DISTINCT "user")`, empty: ZERO },
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
}
