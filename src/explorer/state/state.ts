/** What the page shows, as plain data: everything that a link to the page carries. */
import type { FieldFilter } from './filters.js'
import type { GoalMetricName, ShownMetric } from '../client/contract.js'

/** The period of the last 30 minutes, which moves on while somebody looks. */
export const LIVE = 'now'

export const PRESETS = [
  'live',
  '1hr',
  '24hrs',
  'today',
  'yesterday',
  'this_week',
  'last_week',
  '7days',
  '28days',
  '30days',
  '90days',
  'mtd',
  'last_month',
  'last_quarter',
  'ytd',
  'last_year',
  '12months',
  'all',
] as const
/** A period of the API that is relative to now. */
export type Preset = (typeof PRESETS)[number]

/** A period of its own: dates (`2026-01-31`) or seconds of UTC (`2026-01-31T10:00:00Z`), both included. */
export interface Range {
  readonly from: string
  readonly to: string
}
/** A period that can be asked about. */
export type AskedPeriod = Preset | Range
export type ShownPeriod = AskedPeriod | typeof LIVE

export const COMPARISONS = ['off', 'previous_period', 'previous_year', 'weekdays'] as const
/** What the period is compared with; `weekdays` is the period before, moved by whole weeks. */
export type ShownComparison = (typeof COMPARISONS)[number] | Range

export const INTERVALS = ['auto', 'minute', '15minutes', 'hour', 'day', 'week', 'month'] as const
/** The size of the buckets of the chart. */
export type ShownInterval = (typeof INTERVALS)[number]

export const CARD_METRICS = [
  'users',
  'visits',
  'pageviews',
  'events',
  'bounce_rate',
  'visit_duration',
] as const

/** A metric that has a card, and that the chart can show. */
export type CardMetric = (typeof CARD_METRICS)[number]
/** The same with those of a goal. */
export type ChartMetric = CardMetric | GoalMetricName

/** What a state says of its goal. */
export type ChosenGoal = Pick<ExplorerState, 'goal' | 'hasValue'>

/** The metrics of a goal. */
const GOAL_METRICS = ['conversions', 'conversion_rate', 'value'] as const satisfies GoalMetricName[]

/** Whether a metric is one of a goal. */
export const isGoalMetric = (metric: ShownMetric): metric is GoalMetricName =>
  GOAL_METRICS.some((one) => one === metric)

/** The metrics of the goal that is chosen, its value only if it has one; none without a goal. */
export const listGoalMetrics = ({
  goal,
  hasValue = false,
}: ChosenGoal): readonly GoalMetricName[] =>
  goal === undefined ? [] : GOAL_METRICS.filter((metric) => metric !== 'value' || hasValue)

/** The metrics that have cards. */
export const listCardMetrics = (chosen: ChosenGoal): readonly ChartMetric[] => [
  ...CARD_METRICS,
  ...listGoalMetrics(chosen),
]

export const DETAILS_VIEWS = ['value', 'difference', 'change'] as const
/** What the cells of the dialog are about: the period, or how it differs from the other one, lost rows included. */
export type DetailsView = (typeof DETAILS_VIEWS)[number]

/** The dialog with all rows of one tab. */
export interface Details {
  readonly tab: string
  readonly view: DetailsView
  readonly search: string
  /** A metric, or the field of the tab. */
  readonly orderBy: string
  readonly direction: 'asc' | 'desc'
  /** From 0. */
  readonly page: number
}

/** The dialog with a funnel. */
export interface Funnel {
  readonly steps: readonly FieldFilter[]
  /** What the steps lie within: a visit, or a number of days. */
  readonly within: 'visit' | number
}

export const JOURNEY_DIRECTIONS = ['from', 'to'] as const
export const JOURNEY_STEPS = ['pages', 'all'] as const

/** The dialog with what visits do after a page or event, or before it. */
export interface Journeys {
  /** What they start at (`from`), or lead to (`to`). */
  readonly anchor: FieldFilter
  readonly direction: (typeof JOURNEY_DIRECTIONS)[number]
  /** What the steps are: pages, or events as well. */
  readonly steps: (typeof JOURNEY_STEPS)[number]
}

export interface ExplorerState {
  readonly period: ShownPeriod
  /** A time zone of the IANA database; undefined for that of the project. */
  readonly zone: string | undefined
  readonly comparison: ShownComparison
  readonly interval: ShownInterval
  readonly metric: ChartMetric
  /** The name of the goal whose conversions are shown; undefined for none. */
  readonly goal: string | undefined
  /** Whether its conversions have a value that can be added up. The page learns that from a response, so it is not in the address. */
  readonly hasValue?: boolean
  readonly filters: readonly FieldFilter[]
  /** Whether an event has to match all filters or any of them. */
  readonly join: 'and' | 'or'
  /** The open tab of each panel, by the name of the panel; the first tab of those that are missing. */
  readonly tabs: Readonly<Record<string, string>>
  readonly cohort: Cohort
  /** The open dialog, if there is one. */
  readonly details?: Details | undefined
  /** The open funnel, if there is one. */
  readonly funnel?: Funnel | undefined
  /** The open journeys, if there are some. */
  readonly journeys?: Journeys | undefined
}

/** A state whose period can be asked about. */
export interface AskedState extends ExplorerState {
  readonly period: AskedPeriod
  /** How many days the period has, if it consists of dates up to today. */
  readonly lastDays?: number | undefined
}

export const COHORTS = ['day', 'week', 'month'] as const
/** How long the intervals of cohorts are. */
export type Cohort = (typeof COHORTS)[number]

export const DEFAULT_STATE: AskedState = {
  period: '30days',
  zone: undefined,
  comparison: 'previous_period',
  interval: 'auto',
  metric: 'users',
  goal: undefined,
  filters: [],
  join: 'and',
  tabs: {},
  cohort: 'week',
}
