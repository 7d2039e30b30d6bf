/** Resolves a validated request to a query: metrics, grouping, predicate, order, page. */
import type {
  AnalyticsQueryRequest,
  ClockField,
  Dimension,
  GoalMetric,
  GroupBy,
  HavingOperator,
  Interval,
  Metric,
  NumericMetric,
  SortDirection,
} from '../../contract/api.js'
import { PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import type { Granularity } from '../../model/granularities.js'
import { nameMetric, type QueryMetric } from '../../model/metrics.js'
import { listGoalMeasures, resolveGoalMetric } from '../../model/goals.js'
import { resolveNumberMetrics, type AskedNumbers } from '../../model/numbers.js'
import { countBuckets, listZonedBuckets, type ZonedBuckets } from './buckets.js'
import { parseFilters, type Predicate } from './filters.js'
import { isInterval, resolveGranularity } from './intervals.js'
import type { Period } from './period.js'

/** A grouping by what the clock of a zone shows: the day of the week from 1, Monday, to 7, or the hour from 00 to 23. */
export interface ClockGrouping {
  readonly kind: 'clock'
  readonly part: ClockField
  readonly zone: string
}

/** The grouping of the rows. Aggregates, breakdowns and time series differ in nothing else. */
export type Grouping =
  | { readonly kind: 'none' }
  | ClockGrouping
  | { readonly kind: 'dimension'; readonly dimension: Dimension }
  | { readonly kind: 'property'; readonly name: string }
  | PropertyNames
  | ProjectGrouping
  | {
      readonly kind: 'interval'
      readonly granularity: Granularity
      /** The buckets of a zone other than UTC. */
      readonly zoned?: ZonedBuckets
    }

/** The names of event properties, which only lists of values group by: an event is in the group of each property that it has. */
interface PropertyNames {
  readonly kind: 'property_names'
  /** Only the names that contain this text are groups. Every name contains the empty text. */
  readonly containing: string
}

/** A grouping by project, which only queries across projects have: there is a row for each project. */
interface ProjectGrouping {
  readonly kind: 'project'
}

/** The grouping of a time series. */
export type Series = Extract<Grouping, { readonly kind: 'interval' }>

/** A grouping by the values of a dimension or property, or by the clock. */
export type ValueGrouping = Extract<Grouping, { readonly kind: 'dimension' | 'property' | 'clock' }>

/** What can be a further grouping. */
type FurtherGrouping = ValueGrouping | ProjectGrouping

/** Names for the groupings of a query by their place: that of `group_by`, then those of `then_by`. */
export const GROUPING_NAMES = ['group', 'then_by', 'then_by_2', 'then_by_3'] as const
export type GroupingName = (typeof GROUPING_NAMES)[number]

export interface Order {
  /** A metric, or one of the groupings. */
  readonly by: QueryMetric | GroupingName
  /** Orders by how the metric differs from that of the other period, or by its change as the response shows it; absent: by the metric. */
  readonly against?: 'difference' | 'change'
  readonly direction: SortDirection
}

/** A condition on a metric of a row. */
interface HavingCondition {
  readonly metric: QueryMetric
  readonly operator: HavingOperator
  readonly value: number
}

export interface Query {
  /** The projects. A query about several groups by project, so that none is added to another. */
  readonly projectIds: readonly [string, ...string[]]
  readonly period: Period
  readonly metrics: readonly QueryMetric[]
  /** Which events are conversions, for each goal of the metrics. */
  readonly goals: readonly Predicate[]
  readonly grouping: Grouping
  /** The further groupings: none, or up to three. */
  readonly thenBy: readonly FurtherGrouping[]
  /** How many groups of the further groupings have a time series; absent for other queries. */
  readonly groupLimit?: number
  readonly predicate: Predicate
  readonly order: Order
  readonly limit: number
  readonly offset: number
  /** The conditions on the metrics of rows. */
  readonly having: readonly HavingCondition[]
  /** Whether groups that only the other period has are rows. */
  readonly includesLost: boolean
  /** Whether the response has the metrics of all groups together, besides its rows. */
  readonly includesTotals: boolean
  /** What it is compared with; absent if there is no comparison. */
  readonly compared?: Compared
}

/** Another period. The buckets of a time series have the same size in it. */
interface Compared {
  readonly period: Period
  readonly grouping: Grouping
}

/** What the groupings of a query are. */
export type GroupedBy = Pick<Query, 'grouping' | 'thenBy'>

/** Lists the groupings of a query, the first one first. */
export const listGroupings = ({ grouping, thenBy }: GroupedBy): readonly Grouping[] => [
  grouping,
  ...thenBy,
]

/** Whether a query groups by project. */
export const isByProject = (query: GroupedBy): boolean =>
  listGroupings(query).some(({ kind }) => kind === 'project')

/** Lists the metrics that the rows of a query are ordered by; none if they are ordered by a grouping. */
export const listOrderMetrics = ({
  order: { by },
}: Pick<Query, 'order'>): readonly QueryMetric[] => (isGroupingName(by) ? [] : [by])

/** Whether an order is by one of the groupings. */
export const isGroupingName = (by: Order['by']): by is GroupingName =>
  GROUPING_NAMES.some((name) => name === by)

const DEFAULT_METRICS: readonly Metric[] = ['users', 'pageviews', 'events']

/** Lists the metrics of a request: without any, those that are selected by default. */
export const listMetrics = ({
  metrics,
}: Pick<AnalyticsQueryRequest, 'metrics'>): AnalyticsQueryRequest['metrics'] =>
  metrics.length > 0 ? metrics : DEFAULT_METRICS

const isOfGoal = (metric: Metric | NumericMetric | GoalMetric): metric is GoalMetric =>
  typeof metric === 'object' && 'goal' in metric

/** Lists the goals of the metrics of a request: for each, one of its metrics. */
const listGoals = (asked: AnalyticsQueryRequest['metrics']): readonly GoalMetric[] => [
  ...new Map(asked.filter(isOfGoal).map((metric) => [metric.goal, metric] as const)).values(),
]

/** Resolves the metrics of a request, whose goals have been looked up. */
export function resolveMetrics(asked: AnalyticsQueryRequest['metrics']): readonly QueryMetric[] {
  const goals = listGoals(asked).map(({ goal }) => goal)
  const measures = goals.map((_name, goal) => listGoalMeasures(goal))
  const overNumbers = new Map(
    resolveNumberMetrics(
      asked.flatMap((metric, number) => readNumbers(metric, number, goals) ?? []),
    ).map((metric) => [metric.number, metric] as const),
  )
  return asked.flatMap((metric, number): readonly QueryMetric[] => {
    if (typeof metric === 'string') return [metric]
    const found = overNumbers.get(number)
    if (found !== undefined) return [found]
    if (!isOfGoal(metric) || metric.metric === 'value') return []
    const known = measures[goals.indexOf(metric.goal)]
    return known === undefined ? [] : [resolveGoalMetric(metric.metric, metric, known, number)]
  })
}

/** Reads a metric over numbers: the value of a goal is the sum of those of its conversions. Undefined for other metrics. */
function readNumbers(
  asked: AnalyticsQueryRequest['metrics'][number],
  number: number,
  goals: readonly string[],
): AskedNumbers | undefined {
  if (typeof asked === 'string') return undefined
  const { as: name, money: isMoney = true } = asked
  if (!isOfGoal(asked)) {
    const property = asked.of.slice(PROPERTY_PREFIX.length)
    return { metric: asked.metric, name, number, isMoney, property }
  }
  if (asked.metric !== 'value') return undefined
  const property = (asked.value ?? '').slice(PROPERTY_PREFIX.length)
  const goal = goals.indexOf(asked.goal)
  return { metric: 'sum', name, number, isMoney, property, goal, goalName: asked.goal }
}

/**
 * Resolves a validated request to a query on a project.
 *
 * @param compared the period that the query is compared with
 */
export function resolveQuery(
  request: AnalyticsQueryRequest,
  projectId: string,
  period: Period,
  compared?: Period,
): Query {
  const asked = listMetrics(request)
  const metrics = resolveMetrics(asked)
  const grouping = resolveGrouping(request, period)
  return {
    projectIds: [projectId],
    period,
    metrics,
    goals: listGoals(asked).map(({ filters = [] }) =>
      parseFilters({ filters, filtersOperator: 'and', time_zone: request.time_zone }),
    ),
    grouping,
    ...resolveThenBy(request, grouping, period),
    predicate: parseFilters(request),
    order: resolveOrder(request, metrics, grouping),
    limit: request.limit,
    offset: request.offset,
    having: resolveHaving(request, metrics),
    includesLost: request.include?.lost === true,
    includesTotals: request.include?.totals === true,
    ...(compared === undefined
      ? {}
      : { compared: { period: compared, grouping: moveGrouping(grouping, request, compared) } }),
  }
}

/** Returns the grouping for another period. */
function moveGrouping(
  grouping: Grouping,
  { time_zone: zone = 'UTC' }: AnalyticsQueryRequest,
  period: Period,
): Grouping {
  return grouping.kind === 'interval'
    ? divideIntoBuckets(grouping.granularity, period, zone)
    : grouping
}

function divideIntoBuckets(granularity: Granularity, period: Period, zone: string): Series {
  const zoned = listZonedBuckets(granularity, period, zone)
  return { kind: 'interval', granularity, ...(zoned === undefined ? {} : { zoned }) }
}

function resolveThenBy(
  request: AnalyticsQueryRequest,
  grouping: Grouping,
  period: Period,
): Pick<Query, 'thenBy' | 'groupLimit'> {
  const { then_by: tokens = [], time_zone: zone } = request
  const thenBy = tokens.map((token) => resolveValueGrouping(token, zone))
  if (grouping.kind !== 'interval' || thenBy.length === 0) return { thenBy }
  return { thenBy, groupLimit: resolveGroupLimit(request, grouping, period) }
}

/** How many groups may have a series. A streamed response has room for more. */
const MAX_GROUPS = 1_000

/**
 * Resolves how many groups have a series: as many as were asked for, else as many as fit into `limit` with all their buckets, and
 * at least one.
 */
function resolveGroupLimit(
  { group_limit: asked, limit }: Pick<AnalyticsQueryRequest, 'group_limit' | 'limit'>,
  { granularity, zoned }: Series,
  period: Period,
): number {
  const fitting = Math.floor(limit / countBuckets(granularity, period, zoned))
  return asked ?? Math.min(MAX_GROUPS, Math.max(1, fitting))
}

function resolveGrouping(
  { group_by: [token], time_zone: zone = 'UTC' }: AnalyticsQueryRequest,
  period: Period,
): Grouping {
  if (token === undefined) return { kind: 'none' }
  if (isInterval(token)) {
    return divideIntoBuckets(resolveGranularity(token, period), period, zone)
  }
  return resolveValueGrouping(token, zone)
}

function resolveValueGrouping(token: Exclude<GroupBy, Interval>, zone = 'UTC'): ValueGrouping {
  if (isProperty(token)) return { kind: 'property', name: token.slice(PROPERTY_PREFIX.length) }
  return isClockField(token)
    ? { kind: 'clock', part: token, zone }
    : { kind: 'dimension', dimension: token }
}

const isClockField = (token: Dimension | ClockField): token is ClockField =>
  token === 'weekday' || token === 'hour'

const isProperty = (token: string): token is `${typeof PROPERTY_PREFIX}${string}` =>
  token.startsWith(PROPERTY_PREFIX)

const AGAINST = /^(?<against>change|difference):(?<name>.+)$/

/** Finds the metric whose difference or change a field of an order is. */
function findCompared(
  field: string,
  metrics: readonly QueryMetric[],
): Pick<Order, 'by' | 'against'> | undefined {
  const { against, name } = AGAINST.exec(field)?.groups ?? {}
  const by = metrics.find((metric) => nameMetric(metric) === name)
  if (by === undefined) return undefined
  return { by, against: against === 'change' ? 'change' : 'difference' }
}

const resolveHaving = (
  { having = [] }: AnalyticsQueryRequest,
  metrics: readonly QueryMetric[],
): readonly HavingCondition[] =>
  having.flatMap(([name, operator, value]) =>
    metrics
      .filter((metric) => nameMetric(metric) === name)
      .map((metric) => ({ metric, operator, value })),
  )

/** Resolves the order. By default a time series ascends by date, and any other grouping descends by the first metric. */
function resolveOrder(
  { order_by: [pair], then_by: further = [] }: AnalyticsQueryRequest,
  metrics: readonly QueryMetric[],
  grouping: Grouping,
): Order {
  if (pair !== undefined) {
    const [field, direction] = pair
    const compared = findCompared(field, metrics)
    if (compared !== undefined) return { ...compared, direction }
    const own = GROUPING_NAMES[further.findIndex((token) => token === field) + 1] ?? 'group'
    return { by: metrics.find((metric) => nameMetric(metric) === field) ?? own, direction }
  }
  const [first] = metrics
  if (grouping.kind === 'interval' || first === undefined) return { by: 'group', direction: 'asc' }
  return { by: first, direction: 'desc' }
}
