/** The operations whose answers are kept. */
import type {
  AnalyticsQueryRequest,
  AnalyticsQueryResponse,
  FunnelRequest,
  FunnelResponse,
  RetentionRequest,
  RetentionResponse,
  ValuesRequest,
  ValuesResponse,
} from '../../contract/api.js'
import { GRANULARITIES } from '../../model/granularities.js'
import { resolveFunnel, shapeFunnelEcho } from '../funnel/query-funnel.js'
import { resolveValues, shapeValuesEcho } from '../list-values.js'
import { resolveRequest } from '../query-analytics.js'
import { parseFilters } from '../request/filters.js'
import { getInclusiveEnd, type Period } from '../request/period.js'
import type { Query, Series } from '../request/query.js'
import { shapeEcho } from '../response.js'
import { findReadEnds, resolveRetention, type Grid } from '../retention/grid.js'
import { shapeRetentionEcho } from '../retention/query-retention.js'
import type { KeptOperation, WriteEnd } from './operation.js'

/** Queries. One that is compared with a period that moves with its own has other events there every second. */
export const QUERIES: KeptOperation<AnalyticsQueryRequest, Query, AnalyticsQueryResponse> = {
  resolve: resolveRequest,
  name: (_request, query, writeEnd) => ['query', ...nameQuery(query, writeEnd)],
  listEnds: (_request, { period }) => [period.end],
  shapeEcho,
  pickRows: ({ pagination, data, totals }) => ({ pagination, data, totals }),
}

/** Lists of values: what is searched is a part of the query. */
export const VALUES: KeptOperation<ValuesRequest, Query, ValuesResponse> = {
  resolve: resolveValues,
  name: (_request, query, writeEnd) => ['values', ...nameQuery(query, writeEnd)],
  listEnds: (_request, { period }) => [period.end],
  shapeEcho: shapeValuesEcho,
  pickRows: ({ pagination, data }) => ({ pagination, data }),
}

/** Funnels. */
export const FUNNELS: KeptOperation<FunnelRequest, Query, FunnelResponse> = {
  resolve: resolveFunnel,
  name: ({ within, steps }, query, writeEnd) => [
    'funnel',
    within,
    steps.map(parseFilters),
    ...nameQuery(query, writeEnd),
  ],
  listEnds: (_request, { period }) => [period.end],
  shapeEcho: shapeFunnelEcho,
  pickRows: ({ data }) => ({ data }),
}

/** Retention. Its rows also depend on which intervals have begun: the others are null. */
export const RETENTIONS: KeptOperation<RetentionRequest, Grid, RetentionResponse> = {
  resolve: resolveRetention,
  name: (request, grid, writeEnd) => {
    const { granularity, period, firstCohort, lastCohort, intervals, end } = grid
    const running = GRANULARITIES[granularity].toBucket(getInclusiveEnd({ ...period, end }))
    return [
      'retention',
      granularity,
      period.start.getTime(),
      [firstCohort, lastCohort, intervals],
      Math.min(running, lastCohort + intervals),
      findReadEnds(grid).map(writeEnd),
      parseFilters(request),
    ]
  },
  listEnds: (_request, grid) => findReadEnds(grid),
  shapeEcho: shapeRetentionEcho,
  pickRows: ({ data }) => ({ data }),
}

/**
 * Names a query. A period that ends now has the same answer until there is another bucket, or another event.
 */
function nameQuery(
  { projectId: _, period, compared, ...query }: Query,
  writeEnd: WriteEnd,
): readonly unknown[] {
  const { grouping } = query
  return [
    period.start.getTime(),
    writeEnd(period.end),
    grouping.kind === 'interval' ? nameLastBucket(grouping, period) : null,
    compared === undefined ? null : [compared.period.start, compared.period.end],
    // The starts of buckets follow from the rest.
    { ...query, grouping: grouping.kind === 'interval' ? nameSeries(grouping) : grouping },
  ]
}

const nameLastBucket = ({ granularity, zoned }: Series, period: Period): number | undefined =>
  zoned === undefined
    ? GRANULARITIES[granularity].toBucket(getInclusiveEnd(period))
    : zoned.starts.at(-1)

const nameSeries = ({ zoned, ...series }: Series): object =>
  zoned === undefined ? series : { ...series, zone: zoned.zone }
