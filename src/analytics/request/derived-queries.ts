/**
 * Derives the queries whose rows belong to the response of another: its totals, its largest groups, and what it is compared with.
 * Also those that other operations are planned as.
 */
import type { AnalyticsQueryRequest, Metric } from '../../contract/api.js'
import type { Predicate } from './filters.js'
import type { Period } from './period.js'
import { resolveQuery, type Query, type ValueGrouping } from './query.js'

/**
 * Builds the query for the events of an operation. Neither its order nor its pages matter.
 *
 * @param filtered the request of the operation
 */
export const resolveFilteredQuery = (
  {
    date_range,
    filters,
    filtersOperator,
    time_zone,
  }: Pick<AnalyticsQueryRequest, 'date_range' | 'filters' | 'filtersOperator' | 'time_zone'>,
  asked: Pick<AnalyticsQueryRequest, 'metrics' | 'group_by'>,
  projectId: string,
  period: Period,
): Query =>
  resolveQuery(
    {
      ...{ date_range, ...asked, order_by: [], limit: 1, offset: 0, filters, filtersOperator },
      ...(time_zone === undefined ? {} : { time_zone }),
    },
    projectId,
    period,
  )

/** Returns a query without its further groupings. */
export const withoutThenBy = ({ groupLimit: _, ...query }: Query): Query => ({
  ...query,
  thenBy: [],
})

/** Returns the query whose only row has the totals of a query. */
export const toTotalsQuery = (query: Query): Query => ({
  ...withoutThenBy(query),
  grouping: { kind: 'none' },
  order: { by: 'group', direction: 'asc' },
  limit: 1,
  offset: 0,
  having: [],
  includesLost: false,
  includesTotals: false,
  ...(query.compared === undefined
    ? {}
    : { compared: { period: query.compared.period, grouping: { kind: 'none' } } }),
})

/** Returns the same query about the period that it is compared with; undefined if there is no comparison. */
export const toComparedQuery = ({ compared, ...query }: Query): Query | undefined =>
  compared === undefined
    ? undefined
    : { ...query, ...compared, includesLost: false, includesTotals: false }

/** Returns the query for the conversions of a goal: the events that satisfy the filters of the query and those of the goal. */
export const toConversionsQuery = (
  query: Query,
  goal: Predicate,
  metrics: readonly Metric[],
): Query => ({
  ...query,
  metrics,
  goals: [],
  predicate: { kind: 'all', of: [query.predicate, goal] },
})

/** A query for the series of the largest groups. */
type RankedQuery = Query & {
  readonly thenBy: readonly [ValueGrouping, ...ValueGrouping[]]
  readonly groupLimit: number
}

/** Whether a query is for the series of the largest groups. */
export const isRanked = (query: Query): query is RankedQuery =>
  query.thenBy.length > 0 && query.groupLimit !== undefined

/** Returns the query whose rows are the largest groups of a query, the largest first. */
export function toRankingQuery({ groupLimit, thenBy, compared: _, ...query }: RankedQuery): Query {
  const [first = 'users'] = query.metrics
  const [grouping, ...others] = thenBy
  return {
    ...query,
    metrics: [first],
    grouping,
    thenBy: others,
    order: { by: first, direction: 'desc' },
    limit: groupLimit,
    offset: 0,
    having: [],
    includesTotals: false,
  }
}
