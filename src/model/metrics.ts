/** The metrics: what each is made of. */
import type { Metric } from '../contract/api.js'
import { sql, type Sql } from '../clickhouse/sql.js'
import type { Measure } from './relations.js'

export interface MetricRow {
  /** The measures it is computed from. */
  readonly measures: readonly [Measure, ...Measure[]]
  /** The metric, from the columns of its measures. */
  readonly expression: Sql
  /** Its column in the answer. */
  readonly column: Sql
  /** The name of that column, as the client reads it. */
  readonly key: `metric_${Metric}`
}

// Ratios are divided in whole hundredths, half up: the same digits whatever order the engine adds in.
const hundredths = (numerator: Sql): Sql =>
  sql`if(measure_visits > 0, intDivOrZero(2 * ${numerator} + measure_visits, 2 * measure_visits) / 100, NULL)`

export const METRICS: Readonly<Record<Metric, MetricRow>> = {
  users: {
    measures: ['users'],
    expression: sql`measure_users`,
    column: sql`metric_users`,
    key: 'metric_users',
  },
  pageviews: {
    measures: ['pageviews'],
    expression: sql`measure_pageviews`,
    column: sql`metric_pageviews`,
    key: 'metric_pageviews',
  },
  events: {
    measures: ['events'],
    expression: sql`measure_events`,
    column: sql`metric_events`,
    key: 'metric_events',
  },
  bounce_rate: {
    measures: ['visits', 'bounces'],
    expression: hundredths(sql`10000 * measure_bounces`),
    column: sql`metric_bounce_rate`,
    key: 'metric_bounce_rate',
  },
  visit_duration: {
    measures: ['visits', 'duration'],
    expression: sql`if(measure_visits > 0, intDivOrZero(measure_duration + 5 * measure_visits, 10 * measure_visits) / 100, NULL)`,
    column: sql`metric_visit_duration`,
    key: 'metric_visit_duration',
  },
}
