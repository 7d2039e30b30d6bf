/** The metrics of the contract, each computed from measures. */
import type { Metric } from '../contract/api.js'
import { declaredName, numberedName, sql, type Sql } from '../clickhouse/sql.js'
import { mapRecord } from '../lib/records.js'
import { MEASURE_COLUMNS, type Measure, type NamedMeasure } from './measures.js'
import { computeGoalMetric, type GoalMetric } from './goals.js'
import { computeNumberMetric, isCountOfNumbers, type NumberMetric } from './numbers.js'

/** A metric of a query that the query names: one over the numbers of a property, or one of a goal. */
type OwnMetric = NumberMetric | GoalMetric

/** A metric of a query: one of the contract, or one that the query names. */
export type QueryMetric = Metric | OwnMetric

/** What the name of a column begins with: the metric, that of all groups, and both in the period that is compared. */
type ColumnKind = 'metric' | 'total' | 'compared' | 'compared_total'

/** The name of the column of a metric in the rows of a statement. */
export type MetricKey = `${ColumnKind}_${Metric}` | `${ColumnKind}_${number}_number`

export interface MetricRow {
  /** Its name in the response. */
  readonly name: string
  /** The measures that it is computed from. */
  readonly measures: readonly Measure[]
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
  readonly key: MetricKey
  /** That name as SQL. */
  readonly column: Sql
  /** The name of its column where a row also has the metric of all groups together, and that name as SQL. */
  readonly totalKey: MetricKey
  readonly totalColumn: Sql
  /** The same for the period that the query is compared with. */
  readonly comparedKey: MetricKey
  readonly comparedColumn: Sql
  readonly comparedTotalKey: MetricKey
  readonly comparedTotalColumn: Sql
}

type MetricDefinition = Pick<
  MetricRow,
  'measures' | 'expression' | 'relatesToVisits' | 'isPercentage'
>

/** Defines the metric that is a measure itself. */
const showMeasure = (measure: NamedMeasure): MetricDefinition => ({
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

const METRICS: Readonly<Record<Metric, MetricRow>> = mapRecord(
  DEFINITIONS,
  (metric, definition) => ({
    ...definition,
    name: metric,
    isCount: definition.measures.length === 1,
    key: `metric_${metric}`,
    column: declaredName(`metric_${metric}`),
    totalKey: `total_${metric}`,
    totalColumn: declaredName(`total_${metric}`),
    comparedKey: `compared_${metric}`,
    comparedColumn: declaredName(`compared_${metric}`),
    comparedTotalKey: `compared_total_${metric}`,
    comparedTotalColumn: declaredName(`compared_total_${metric}`),
  }),
)

/** The names of the metrics of the contract. */
export const METRIC_NAMES: readonly string[] = Object.keys(METRICS)

const isOwn = (metric: QueryMetric): metric is OwnMetric => typeof metric === 'object'

/** Whether a metric is one over the numbers of a property. */
export const isNumberMetric = (metric: QueryMetric): metric is NumberMetric =>
  isOwn(metric) && 'property' in metric

/** Describes a metric of a query. */
export const describeMetric = (metric: QueryMetric): MetricRow =>
  isOwn(metric) ? describeOwnMetric(metric) : METRICS[metric]

/** Computes a metric of a goal, or says what it is. */
function describeGoalMetric(
  metric: GoalMetric,
): Pick<MetricRow, 'isCount' | 'isPercentage' | 'expression' | 'measures'> {
  const isCount = metric.measures.length === 1
  const measures = metric.measures.filter((measure) => measure !== undefined)
  return { measures, isCount, isPercentage: !isCount, expression: computeGoalMetric(metric) }
}

function describeOwnMetric(metric: OwnMetric): MetricRow {
  const { name, number } = metric
  return {
    name,
    ...(isNumberMetric(metric)
      ? {
          measures: metric.measures,
          isCount: isCountOfNumbers(metric),
          expression: computeNumberMetric(metric),
        }
      : describeGoalMetric(metric)),
    key: `metric_${number}_number`,
    column: numberedName('metric', number, 'number'),
    totalKey: `total_${number}_number`,
    totalColumn: numberedName('total', number, 'number'),
    comparedKey: `compared_${number}_number`,
    comparedColumn: numberedName('compared', number, 'number'),
    comparedTotalKey: `compared_total_${number}_number`,
    comparedTotalColumn: numberedName('compared_total', number, 'number'),
  }
}

/** The name of a metric in the response. */
export const nameMetric = (metric: QueryMetric): string => describeMetric(metric).name

/** Finds a metric of the contract by its name. */
export const findNamedMetric = (name: string): MetricRow | undefined =>
  Object.values(METRICS).find((row) => row.name === name)
