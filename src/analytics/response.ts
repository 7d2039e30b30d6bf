/** Shapes the rows of a statement into the body of the response. */
import {
  OPTIONAL_MEMBERS,
  type AnalyticsQueryRequest,
  type AnalyticsQueryResponse,
  type OptionalMember,
  type Row,
} from '../contract/api.js'
import { SECOND_MS } from '../lib/time.js'
import { formatLocal } from '../lib/time-zone.js'
import { PROPERTY_NAMES, PROPERTY_PREFIX } from '../contract/filter-fields.js'
import { GRANULARITIES } from '../model/granularities.js'
import { describeMetric, nameMetric, type MetricKey, type QueryMetric } from '../model/metrics.js'
import { shapeComparison } from './comparison.js'
import { findLastCompared } from './request/comparison.js'
import { formatMoment, formatPeriod } from './request/period.js'
import {
  listMetrics,
  type GroupedBy,
  type Grouping,
  type Query,
  type Series,
} from './request/query.js'
import { requireOneCurrency, shapeMetadata, type NumberFacts } from './numbers.js'

/** The columns of the keys of `then_by`. */
const THEN_KEYS = ['then_key', 'then_key_2', 'then_key_3'] as const
type ThenKey = (typeof THEN_KEYS)[number]

/** A row of a statement. The key of a bucket is its number; any other key is text. The further keys are those of `then_by`. */
export type StoredRow = {
  readonly group_key: string | number
} & Readonly<Partial<Record<ThenKey, string>>> &
  Readonly<Partial<Record<MetricKey, number | null>>> &
  NumberFacts

/** The rows of a response. */
export interface ResponseRows<Row extends StoredRow = StoredRow> {
  readonly rows: readonly Row[]
  /** How many rows there are before limit and offset. */
  readonly total: number
  /** The row of the totals; absent if the query does not ask for them. */
  readonly totals?: StoredRow
}

/**
 * Builds the part of the response that depends on the data.
 *
 * @throws ApiError VALIDATION_ERROR for amounts in several currencies
 */
export function shapeRows(
  query: Query,
  { rows, total, totals }: ResponseRows,
): Pick<AnalyticsQueryResponse, 'pagination' | 'data' | 'totals' | 'metadata'> {
  const [first = totals] = rows
  requireOneCurrency(query, first)
  return {
    pagination: { limit: query.limit, offset: query.offset, returned: rows.length, total },
    data: rows.map(createShaper(query)),
    ...(totals === undefined ? {} : { totals: shapeMetrics(query, totals) }),
    ...shapeMetadata(query, rows[0], total),
  }
}

/** Creates the function that builds a row of the response. */
export function createShaper(query: Query): (row: StoredRow) => Row {
  const lastCompared = findLastCompared(query) ?? Infinity
  return (row) => ({
    group: shapeGroup(query, row),
    ...shapeMetrics(query, row, Number(row.group_key) > lastCompared),
  })
}

/**
 * Builds the metrics of a row, and their comparison if there is one.
 *
 * @param isAlone whether the row is a bucket that the other period does not have
 */
export function shapeMetrics(
  { metrics, compared }: Query,
  row: StoredRow,
  isAlone = false,
): Pick<Row, 'metrics' | 'comparison'> {
  const read = (metric: QueryMetric): number | null => row[describeMetric(metric).key] ?? null
  const shown = {
    metrics: Object.fromEntries(metrics.map((metric) => [nameMetric(metric), read(metric)])),
  }
  if (compared === undefined) return shown
  const readCompared = (metric: QueryMetric): number | null =>
    isAlone ? null : (row[describeMetric(metric).comparedKey] ?? null)
  return { ...shown, comparison: shapeComparison(metrics, read, readCompared) }
}

/** Builds the part of the response that repeats the request. */
export const shapeEcho = (
  request: AnalyticsQueryRequest,
  { grouping, period, limit, offset, compared }: Query,
): Pick<AnalyticsQueryResponse, 'period' | 'query' | 'comparison'> => ({
  period: formatPeriod(period),
  query: {
    date_range: request.date_range,
    metrics: listMetrics(request),
    group_by: request.group_by,
    order_by: request.order_by,
    limit,
    offset,
    filters: request.filters,
    filtersOperator: request.filtersOperator,
    ...Object.fromEntries(listSent(request).map((name) => [name, request[name]])),
    ...(grouping.kind === 'interval' && showsInterval(request)
      ? { interval: grouping.granularity }
      : {}),
  },
  ...(compared === undefined ? {} : { comparison: { period: formatPeriod(compared.period) } }),
})

/** Returns the members of a request without a default that were sent. */
const listSent = (request: AnalyticsQueryRequest): readonly OptionalMember[] =>
  OPTIONAL_MEMBERS.filter((name) => request[name] !== undefined)

/** Whether to include `query.interval`. Requests that were valid before the field existed keep their old response. */
const showsInterval = (request: AnalyticsQueryRequest): boolean =>
  request.group_by[0] !== 'interval:auto' || listSent(request).length > 0

const shapeGroup = ({ grouping, thenBy }: GroupedBy, row: StoredRow): Row['group'] => ({
  ...shapeKey(grouping, row.group_key),
  ...thenBy.reduce((group, one, i) => ({ ...group, ...shapeKey(one, readThenKey(row, i)) }), {}),
})

const readThenKey = (row: StoredRow, i: number): string => {
  const name = THEN_KEYS[i]
  return (name === undefined ? undefined : row[name]) ?? ''
}

function shapeKey(grouping: Grouping, key: string | number): Row['group'] {
  switch (grouping.kind) {
    case 'none':
      return {}
    case 'interval':
      return { date: formatBucket(grouping, Number(key)) }
    case 'property':
      return { [`${PROPERTY_PREFIX}${grouping.name}`]: String(key) }
    case 'property_names':
      return { [PROPERTY_NAMES]: String(key) }
    case 'project':
      return { project: String(key) }
    case 'dimension':
      return { [grouping.dimension]: String(key) }
    case 'clock':
      return { [grouping.part]: String(key) }
    default:
      return grouping satisfies never
  }
}

/** Formats the start of a bucket: in UTC with `Z`, in another zone with its offset. */
const formatBucket = ({ granularity, zoned }: Series, key: number): string =>
  zoned === undefined
    ? formatMoment(GRANULARITIES[granularity].toStart(key))
    : formatLocal(zoned.zone, new Date(key * SECOND_MS))
