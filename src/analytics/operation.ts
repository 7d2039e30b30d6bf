/**
 * What an operation of the query API is. Each is one module of `operations/`, and one row of its `list.ts`; routes, batches, tools of
 * language models, the cache, validation, explanations and the command line go through the rows.
 */
import type { Statement } from '../clickhouse/sql.js'
import type { ResponseFormat } from '../contract/response-formats.js'
import type { DataState, DateRange, FieldError } from '../contract/api.js'
import type { Scope } from '../contract/scopes.js'
import type { MarkedRow } from '../model/origin.js'
import type { ProjectSizes } from '../model/project-sizes.js'
import type { RelationName } from '../model/relations.js'
import type { Plan, PlanDescription } from './plan/plan.js'
import type { Rule } from './request/cross-field-rules.js'
import type { Query } from './request/query.js'
import type { ShardGroup } from './sql/shards.js'
import type { Table } from './table.js'

/** The attributes of a project that its queries depend on. */
export interface QueriedProject {
  readonly id: string
  readonly createdAt: Date
  /** How many days back queries may reach; null for no limit. */
  readonly retentionDays: number | null
  /** How many days of data are kept; null for all. */
  readonly keepDays: number | null
  /** Whether there may be events whose session is no longer stored. */
  readonly hasCutSessions: boolean
  /** The names of the shards that it lives on; empty for the store of the projects alone. */
  readonly shards: readonly string[]
  /** Whether some of them may still have rows of users who have left for others. */
  readonly isWidening: boolean
}

/** The dependencies of planning. */
export interface PlanDependencies {
  /** Reads the moment of a project's first event; null if it has no event. Called only for the date range `all`. */
  readonly firstEventAt: (projectId: string) => Promise<Date | null>
  readonly now: () => Date
  /** Returns the relations that may be read, the cheapest first; all but those of pairs by default. */
  readonly listRelations?: (() => readonly RelationName[]) | undefined
  /** Reads how much data a shard of the project has, if that is known soon; a query fails if it rejects. If left out, it is not known. */
  readonly readSizes?: ((projectId: string) => Promise<ProjectSizes | undefined>) | undefined
  /** Describes the state of the data that is read, for explanations; if left out, they do not say it. */
  readonly describeState?: (() => Promise<DataState>) | undefined
  /** The shards that the project lives across; if left out, it lives on the one that runs the statement. */
  readonly group?: ShardGroup | undefined
}

/** The rows of a statement. */
export interface StatementRows<Row> {
  readonly rows: readonly Row[]
  /** The number of rows before LIMIT and OFFSET. */
  readonly total: number
}

/** Runs a statement; rejects with an ApiError. */
export type RunStatement = <Row extends object>(statement: Statement) => Promise<StatementRows<Row>>

/** Does the same; its rows say for which project and request they were computed. */
export type RunMarked = <Row extends object>(
  statement: Statement,
) => Promise<StatementRows<Row & MarkedRow>>

/** The dependencies of answering. */
export interface Dependencies extends PlanDependencies {
  readonly run: RunMarked
  /** Called with each plan before they are run. */
  readonly onPlan?: ((plan: Plan) => void) | undefined
}

/** The rows of a statement, some at a time and never none. At the end it returns how many there are before LIMIT and OFFSET. */
export type StoredRows<Stored> = AsyncGenerator<readonly Stored[], number, undefined>

/** Runs a statement and hands its rows to `consume`. Both reject with an ApiError, or with what `consume` rejects with. */
export type StreamRows = <Stored>(
  statement: Statement,
  consume: (rows: StoredRows<Stored>) => Promise<void>,
) => Promise<void>

/** The dependencies of responses that are streamed. */
export interface StreamDependencies extends Dependencies {
  readonly stream: StreamRows
}

/**
 * Resolves a validated request.
 *
 * @param first the moment of the project's first event, null without events; read only for the date range `all`
 * @throws ApiError for a request that is refused
 */
export type Resolve<Body, Resolved> = (
  request: Body,
  project: QueriedProject,
  first: Date | null,
  now: Date,
) => Resolved

/** The part of a request that is read without knowing its operation. */
export interface DatedRequest {
  readonly date_range: DateRange
}

/** Any body, before it is validated. */
export type AnyBody = Readonly<Record<string, unknown>>

/** What every operation declares. `Body` is a validated request: its type is that of the contract, with defaults filled in. */
export interface OperationBase<Body> {
  /** The name by which batches, tools and commands call it. */
  readonly name: string
  /** The path of the contract. All operations are POST. */
  readonly path: string
  /** The scope that an API key needs. */
  readonly scope: Scope
  /** When a language model should use it; the description of the contract follows. Operations without it are no tools. */
  readonly hint?: string
  /** Whether a request may name a time zone. If it names none, the project's is filled in. */
  readonly hasTimeZone?: true
  /** The rules that its schema cannot express. */
  readonly rules: readonly Rule<Body>[]
  /**
   * Finds a filter that lies too deep in others. Such a body is refused first, and for that alone, because schemas call a function
   * for each level. If left out, all filters are in `filters`.
   */
  findTooDeep?(body: AnyBody): FieldError | undefined
  /** Replaces what means the same as a member that is missing. The body may be anything. */
  normalize?(body: unknown): unknown
  /** Finds the errors of a body together with the format that is asked for. */
  checkFormat?(body: AnyBody, format: ResponseFormat): readonly FieldError[]
}

/** The part of a response that repeats the request. It comes first. */
export type Echo<Response> = Pick<Response, keyof Response & ('period' | 'query' | 'comparison')>

/** The other part of a response, which depends on the data. */
export type Rows<Response> = Omit<Response, 'period' | 'query' | 'comparison'>

/**
 * Writes the end of what is read. All moments from which on the project is known to have no events are written alike: a response
 * does not depend on which of them it is.
 */
export type WriteEnd = (end: Date) => number | string

/** Plans a query, for a project of known size. @param relations those that are read; all that may be read if left out */
export type PlanQuery = (query: Query, relations?: readonly RelationName[]) => Plan

/** What statements are run with. */
interface ReadContext {
  /** Marks the rows as those of this request. */
  readonly nonce: string
  readonly group: ShardGroup | undefined
  /** Runs a statement, and checks that its rows are those of this request. */
  readonly run: RunStatement
}

/** How an operation explains itself. */
export interface Explained<Planned> {
  /** The name by which batches call the explanation. */
  readonly name: string
  readonly path: string
  /** Describes the plan, or several by what they are for. */
  describe(planned: Planned): PlanDescription | Readonly<Record<string, PlanDescription>>
  /** Writes the statement; undefined if nothing is read. */
  buildStatement(
    planned: Planned,
    nonce: string,
    group: ShardGroup | undefined,
  ): Statement | undefined
}

/** An operation whose response is a body, which is kept and given again while the data is the same. */
export interface Operation<
  Body,
  Resolved,
  Planned,
  Stored extends StoredResponse,
  Response,
> extends OperationBase<Body> {
  /** Resolves a request at a moment. */
  resolve(...asked: Parameters<Resolve<Body, unknown>>): Resolved
  /** Plans how to answer. @param plan plans a query of it */
  plan(resolved: Resolved, plan: PlanQuery, request: Body): Planned
  /** Lists the plans that the statements are written from. */
  listPlans(planned: Planned): readonly Plan[]
  /** Runs the statements. @throws what `run` rejects with */
  read(planned: Planned, context: ReadContext): Promise<Stored>
  /** Builds the part of the response that depends on the data. */
  shape(request: Body, resolved: Resolved, stored: Stored): Rows<Response>
  /** Builds the part of the response that repeats the request. */
  echo(request: Body, resolved: Resolved): Echo<Response>
  /** Describes a response as a table. */
  toTable(response: Response): Table
  /** Lists the fields that hold patterns. */
  listPatternFields(request: Body): readonly string[]
  /** Names what the rows depend on, beside the data: not on how the request was put. */
  nameRows(request: Body, resolved: Resolved, writeEnd: WriteEnd): readonly unknown[]
  /** Lists the moments whose ends are named, ascending. No event from the last one on is read. */
  listEnds(request: Body, resolved: Resolved): readonly [Date, ...Date[]]
  /** Absent: it cannot be explained. */
  readonly explained?: Explained<Planned>
}

/** What the statements of an operation returned. */
export interface StoredResponse {
  readonly rows: readonly object[]
}

/** A response whose rows are on their way. */
export interface Streamed {
  readonly table: Table
  /** The members of the JSON before `data`. */
  readonly head: object
}

/** How an operation streams a response, which is not kept. */
export interface Streaming<Body> {
  /** The queue in which its requests wait. */
  readonly queue: 'streams' | 'exports'
  /** Whether it streams the response to a request; if left out, to every one. */
  streams?(request: Body): boolean
  /**
   * Hands the response to `send` as soon as there is a part of it.
   *
   * @throws ApiError for a request that is refused, INTERNAL_ERROR for rows of another project or request, or what `send` rejects with
   */
  stream(
    request: Body,
    project: QueriedProject,
    dependencies: StreamDependencies,
    send: (streamed: Streamed) => Promise<void>,
  ): Promise<void>
}

/** A body that has been validated for an operation. Only the operation knows its type. */
export type ValidBody = never

/** An operation whose response is a body, which is kept and given again while the data is the same. */
export type AnsweredOperation = Operation<ValidBody, unknown, unknown, StoredResponse, object>

/** An operation that streams some responses, or all of them. */
export type StreamedOperation = OperationBase<ValidBody> & Streaming<ValidBody>

/** Any operation. */
export type AnyOperation = OperationBase<ValidBody> &
  Partial<Omit<AnsweredOperation, keyof OperationBase<ValidBody>>> &
  Partial<Streaming<ValidBody>>
