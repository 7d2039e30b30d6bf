/** A client of Tallyhouse: it asks the query API, sends events, and manages projects. */
import { sendBatch, type BatchResponse, type CheckedBatch } from './batch.js'
import type {
  BatchRequest,
  ExplainResponse,
  FunnelExplainResponse,
  FunnelRequest,
  FunnelResponse,
  JourneysExplainResponse,
  JourneysRequest,
  JourneysResponse,
  Project,
  RetentionExplainResponse,
  RetentionRequest,
  RetentionResponse,
  ValuesRequest,
  ValuesResponse,
} from './contract.js'
import { connect, type ConnectionOptions, type RequestOptions } from './http.js'
import { readAllRows, readPages } from './pages.js'
import type { Result } from './result.js'
import type { Checked, QueryRequest, QueryResponse, Row } from './rows.js'
import { createTables, type Tables } from './tables.js'

export type { BatchResponse, CheckedBatch } from './batch.js'
export type * from './contract.js'
export { QueueFullError, type DeliveryOptions, type Exclusion, type SentEvent } from './delivery.js'
export type { ConnectionOptions, RequestOptions, Send } from './http.js'
export {
  createManagement,
  type ManagementClient,
  type ManagementOptions,
  type WaitOptions,
} from './management.js'
export type { TaggedResult, Upload } from './management-request.js'
export { IncompleteResponseError, type Result, type TallyhouseError } from './result.js'
export type { RetryOptions } from './retries.js'
export type { Checked, FlatRow, QueryRequest, QueryResponse, Row } from './rows.js'
export type {
  EventStream,
  ExportFormat,
  ExportOptions,
  TableFormat,
  TableInfo,
  TableOptions,
  TableRequests,
} from './tables.js'
export {
  createTracker,
  type AnyEvents,
  type TrackedEvent,
  type Tracker,
  type TrackerOptions,
  type Visitor,
} from './tracker.js'

export interface ClientOptions extends ConnectionOptions {
  /** The API key. It belongs on servers only. */
  readonly apiKey: string
}

export interface TallyhouseClient extends Tables {
  /** POST /v1/analytics/query. The rows have the metrics and groups that the body names. */
  query<const B extends QueryRequest>(
    body: B & Checked<B>,
    options?: RequestOptions,
  ): Promise<Result<QueryResponse<B>>>
  /** All pages of a query, as they come. The period is that of the first page; an error is the last page. */
  pages<const B extends QueryRequest>(
    body: B & Checked<B>,
    options?: RequestOptions,
  ): AsyncGenerator<Result<QueryResponse<B>>>
  /** The rows of all pages of a query. `limit` is the size of a page. */
  allRows<const B extends QueryRequest>(
    body: B & Checked<B>,
    options?: RequestOptions,
  ): Promise<Result<readonly Row<B>[]>>
  /** POST /v1/analytics/values */
  values(body: ValuesRequest, options?: RequestOptions): Promise<Result<ValuesResponse>>
  /** POST /v1/analytics/batch. Queries that failed for now are sent again, as those that are sent alone. */
  batch<const B extends BatchRequest>(
    body: B & CheckedBatch<B>,
    options?: RequestOptions,
  ): Promise<Result<BatchResponse<B>>>
  /** POST /v1/analytics/retention */
  retention(body: RetentionRequest, options?: RequestOptions): Promise<Result<RetentionResponse>>
  /** POST /v1/analytics/funnel */
  funnel(body: FunnelRequest, options?: RequestOptions): Promise<Result<FunnelResponse>>
  /** POST /v1/analytics/journeys */
  journeys(body: JourneysRequest, options?: RequestOptions): Promise<Result<JourneysResponse>>
  /** POST /v1/analytics/explain */
  explain(body: QueryRequest, options?: RequestOptions): Promise<Result<ExplainResponse>>
  /** POST /v1/analytics/retention/explain */
  explainRetention(
    body: RetentionRequest,
    options?: RequestOptions,
  ): Promise<Result<RetentionExplainResponse>>
  /** POST /v1/analytics/funnel/explain */
  explainFunnel(
    body: FunnelRequest,
    options?: RequestOptions,
  ): Promise<Result<FunnelExplainResponse>>
  /** POST /v1/analytics/journeys/explain */
  explainJourneys(
    body: JourneysRequest,
    options?: RequestOptions,
  ): Promise<Result<JourneysExplainResponse>>
  /** GET /v1/project */
  project(options?: RequestOptions): Promise<Result<Project>>
}

/** Creates a client of the query API. */
export function createTallyhouse({ apiKey, ...options }: ClientOptions): TallyhouseClient {
  const ask = connect(apiKey, options)
  const post =
    <Data>(path: string) =>
    (body: object, request?: RequestOptions): Promise<Result<Data>> =>
      ask<Data>(`/v1/analytics/${path}`, body, request)
  const query = post<QueryResponse>('query')
  const batch = post<BatchResponse>('batch')
  type Client = TallyhouseClient
  return {
    // The types of these responses follow from those of the bodies.
    query: query as Client['query'],
    pages: ((body: QueryRequest, request) =>
      readPages((page) => query(page, request), body)) as Client['pages'],
    allRows: ((body: QueryRequest, request) =>
      readAllRows((page) => query(page, request), body)) as Client['allRows'],
    batch: ((body: BatchRequest, request) =>
      sendBatch((part) => batch(part, request), body, options, request?.signal)) as Client['batch'],
    ...createTables(ask),
    values: post('values'),
    retention: post('retention'),
    funnel: post('funnel'),
    journeys: post('journeys'),
    explain: post('explain'),
    explainRetention: post('retention/explain'),
    explainFunnel: post('funnel/explain'),
    explainJourneys: post('journeys/explain'),
    project: async (request) => {
      const result = await ask<{ readonly project: Project }>('/v1/project', undefined, request)
      return result.ok ? { ok: true, data: result.data.project } : result
    },
  }
}
