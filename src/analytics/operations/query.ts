/** The operation `query`: metrics by group, filtered, compared, in pages; or all rows as a stream. */
import { TABLE_TYPES, type ResponseFormat } from '../../contract/response-formats.js'
import type {
  AnalyticsQueryRequest,
  AnalyticsQueryResponse,
  FieldError,
  GroupBy,
  Row,
  StreamedQueryRequest,
} from '../../contract/api.js'
import { isRecord } from '../../lib/records.js'
import { GRANULARITIES } from '../../model/granularities.js'
import { describeMetric, type MetricRow } from '../../model/metrics.js'
import { describePlan, type Plan } from '../plan/plan.js'
import { planWithOthers } from '../plan/planner.js'
import { resolveComparison } from '../request/comparison.js'
import { RULES } from '../request/cross-field-rules.js'
import { listPatternFields } from '../request/filter-limits.js'
import { isInterval, requireFewBuckets } from '../request/intervals.js'
import { getInclusiveEnd, resolvePeriod, type Period } from '../request/period.js'
import { resolveMetrics, resolveQuery, type Query, type Series } from '../request/query.js'
import { checkRetention } from '../request/allowed-period.js'
import { requireFewSeriesRows } from '../request/then-by.js'
import { shapeEcho, shapeRows, type ResponseRows } from '../response.js'
import { runPlan } from '../run-plan.js'
import { buildStatement } from '../sql/build-statement.js'
import { MAX_STREAMED_ROWS, streamPlan, type StreamedResponse } from '../stream-analytics.js'
import type { AnyBody, Operation, Resolve, Streaming, WriteEnd } from '../operation.js'
import { prepare } from '../run-operation.js'
import { createTable, writePeriod, type Batches, type SourceColumn, type Table } from '../table.js'

/**
 * Resolves a validated request to a query.
 *
 * @throws ApiError PLAN_LIMIT_EXCEEDED, or VALIDATION_ERROR for a series of too many buckets, or a comparison with no period
 */
export const resolveRequest: Resolve<AnalyticsQueryRequest, Query> = (
  request,
  project,
  first,
  now,
) => {
  const start = first ?? project.createdAt
  const period = resolvePeriod(request.date_range, start, now, request.time_zone)
  const compared = resolveComparison(request, period)
  checkRetention(period, project.retentionDays, now)
  if (compared !== undefined) {
    checkRetention(compared, project.retentionDays, now, 'period of compare')
  }
  requireFewBuckets(request, period, compared)
  requireFewSeriesRows(request, period)
  return resolveQuery(request, project.id, period, compared)
}

export const QUERY: Operation<
  AnalyticsQueryRequest,
  Query,
  Plan,
  ResponseRows,
  AnalyticsQueryResponse
> &
  Streaming<StreamedQueryRequest> = {
  name: 'query',
  path: '/v1/analytics/query',
  scope: 'read',
  hint: 'Answers most questions about traffic. `compare` sets each row beside another period, and `include.totals` is the base of shares.',
  hasTimeZone: true,
  rules: RULES,
  normalize: omitEmptyMetrics,
  checkFormat: checkFormatOfAll,
  resolve: resolveRequest,
  plan: planWithOthers,
  listPlans: (plan) => [plan],
  read: (plan, { nonce, group, run }) => runPlan(plan, nonce, group, run),
  shape: (_request, query, answer) => shapeRows(query, answer),
  echo: shapeEcho,
  toTable: ({ data, ...head }) => describeRows(head, [data]),
  listPatternFields: ({ filters }) => listPatternFields(filters),
  // A query that is compared with a period that moves with its own has other events there every second.
  nameRows: (_request, query, writeEnd) => nameQuery(query, writeEnd),
  listEnds: (_request, { period }) => [period.end],
  explained: {
    name: 'explain',
    path: '/v1/analytics/explain',
    describe: describePlan,
    buildStatement,
  },
  queue: 'streams',
  streams: ({ limit }) => (limit as unknown) === 'all',
  stream: async (asked, project, dependencies, send) => {
    const request = { ...asked, limit: MAX_STREAMED_ROWS }
    const { planned } = await prepare(QUERY, request, project, dependencies)
    await streamPlan(request, planned, dependencies, (answer) =>
      send({ table: describeStream(answer), head: {} }),
    )
  },
}

/** Omits an empty `metrics`: it means the default. */
function omitEmptyMetrics(body: unknown): unknown {
  if (!isRecord(body) || !Array.isArray(body['metrics']) || body['metrics'].length > 0) return body
  return omitMetrics(body)
}

const omitMetrics = ({ metrics: _, ...rest }: AnyBody): object => rest

/** JSON has no rows before its end, so a response of any length is not JSON. */
function checkFormatOfAll({ limit }: AnyBody, format: ResponseFormat): readonly FieldError[] {
  if (limit !== 'all' || format !== 'json') return []
  const message = `is all, which needs one of these in Accept: ${TABLE_TYPES.join(', ')}`
  return [{ field: 'limit', message }]
}

/** Names a query. A period that ends now has the same rows until there is another bucket, or another event. */
export function nameQuery(
  { projectIds: _, period, compared, ...query }: Query,
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

/** A response without its rows. */
type Head = Pick<
  AnalyticsQueryResponse,
  'period' | 'query' | 'comparison' | 'totals' | 'metadata'
> & {
  readonly pagination: Omit<AnalyticsQueryResponse['pagination'], 'limit' | 'returned'> & {
    readonly limit: number | 'all'
  }
}

/** Describes a response whose rows are on their way. */
const describeStream = ({ batches, total, ...head }: StreamedResponse): Table =>
  describeRows({ ...head, pagination: { limit: 'all', offset: head.query.offset, total } }, batches)

/** Describes a response. @param batches the rows of the JSON, some at a time */
const describeRows = (head: Head, batches: Batches<Row>): Table =>
  createTable(listColumns(head), batches, {
    period: writePeriod(head.period),
    total: String(head.pagination.total),
    limit: String(head.pagination.limit),
    offset: String(head.pagination.offset),
    ...(head.comparison === undefined ? {} : { comparison: writePeriod(head.comparison.period) }),
    ...(head.totals === undefined ? {} : { totals: JSON.stringify(head.totals) }),
    ...(head.metadata === undefined ? {} : { metadata: JSON.stringify(head.metadata) }),
  })

type Values = Readonly<Record<string, number | null>>

/** Lists the columns: the keys of the groups, the metrics, and those of the comparison. */
function listColumns({
  query: { group_by: groupBy, then_by: thenBy = [], metrics: asked },
  comparison,
}: Head): readonly SourceColumn<Row>[] {
  const metrics = resolveMetrics(asked).map(describeMetric)
  return [
    ...[...groupBy, ...thenBy].map(toGroupColumn),
    ...metrics.map(toMetricColumn),
    ...(comparison === undefined
      ? []
      : [...metrics.map(toComparedColumn), ...metrics.map(toChangeColumn)]),
  ]
}

function toGroupColumn(token: GroupBy): SourceColumn<Row> {
  const name = isInterval(token) ? 'date' : token
  return { name, type: 'text', read: ({ group }) => group[name] }
}

type NamedMetric = Pick<MetricRow, 'name' | 'isCount'>

const toMetricColumn = ({ name, isCount }: NamedMetric): SourceColumn<Row> => ({
  name,
  type: isCount ? 'integer' : 'number',
  read: ({ metrics }) => (metrics as Values)[name],
})

const toComparedColumn = (metric: NamedMetric): SourceColumn<Row> => ({
  name: `comparison_${metric.name}`,
  type: toMetricColumn(metric).type,
  read: ({ comparison }) => comparison?.metrics[metric.name],
})

const toChangeColumn = ({ name }: NamedMetric): SourceColumn<Row> => ({
  name: `comparison_change_${name}`,
  type: 'number',
  read: ({ comparison }) => comparison?.change[name],
})
