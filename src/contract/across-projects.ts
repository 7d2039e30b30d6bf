/** The request and the response of `POST /v1/analytics/projects`: the metrics of several projects, one row each. */
import type {
  AnalyticsQueryRequest,
  AnalyticsQueryResponse,
  ErrorResponse,
  Metric,
  Row,
  SortDirection,
} from './api.js'

/** The size of the buckets of the series of the projects. */
export type AcrossInterval = 'day' | 'week' | 'month'

/** The members that mean what they mean in a query. */
type SharedMembers = Pick<
  AnalyticsQueryRequest,
  | 'date_range'
  | 'metrics'
  | 'limit'
  | 'offset'
  | 'filters'
  | 'filtersOperator'
  | 'time_zone'
  | 'compare'
  | 'compare_align'
>

/** A validated request: every default is filled in. */
export interface AcrossRequest extends SharedMembers {
  /** The ids of the projects; if left out, those of `org`, or all that the key may read. */
  readonly projects?: readonly string[]
  readonly org?: string
  /** Each row then has a series with buckets of this size. */
  readonly interval?: AcrossInterval
  /** One order, by a metric of the request or by the id of the project; empty: the first metric, descending. */
  readonly order_by: readonly (readonly [Metric | 'project', SortDirection])[]
}

/** A bucket of the series of a project. */
export interface AcrossBucket {
  /** The start of the bucket, as in a query with a time series. */
  readonly date: string
  readonly metrics: Row['metrics']
}

/** The metrics of a project: those of the same query with the key of the project. */
export interface AcrossRow {
  readonly project: string
  readonly metrics: Row['metrics']
  /** Only with `compare`. */
  readonly comparison?: NonNullable<Row['comparison']>
  /** Only with `interval`: every bucket of the period. */
  readonly series?: readonly AcrossBucket[]
}

/** A project whose query is refused, such as for its retention. These rows come last. */
export interface RefusedRow {
  readonly project: string
  readonly error: ErrorResponse['error']
}

export interface AcrossResponse {
  readonly period: AnalyticsQueryResponse['period']
  /** The request without its projects. */
  readonly query: Omit<AcrossRequest, 'projects' | 'org'>
  /** Only with `compare`. */
  readonly comparison?: NonNullable<AnalyticsQueryResponse['comparison']>
  /** `total` is the number of projects. */
  readonly pagination: AnalyticsQueryResponse['pagination']
  readonly data: readonly (AcrossRow | RefusedRow)[]
}
