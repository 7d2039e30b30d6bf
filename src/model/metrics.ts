/** The metrics of the contract, each computed from measures. */
import type { Metric } from '../contract/api.js'
import { declaredName, sql, type Sql } from '../clickhouse/sql.js'
import { mapRecord } from '../lib/records.js'
import { MEASURE_COLUMNS, type Measure } from './measures.js'

interface MetricRow {
  /** The measures that it is computed from. */
  readonly measures: readonly [Measure, ...Measure[]]
  /**
   * Whether it relates the events of a group to its visits: it is null where visits are grouped by another value than their
   * events, as by entry page.
   */
  readonly relatesToVisits?: boolean
  /** Whether it is a percentage, so that its change is one of percentage points. */
  readonly isPercentage?: boolean
  /** Whether it is a number of something, and so a whole number; otherwise it is a ratio. */
  readonly isCount: boolean
  /** Computes the metric from the columns of its measures. */
  readonly expression: Sql
  /** The name of its column in the rows of a statement, as the client reads it. */
  readonly key: `metric_${Metric}`
  /** That name as SQL. */
  readonly column: Sql
  /** The name of its column where a row also has the metric of all groups together, and that name as SQL. */
  readonly totalKey: `total_${Metric}`
  readonly totalColumn: Sql
  /** The same for the period that the query is compared with. */
  readonly comparedKey: `compared_${Metric}`
  readonly comparedColumn: Sql
  readonly comparedTotalKey: `compared_total_${Metric}`
  readonly comparedTotalColumn: Sql
}

type MetricDefinition = Pick<
  MetricRow,
  'measures' | 'expression' | 'relatesToVisits' | 'isPercentage'
>

/** Defines the metric that is a measure itself. */
const showMeasure = (measure: Measure): MetricDefinition => ({
  measures: [measure],
  expression: MEASURE_COLUMNS[measure],
})

const { visits, bounces, duration } = MEASURE_COLUMNS

/** Defines the metric that divides a number of events by the number of visits, rounded half up to hundredths. */
const dividePerVisit = (measure: 'pageviews' | 'events'): MetricDefinition => ({
  measures: [measure, 'visits'],
  expression: sql`if(${visits} > 0, intDivOrZero(2 * 100 * ${MEASURE_COLUMNS[measure]} + ${visits}, 2 * ${visits}) / 100, NULL)`,
  relatesToVisits: true,
})

// Ratios are divided as integers and rounded half up to hundredths, so their digits do not depend on the order in which
// the engine adds. The bounce rate is in percent; the duration is in milliseconds, the average in seconds.
const DEFINITIONS: Readonly<Record<Metric, MetricDefinition>> = {
  users: showMeasure('users'),
  pageviews: showMeasure('pageviews'),
  events: showMeasure('events'),
  bounce_rate: {
    isPercentage: true,
    measures: ['visits', 'bounces'],
    expression: sql`if(${visits} > 0, intDivOrZero(2 * 10000 * ${bounces} + ${visits}, 2 * ${visits}) / 100, NULL)`,
  },
  visit_duration: {
    measures: ['visits', 'duration'],
    expression: sql`if(${visits} > 0, intDivOrZero(${duration} + 5 * ${visits}, 10 * ${visits}) / 100, NULL)`,
  },
  visits: showMeasure('visits'),
  new_users: showMeasure('new_users'),
  views_per_visit: dividePerVisit('pageviews'),
  events_per_visit: dividePerVisit('events'),
}

export const METRICS: Readonly<Record<Metric, MetricRow>> = mapRecord(
  DEFINITIONS,
  (metric, definition) => ({
    ...definition,
    isCount: definition.measures.length === 1,
    key: `metric_${metric}` as const,
    column: declaredName(`metric_${metric}`),
    totalKey: `total_${metric}` as const,
    totalColumn: declaredName(`total_${metric}`),
    comparedKey: `compared_${metric}` as const,
    comparedColumn: declaredName(`compared_${metric}`),
    comparedTotalKey: `compared_total_${metric}` as const,
    comparedTotalColumn: declaredName(`compared_total_${metric}`),
  }),
)
