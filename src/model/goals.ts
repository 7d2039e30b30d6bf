/** Goals: which events are conversions, what scans count of them, and the metrics that follow. */
import { numberedName, sql, type Sql } from '../clickhouse/sql.js'
import type { GoalMetric as AskedMetric, Metric } from '../contract/api.js'
import { mapRecord } from '../lib/records.js'

/** The name of a metric of a goal. Its value has none: it is a metric over numbers. */
type GoalMetricName = Exclude<AskedMetric['metric'], 'value'>

/** The column of rows of events that says whether they are conversions of a goal. @param goal its place among those of the query */
export const isConversion = (goal: number): Sql => numberedName('goal', goal, 'conversion')

/** The session of an event, in rows that are joined to those of sessions as well. */
export const VISIT_OF_EVENT = sql`visit_of_event`

const STATES = {
  conversions: (isMeant) => sql`toInt64(countIf(${isMeant}))`,
  converted_users: (isMeant) => sql`toInt64(uniqExactIf(user, ${isMeant}))`,
  converted_visits: (isMeant) => sql`toInt64(uniqExactIf(${VISIT_OF_EVENT}, ${isMeant}))`,
  /** Users and visits with any event, converted or not. They are counted in the same rows, so that no share is above 100. */
  all_users: () => sql`toInt64(uniqExact(user))`,
  all_visits: () => sql`toInt64(uniqExact(${VISIT_OF_EVENT}))`,
} as const satisfies Readonly<Record<string, (isMeant: Sql) => Sql>>

type GoalState = keyof typeof STATES

/**
 * What a scan counts for a goal: a measure, as those of `measures.ts`. Events alone have them, and no scan shares its users or visits with
 * another one: those of several shards add up.
 */
export interface GoalMeasure {
  readonly state: GoalState
  /** The place of the goal among those of the query, which names the column. */
  readonly goal: number
}

/** The name of the column of a measure. */
export const getGoalColumn = ({ state, goal }: GoalMeasure): Sql =>
  numberedName('goal', goal, state)

/** Counts a measure in rows of events. */
export const countConversions = ({ state, goal }: GoalMeasure): Sql =>
  STATES[state](isConversion(goal))

/** Names a measure for those who ask how a query is answered. */
export const describeConversions = ({ state }: GoalMeasure): string => state

/** The metrics that count a measure in a query for the conversions of a goal; absent for what such a query does not count. */
export const CONVERSION_METRICS: Readonly<Partial<Record<GoalState, readonly Metric[]>>> = {
  conversions: ['pageviews', 'events'],
  converted_users: ['users'],
}

/** Whether a measure counts visits: those in which a conversion happened, which no rollup knows. */
export const isOfVisits = ({ state }: GoalMeasure): boolean =>
  state === 'converted_visits' || state === 'all_visits'

/** A metric of a goal, as a query has it. */
export interface GoalMetric {
  /** Its name in the response. */
  readonly name: string
  /** The place of the metric among those of the query. */
  readonly number: number
  /** The measures: one that is shown, or one and what it is a share of. */
  readonly measures: readonly [GoalMeasure, GoalMeasure?]
}

/** All measures of a goal. Its metrics share them. */
type GoalMeasures = Readonly<Record<GoalState, GoalMeasure>>

/** Lists the measures of a goal. @param goal its place among those of the query */
export const listGoalMeasures = (goal: number): GoalMeasures =>
  mapRecord(STATES, (state) => ({ state, goal }))

/** Resolves a metric of a goal. */
export const resolveGoalMetric = (
  metric: GoalMetricName,
  { as: name, of = 'users' }: Pick<AskedMetric, 'as' | 'of'>,
  known: GoalMeasures,
  number: number,
): GoalMetric => ({
  name,
  number,
  measures:
    metric === 'conversion_rate' ? [known[`converted_${of}`], known[`all_${of}`]] : [known[metric]],
})

/** Computes a metric from the columns of its measures. Shares are divided as integers and rounded half up to hundredths. */
export function computeGoalMetric({ measures: [counted, all] }: GoalMetric): Sql {
  const column = getGoalColumn(counted)
  if (all === undefined) return column
  const base = getGoalColumn(all)
  return sql`if(${base} > 0, intDivOrZero(2 * 10000 * ${column} + ${base}, 2 * ${base}) / 100, NULL)`
}
