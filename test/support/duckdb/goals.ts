/** Metrics of goals, as aggregates over the events of a group. Their values are metrics over numbers. */
import type { AnalyticsQueryRequest, GoalMetric } from '../../../src/contract/api.js'
import { buildFilters } from './filters.js'
import { raw, sql, type Sql } from './sql.js'

type Metrics = AnalyticsQueryRequest['metrics']

/** A metric, by its place among those of the request. */
export interface PlacedGoal extends GoalMetric {
  readonly place: number
}

/** The condition that an event is a conversion of the goal of a metric. @param zone that of the request, whose clocks filters mean */
export const isConversion = (
  { filters = [] }: Pick<GoalMetric, 'filters'>,
  zone: string | undefined,
): Sql =>
  buildFilters({
    filters,
    filtersOperator: 'and',
    ...(zone === undefined ? {} : { time_zone: zone }),
  })

/** Lists the metrics of goals but their values. */
export const listGoals = (metrics: Metrics): readonly PlacedGoal[] =>
  metrics.flatMap((metric, place) =>
    typeof metric === 'object' && 'goal' in metric && metric.metric !== 'value'
      ? [{ ...metric, place }]
      : [],
  )

const name = (kind: string, { place }: PlacedGoal): Sql => raw(`${kind}_${place}`)

/** Selects whether each event of `matching` is a conversion. */
export const selectConversions = (
  goals: readonly PlacedGoal[],
  zone: string | undefined,
): readonly Sql[] =>
  goals.map((goal) => sql`(${isConversion(goal, zone)}) AS ${name('converts', goal)}`)

export const aggregateGoals = (goals: readonly PlacedGoal[]): readonly Sql[] =>
  goals.map((goal) => sql`${aggregate(goal)} AS ${name('goal', goal)}`)

/** The value of a metric in a row, also in one without events. */
export const showGoal = (goal: PlacedGoal): Sql =>
  goal.metric === 'conversion_rate'
    ? name('goal', goal)
    : sql`CAST(coalesce(${name('goal', goal)}, 0) AS DOUBLE)`

function aggregate(goal: PlacedGoal): Sql {
  const only = sql`FILTER (${name('converts', goal)})`
  switch (goal.metric) {
    case 'converted_users':
      return sql`count(DISTINCT "user") ${only}`
    case 'converted_visits':
      return sql`count(DISTINCT session) ${only}`
    case 'conversion_rate': {
      const who = goal.of === 'visits' ? sql`session` : sql`"user"`
      const all = sql`count(DISTINCT ${who})`
      return sql`CASE WHEN ${all} > 0 THEN CAST(((20000 * count(DISTINCT ${who}) ${only} + ${all}) // (2 * ${all})) / 100 AS DOUBLE) END`
    }
    case 'conversions':
      return sql`count(*) ${only}`
    case 'value':
      throw new TypeError('a value is a metric over numbers')
    default:
      return goal.metric satisfies never
  }
}
