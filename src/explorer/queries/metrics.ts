/** The metrics on the page: their names, how they are written, and whether more is better. */
import type { ScaleOptions } from '../chart/layout.js'
import {
  formatAmount,
  formatChange,
  formatCount,
  formatDuration,
  formatPercent,
  formatPercentTick,
} from '../format/numbers.js'
import type { QueryBody, ShownMetric } from '../client/contract.js'
import { isEventField, isPageField } from '../state/filters.js'
import { isGoalMetric } from '../state/state.js'

interface MetricInfo {
  readonly name: string
  /** What it counts, in one sentence. */
  readonly meaning: string
  /** Formats a value. */
  readonly format: (value: number) => string
  /** Formats a label of the axis, if not as a value. */
  readonly formatTick?: (value: number) => string
  /** How the chart is scaled. */
  readonly scale: ScaleOptions
  /** Whether a higher value is worse. */
  readonly isLowerBetter?: true
  /** What follows a change, if it is not in per cent. */
  readonly changeUnit?: string
}

const count = (name: string, meaning: string): MetricInfo => ({
  name,
  meaning,
  format: formatCount,
  scale: { isCount: true },
})
const ratio = (name: string, meaning: string): MetricInfo => ({
  name,
  meaning,
  format: (value) => value.toFixed(2),
  scale: {},
})

export const METRICS: Readonly<Record<ShownMetric, MetricInfo>> = {
  users: count('Users', 'Different people with at least one event in the period.'),
  new_users: count('New users', 'Those of them whose first event ever lies in the period.'),
  visits: count('Visits', 'Visits that began in the period.'),
  pageviews: count('Pageviews', 'How often pages were viewed.'),
  events: count('Events', 'Events with a name that the site sent, such as a purchase.'),
  bounce_rate: {
    name: 'Bounce rate',
    meaning: 'How many of the visits, per hundred, were of one page and without an event.',
    format: formatPercent,
    formatTick: formatPercentTick,
    scale: {},
    isLowerBetter: true,
    changeUnit: ' points',
  },
  visit_duration: {
    name: 'Visit duration',
    meaning: 'The mean time from the first event of a visit to its last one.',
    format: formatDuration,
    scale: { isDuration: true },
  },
  views_per_visit: ratio('Views per visit', 'Pageviews divided by visits.'),
  events_per_visit: ratio('Events per visit', 'Events divided by visits.'),
  conversions: count('Conversions', 'Events that are conversions of the goal.'),
  conversion_rate: {
    name: 'Conversion rate',
    meaning: 'How many of the users, per hundred, have a conversion.',
    format: formatPercent,
    formatTick: formatPercentTick,
    scale: {},
    changeUnit: ' points',
  },
  value: {
    name: 'Value',
    meaning: 'What the conversions are worth together.',
    format: formatAmount,
    formatTick: formatCount,
    scale: {},
  },
}

/** The metrics of a query, as the API takes them. @param goal the one that is chosen */
export const buildMetrics = (
  metrics: readonly ShownMetric[],
  goal: string | undefined,
): NonNullable<QueryBody['metrics']> =>
  metrics.flatMap<NonNullable<QueryBody['metrics']>[number]>((metric) => {
    if (!isGoalMetric(metric)) return [metric]
    return goal === undefined ? [] : [{ metric, goal, as: metric }]
  })

/** The metrics of visits where rows are pages: a visit is one of the page that it entered on. */
const ENTRY_NAMES: Partial<Readonly<Record<ShownMetric, string>>> = {
  visits: 'Entries',
  bounce_rate: 'Bounce rate of entries',
  visit_duration: 'Visit duration of entries',
}

/** The name of a metric in the rows of a grouping. */
export function nameMetric(metric: ShownMetric, groupedBy: string): string {
  if (metric === 'conversion_rate') return 'Rate'
  return (isPageField(groupedBy) ? ENTRY_NAMES[metric] : undefined) ?? METRICS[metric].name
}

/**
 * Whether rows of a field count only the conversions that happen in them: on the page itself, or at the event. Most of them have none,
 * whatever they do for the goal.
 */
export const countsInPlace = (groupedBy: string): boolean =>
  isPageField(groupedBy) || isEventField(groupedBy)

/** The value of a metric in a row of a panel; none where a row without a conversion would look as if it never led to one. */
export const readValue = (
  metric: ShownMetric,
  value: number | null | undefined,
  groupedBy: string,
): number | null | undefined =>
  value === 0 && isGoalMetric(metric) && countsInPlace(groupedBy) ? null : value

/** Formats the change of a metric, such as `+2.8%`, or `−0.2 points` of the bounce rate. */
export const formatMetricChange = (metric: ShownMetric, change: number): string =>
  formatChange(change, METRICS[metric].changeUnit)

/** The difference of a metric from the other period, to two decimals; undefined if one of the two has no value. */
export const subtract = (
  value: number | null | undefined,
  compared: number | null | undefined,
): number | undefined =>
  typeof value === 'number' && typeof compared === 'number'
    ? Math.round((value - compared) * 100) / 100
    : undefined

/** The change of a count that is no metric, in per cent and to two decimals; undefined from 0. */
export const computeChange = (count: number, before: number): number | undefined =>
  before === 0 ? undefined : Math.round((10_000 * (count - before)) / before) / 100

/** Formats a difference with its sign, such as `+1,234`. */
export function formatDifference(metric: ShownMetric, difference: number): string {
  const { changeUnit, format } = METRICS[metric]
  if (changeUnit !== undefined) return formatMetricChange(metric, difference)
  const sign = difference === 0 ? '' : difference > 0 ? '+' : '−'
  return sign + format(Math.abs(difference))
}
