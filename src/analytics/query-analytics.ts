/** Answers an analytics request about one project: the read path from the request to the response. */
import type { AnalyticsQueryRequest, AnalyticsQueryResponse, DateRange } from '../contract/api.js'
import type { Statement } from '../clickhouse/sql.js'
import type { ProjectSizes } from '../model/project-sizes.js'
import { ALL_RELATIONS, isRollup, type RelationName } from '../model/relations.js'
import { resolveComparison } from './request/comparison.js'
import { requireFewBuckets } from './request/intervals.js'
import { listPatternFields } from './request/filter-limits.js'
import { resolvePeriod } from './request/period.js'
import { createNonce, type MarkedRow } from '../model/origin.js'
import type { Plan } from './plan/plan.js'
import { planQuery, planWithOthers } from './plan/planner.js'
import { withoutWholeSessions } from './plan/ways.js'
import { resolveQuery, type Query } from './request/query.js'
import { checkRetention } from './request/retention.js'
import { requireFewSeriesRows } from './request/then-by.js'
import { namePatterns, runMarked } from './read-rows.js'
import { runPlan } from './rounds.js'
import { shapeResponse, type AnswerRows, type StoredRow } from './response.js'
import type { ShardGroup } from './sql/shards.js'

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

/**
 * Resolves a validated request.
 *
 * @param first the moment of the project's first event, null without events; read only for the date range `all`
 * @throws ApiError for a request that is refused
 */
export type Resolve<Request, Resolved> = (
  request: Request,
  project: QueriedProject,
  first: Date | null,
  now: Date,
) => Resolved

/** The dependencies of planning. */
export interface PlanDependencies {
  /** Reads the moment of a project's first event; null if it has no event. Called only for the date range `all`. */
  readonly firstEventAt: (projectId: string) => Promise<Date | null>
  readonly now: () => Date
  /** Returns the relations that may be read, the cheapest first; all by default. */
  readonly listRelations?: (() => readonly RelationName[]) | undefined
  /** Reads how much data a shard of the project has, if that is known soon; a query fails if it rejects. If left out, it is not known. */
  readonly readSizes?: ((projectId: string) => Promise<ProjectSizes | undefined>) | undefined
  /** The shards that the project lives across; if left out, it lives on the one that runs the statement. */
  readonly group?: ShardGroup | undefined
}

/** The dependencies of answering. */
export interface Dependencies extends PlanDependencies {
  /** Runs a statement; rejects with an ApiError. `total` is the number of rows before LIMIT and OFFSET. */
  readonly run: (
    statement: Statement,
  ) => Promise<{ readonly rows: readonly (StoredRow & MarkedRow)[]; readonly total: number }>
  /** Called with the plan before it is run. */
  readonly onPlan?: (plan: Plan) => void
}

/**
 * Answers a validated request.
 *
 * @throws ApiError PLAN_LIMIT_EXCEEDED, VALIDATION_ERROR for too many buckets or for a pattern that only the store refuses,
 *   INTERNAL_ERROR for rows of another project or request, or the error that `firstEventAt` or `run` rejects with
 */
export async function queryAnalytics(
  request: AnalyticsQueryRequest,
  project: QueriedProject,
  dependencies: Dependencies,
): Promise<AnalyticsQueryResponse> {
  const plan = await planAnalytics(request, project, dependencies)
  const answer = await runAnalytics(plan, dependencies).catch((error: unknown) => {
    throw namePatterns(error, listPatternFields(request.filters))
  })
  return shapeResponse(request, plan.query, answer)
}

/**
 * Runs a plan.
 *
 * @throws ApiError INTERNAL_ERROR for rows of another project or request, or the error that `run` rejects with
 */
export async function runAnalytics(
  plan: Plan,
  { run, onPlan, group }: Pick<Dependencies, 'run' | 'onPlan' | 'group'>,
): Promise<AnswerRows> {
  onPlan?.(plan)
  const origin = { projectId: plan.query.projectId, nonce: createNonce() }
  return runPlan(plan, origin.nonce, group, (asked) => runMarked(run, asked, origin))
}

/**
 * Plans how to answer a validated request.
 *
 * @throws ApiError PLAN_LIMIT_EXCEEDED, or the error that `firstEventAt` rejects with
 */
export const planAnalytics = (
  request: AnalyticsQueryRequest,
  project: QueriedProject,
  dependencies: PlanDependencies,
): Promise<Plan> => planRequest(resolveRequest, request, project, dependencies)

/**
 * Plans how to answer a validated request that is resolved to a query.
 *
 * @throws the error of `resolve`, or the one that `firstEventAt` rejects with
 */
export async function planRequest<Request extends { readonly date_range: DateRange }>(
  resolve: Resolve<Request, Query>,
  request: Request,
  project: QueriedProject,
  dependencies: PlanDependencies,
): Promise<Plan> {
  const query = await resolveNow(resolve, request, project, dependencies)
  return planWithOthers(query, await createPlanner(project, dependencies))
}

/**
 * Resolves a request at the current moment.
 *
 * @throws the error of `resolve`, or the one that `firstEventAt` rejects with
 */
export async function resolveNow<Request extends { readonly date_range: DateRange }, Resolved>(
  resolve: Resolve<Request, Resolved>,
  request: Request,
  project: QueriedProject,
  { firstEventAt, now }: Pick<PlanDependencies, 'firstEventAt' | 'now'>,
): Promise<Resolved> {
  const moment = now()
  const first = request.date_range === 'all' ? await firstEventAt(project.id) : null
  return resolve(request, project, first, moment)
}

const isFact = (relation: RelationName): boolean => !isRollup(relation)

/** Creates the function that plans queries about a project, from the relations that may be read and the sizes of the project. */
export async function createPlanner(
  project: QueriedProject,
  {
    listRelations,
    readSizes,
    group,
  }: Pick<PlanDependencies, 'listRelations' | 'readSizes' | 'group'>,
): Promise<(query: Query) => Plan> {
  const sizes = await readSizes?.(project.id)
  const listed = listRelations?.() ?? ALL_RELATIONS
  const known = group?.isWidening === true ? listed.filter(isFact) : listed
  const isCut = project.keepDays !== null || project.hasCutSessions
  // Without their sessions, events would be missed.
  const relations = isCut ? withoutWholeSessions(known) : known
  return (query) => planQuery(query, relations, sizes, group?.width)
}

/**
 * Resolves a validated request to a query.
 *
 * @throws ApiError PLAN_LIMIT_EXCEEDED, or VALIDATION_ERROR for a series of too many buckets, or a comparison with no period
 */
export function resolveRequest(
  request: AnalyticsQueryRequest,
  project: QueriedProject,
  first: Date | null,
  now: Date,
): Query {
  const period = resolvePeriod(
    request.date_range,
    first ?? project.createdAt,
    now,
    request.time_zone,
  )
  const compared = resolveComparison(request, period)
  checkRetention(period, project.retentionDays, now)
  if (compared !== undefined) {
    checkRetention(compared, project.retentionDays, now, 'period of compare')
  }
  requireFewBuckets(request, period, compared)
  requireFewSeriesRows(request, period)
  return resolveQuery(request, project.id, period, compared)
}
