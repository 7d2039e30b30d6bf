/** Resolves a validated request to a query: metrics, grouping, predicate, order, page. */
import type { AnalyticsQueryRequest, Dimension, Metric, SortDirection } from '../../contract/api.js'
import { PROPERTY_PREFIX } from '../../model/dimensions.js'
import type { Granularity } from '../../model/granularities.js'
import { listZonedBuckets, type ZonedBuckets } from './buckets.js'
import { parseFilters, type Predicate } from './filters.js'
import { isInterval, resolveGranularity } from './intervals.js'
import type { Period } from './period.js'

/** The grouping of the rows. Aggregates, breakdowns and time series differ in nothing else. */
export type Grouping =
  | { readonly kind: 'none' }
  | { readonly kind: 'dimension'; readonly dimension: Dimension }
  | { readonly kind: 'property'; readonly name: string }
  | {
      readonly kind: 'interval'
      readonly granularity: Granularity
      /** The buckets of a zone other than UTC. */
      readonly zoned?: ZonedBuckets
    }

/** The grouping of a time series. */
export type Series = Extract<Grouping, { readonly kind: 'interval' }>

export interface Order {
  /** A metric, or the grouping itself. */
  readonly by: Metric | 'group'
  readonly direction: SortDirection
}

export interface Query {
  readonly projectId: string
  readonly period: Period
  readonly metrics: readonly Metric[]
  readonly grouping: Grouping
  readonly predicate: Predicate
  readonly order: Order
  readonly limit: number
  readonly offset: number
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

const DEFAULT_METRICS: readonly Metric[] = ['users', 'pageviews', 'events']

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
  const metrics = request.metrics.length > 0 ? request.metrics : DEFAULT_METRICS
  const grouping = resolveGrouping(request, period)
  return {
    projectId,
    period,
    metrics,
    grouping,
    predicate: parseFilters(request),
    order: resolveOrder(request.order_by, metrics, grouping),
    limit: request.limit,
    offset: request.offset,
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

/** Returns the query whose only row has the totals of a query. */
export const toTotalsQuery = (query: Query): Query => ({
  ...query,
  grouping: { kind: 'none' },
  order: { by: 'group', direction: 'asc' },
  limit: 1,
  offset: 0,
  includesTotals: false,
  ...(query.compared === undefined
    ? {}
    : { compared: { period: query.compared.period, grouping: { kind: 'none' } } }),
})

/** Returns the same query about the period that it is compared with; undefined if there is no comparison. */
export const toComparedQuery = ({ compared, ...query }: Query): Query | undefined =>
  compared === undefined ? undefined : { ...query, ...compared, includesTotals: false }

function resolveGrouping(
  { group_by: [token], time_zone: zone = 'UTC' }: AnalyticsQueryRequest,
  period: Period,
): Grouping {
  if (token === undefined) return { kind: 'none' }
  if (isInterval(token)) {
    return divideIntoBuckets(resolveGranularity(token, period), period, zone)
  }
  if (isProperty(token)) return { kind: 'property', name: token.slice(PROPERTY_PREFIX.length) }
  return { kind: 'dimension', dimension: token }
}

const isProperty = (token: string): token is `${typeof PROPERTY_PREFIX}${string}` =>
  token.startsWith(PROPERTY_PREFIX)

/** Resolves the order. By default a time series ascends by date, and any other grouping descends by the first metric. */
function resolveOrder(
  [pair]: AnalyticsQueryRequest['order_by'],
  metrics: readonly Metric[],
  grouping: Grouping,
): Order {
  if (pair !== undefined) {
    const [field, direction] = pair
    return { by: metrics.find((metric) => metric === field) ?? 'group', direction }
  }
  const [first] = metrics
  if (grouping.kind === 'interval' || first === undefined) return { by: 'group', direction: 'asc' }
  return { by: first, direction: 'desc' }
}
