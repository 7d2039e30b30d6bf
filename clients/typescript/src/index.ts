/** A client of the query API of Tallyhouse. */
import createClient, { type Client } from 'openapi-fetch'
import type {
  BatchRequest,
  BatchResponse,
  ExplainResponse,
  FunnelExplainResponse,
  FunnelRequest,
  FunnelResponse,
  Project,
  QueryRequest,
  QueryResponse,
  RetentionExplainResponse,
  RetentionRequest,
  RetentionResponse,
  paths,
  ValuesRequest,
  ValuesResponse,
} from './contract.js'
import { createExports, type Exports } from './exports.js'
import { readAllRows, readPages } from './pages.js'
import { toResult, type Result } from './result.js'
import { fetchWhole, retryFetch, type RetryOptions, type Send } from './retry.js'

export type * from './contract.js'
export type { EventStream, ExportFormat, ExportOptions } from './exports.js'
export type { Result, TallyhouseError } from './result.js'
export type { RetryOptions, Send } from './retry.js'
export { IncompleteResponseError } from './streams.js'

export interface ClientOptions extends RetryOptions {
  /** The URL of the service, such as `https://stats.example`. */
  readonly url: string
  /** The API key. It belongs on servers only. */
  readonly apiKey: string
  /** Sends requests; the global `fetch` by default. */
  readonly fetch?: Send
}

/** What a single request may have. */
export interface RequestOptions {
  /** Aborts the request, and its waits between retries. */
  readonly signal?: AbortSignal
}

export interface TallyhouseClient extends Exports {
  /** POST /v1/analytics/query */
  query(body: QueryRequest, options?: RequestOptions): Promise<Result<QueryResponse>>
  /** All pages of a query, as they come. The period is that of the first page; an error is the last page. */
  pages(body: QueryRequest, options?: RequestOptions): AsyncGenerator<Result<QueryResponse>>
  /** The rows of all pages of a query. */
  allRows(body: QueryRequest, options?: RequestOptions): Promise<Result<QueryResponse['data']>>
  /** POST /v1/analytics/values */
  values(body: ValuesRequest, options?: RequestOptions): Promise<Result<ValuesResponse>>
  /** POST /v1/analytics/batch */
  batch(body: BatchRequest, options?: RequestOptions): Promise<Result<BatchResponse>>
  /** POST /v1/analytics/retention */
  retention(body: RetentionRequest, options?: RequestOptions): Promise<Result<RetentionResponse>>
  /** POST /v1/analytics/funnel */
  funnel(body: FunnelRequest, options?: RequestOptions): Promise<Result<FunnelResponse>>
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
  /** GET /v1/project */
  project(options?: RequestOptions): Promise<Result<Project>>
}

/** Creates a client. */
export function createTallyhouse({
  url,
  apiKey,
  fetch: send = (request) => fetch(request),
  ...retry
}: ClientOptions): TallyhouseClient {
  const open = (once: Send): Client<paths> =>
    createClient<paths>({
      baseUrl: url.replace(/\/+$/, ''),
      headers: { Authorization: `Bearer ${apiKey}` },
      fetch: retryFetch(once, retry),
    })
  const api = open(fetchWhole(send))
  const query: TallyhouseClient['query'] = (body, options) =>
    toResult<QueryResponse>(api.POST('/v1/analytics/query', { body, ...options }))
  return {
    query,
    pages: (body, options) => readPages((page) => query(page, options), body),
    allRows: (body, options) => readAllRows((page) => query(page, options), body),
    values: (body, options) =>
      toResult<ValuesResponse>(api.POST('/v1/analytics/values', { body, ...options })),
    batch: (body, options) =>
      toResult<BatchResponse>(api.POST('/v1/analytics/batch', { body, ...options })),
    retention: (body, options) =>
      toResult<RetentionResponse>(api.POST('/v1/analytics/retention', { body, ...options })),
    funnel: (body, options) =>
      toResult<FunnelResponse>(api.POST('/v1/analytics/funnel', { body, ...options })),
    ...createExplains(api),
    // An export is a stream: what was read of it cannot be taken back.
    ...createExports(open(send)),
    project: async (options) => {
      const result = await toResult<{ readonly project: Project }>(
        api.GET('/v1/project', { ...options }),
      )
      return result.ok ? { ok: true, data: result.data.project } : result
    },
  }
}

const createExplains = (
  api: Client<paths>,
): Pick<TallyhouseClient, 'explain' | 'explainRetention' | 'explainFunnel'> => ({
  explain: (body, options) =>
    toResult<ExplainResponse>(api.POST('/v1/analytics/explain', { body, ...options })),
  explainRetention: (body, options) =>
    toResult<RetentionExplainResponse>(
      api.POST('/v1/analytics/retention/explain', { body, ...options }),
    ),
  explainFunnel: (body, options) =>
    toResult<FunnelExplainResponse>(api.POST('/v1/analytics/funnel/explain', { body, ...options })),
})
