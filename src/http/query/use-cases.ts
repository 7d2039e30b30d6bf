/** The use cases of the query API, as its handlers are passed them. */
import type { ProjectFacts } from '../../analytics/cache/answer-name.js'
import type { Answers } from '../../analytics/cache/answers.js'
import type { ExportedEvents } from '../../analytics/export/export-events.js'
import type { StreamedAnswer } from '../../analytics/stream-analytics.js'
import type { Plan } from '../../analytics/plan/plan.js'
import type { Query } from '../../analytics/request/query.js'
import type { Grid } from '../../analytics/retention/grid.js'
import type {
  AnalyticsQueryRequest,
  AnalyticsQueryResponse,
  ExportRequest,
  FunnelExplainResponse,
  FunnelRequest,
  FunnelResponse,
  ExplainResponse,
  Project,
  RetentionExplainResponse,
  RetentionRequest,
  RetentionResponse,
  StreamedQueryRequest,
  ValuesRequest,
  ValuesResponse,
} from '../../contract/api.js'
import type { StoredProject } from '../../projects/project.js'
import type { AuthContext } from '../server/request-context.js'
import type { QueryQueue } from './queue/query-queue.js'

/**
 * Finds the key and the project that an Authorization header identifies.
 *
 * @throws ApiError UNAUTHORIZED for a missing or invalid key, SERVICE_UNAVAILABLE if it cannot be checked
 */
export type Authenticate = (header: string | undefined) => Promise<AuthContext>

/** The request that a use case works for, and how long it may work. */
export interface RequestScope {
  /** Milliseconds from the call to the result. */
  readonly timeoutMs: number
  /** Whether the store works on it only with the CPU time that others leave. */
  readonly yieldsCpu: boolean
  /** Aborts when the response can no longer be delivered. */
  readonly signal: AbortSignal
  /** The id of the request: 8 to 64 letters, digits, `-` and `_`. */
  readonly requestId: string
  /** The moment at which the question is asked; the clock says it if left out. */
  readonly now?: Date | undefined
}

/** What an operation learns whose answers are kept. */
export interface Notes<Resolved> {
  /** Takes what the operation learns about the project's data. */
  readonly facts: ProjectFacts
  /** Is called with what the request is resolved to. */
  readonly onResolve: (resolved: Resolved) => void
}

/** Runs an operation whose answers are kept. @param onPlan is called with each plan before it is run */
export type RunKept<Body, Resolved, Result> = (
  request: Body,
  project: StoredProject,
  scope: RequestScope,
  onPlan: (plan: Plan) => void,
  notes: Notes<Resolved>,
) => Promise<Result>

/**
 * Runs a query on a project, and hands its rows to `consume` while they arrive.
 *
 * @param onPlan is called with the plan before the query runs
 */
export type StreamQuery = (
  request: StreamedQueryRequest,
  project: StoredProject,
  scope: RequestScope,
  onPlan: (plan: Plan) => void,
  consume: (answer: StreamedAnswer) => Promise<void>,
) => Promise<void>

/** Reads the events of a project, and hands them to `consume` while they arrive. */
export type ExportEvents = (
  request: ExportRequest,
  project: StoredProject,
  scope: RequestScope,
  consume: (events: ExportedEvents) => Promise<void>,
) => Promise<void>

/** Runs an operation whose answers are not kept. @param onPlan is called with each plan before it is run */
export type RunOperation<Body, Result> = (
  request: Body,
  project: StoredProject,
  scope: RequestScope,
  onPlan: (plan: Plan) => void,
) => Promise<Result>

/** Runs a query on a project. */
export type RunQuery = RunKept<AnalyticsQueryRequest, Query, AnalyticsQueryResponse>

/** Reads the public fields of a project. */
export type ReadProject = (project: StoredProject, scope: RequestScope) => Promise<Project>

/** What the operations of the query API are made of. */
export interface ApiUseCases {
  readonly runQuery: RunQuery
  readonly streamQuery: StreamQuery
  readonly exportEvents: ExportEvents
  /** Lists the values of a field. */
  readonly listValues: RunKept<ValuesRequest, Query, ValuesResponse>
  /** Counts the users who come back. */
  readonly queryRetention: RunKept<RetentionRequest, Grid, RetentionResponse>
  /** Counts the users who go through some steps. */
  readonly queryFunnel: RunKept<FunnelRequest, Query, FunnelResponse>
  /** Explain how a request would be answered, without running it. */
  readonly explainQuery: RunOperation<AnalyticsQueryRequest, ExplainResponse>
  readonly explainRetention: RunOperation<RetentionRequest, RetentionExplainResponse>
  readonly explainFunnel: RunOperation<FunnelRequest, FunnelExplainResponse>
  readonly readProject: ReadProject
  /** Knows answers that were given before. */
  readonly answers: Answers
  /** The queue of all requests that read the store, but those of streams and exports. */
  readonly queue: QueryQueue
  /** The queue of requests whose answers are streamed: they last, and must not delay the others. */
  readonly streams: QueryQueue
  /** The queue of exports: they may last for hours, and leave the streams their places. */
  readonly exports: QueryQueue
  readonly now: () => Date
}
