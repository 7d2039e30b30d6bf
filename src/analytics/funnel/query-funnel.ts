/** Answers a request for a funnel: how many users go through its steps, one after the other. */
import type { FunnelRequest, FunnelResponse, FunnelStepResult } from '../../contract/api.js'
import { ALL_RELATIONS } from '../../model/relations.js'
import { canServe } from '../plan/coverage.js'
import type { Plan, RejectedRelation } from '../plan/plan.js'
import {
  createPlanner,
  resolveNow,
  type PlanDependencies,
  type QueriedProject,
  type Resolve,
} from '../query-analytics.js'
import { readRows, type RunRows } from '../read-rows.js'
import { resolveFilteredQuery } from '../request/derived-queries.js'
import { listPlacedPatternFields } from '../request/filter-limits.js'
import { parseFilters } from '../request/filters.js'
import { formatPeriod } from '../request/period.js'
import type { Query } from '../request/query.js'
import { resolveAllowedPeriod } from '../request/retention.js'
import { listFunnelFilters } from './rules.js'
import { buildFunnelStatement, type Funnel, type FunnelRow } from './statement.js'

export interface FunnelDependencies extends PlanDependencies {
  readonly run: RunRows<FunnelRow>
  /** Called with the plan before it is run. */
  readonly onPlan?: (plan: Plan) => void
}

/**
 * Answers a validated request.
 *
 * @throws ApiError PLAN_LIMIT_EXCEEDED, VALIDATION_ERROR for a pattern that only the store refuses, INTERNAL_ERROR for rows of
 *   another project or request, or the error that `firstEventAt` or `run` rejects with
 */
export async function queryFunnel(
  request: FunnelRequest,
  project: QueriedProject,
  dependencies: FunnelDependencies,
): Promise<FunnelResponse> {
  const { run, onPlan, group } = dependencies
  const funnel = await prepareFunnel(request, project, dependencies)
  onPlan?.(funnel.plan)
  const patternFields = listPlacedPatternFields(listFunnelFilters(request))
  const rows = await readRows({ projectId: project.id, patternFields }, run, (nonce) =>
    buildFunnelStatement(funnel, nonce, group),
  )
  return shapeResponse(request, funnel.plan.query, rows[0])
}

/**
 * Resolves and plans a validated request.
 *
 * @throws ApiError PLAN_LIMIT_EXCEEDED, or the error that `firstEventAt` rejects with
 */
export async function prepareFunnel(
  request: FunnelRequest,
  project: QueriedProject,
  dependencies: PlanDependencies,
): Promise<Funnel> {
  const query = await resolveNow(resolveFunnel, request, project, dependencies)
  const planEvents = await createPlanner(project, {
    ...dependencies,
    listRelations: () => [SOURCE],
  })
  const plan = { ...planEvents(query), rejected: REJECTED }
  return { plan, steps: request.steps.map(parseFilters), within: request.within }
}

/** The order of events is known to events alone. */
const SOURCE = 'events'
const REJECTED: readonly RejectedRelation[] = ALL_RELATIONS.filter(
  (relation) => relation !== SOURCE && canServe(relation, 'users'),
).map((relation) => ({
  relation,
  measures: ['users'],
  reason: 'it does not know the order of events',
}))

/**
 * Resolves a validated request to the query of the events that all steps look at.
 *
 * @throws ApiError PLAN_LIMIT_EXCEEDED
 */
export const resolveFunnel: Resolve<FunnelRequest, Query> = (request, project, first, now) =>
  resolveFilteredQuery(
    request,
    { metrics: ['users'], group_by: [] },
    project.id,
    resolveAllowedPeriod(request, project, first, now),
  )

function shapeResponse(
  request: FunnelRequest,
  query: Query,
  { users = [], medians = [] }: Partial<FunnelRow> = {},
): FunnelResponse {
  const count = (i: number): number => users[i] ?? 0
  return {
    ...shapeFunnelEcho(request, query),
    data: request.steps.map((_step, i): FunnelStepResult => ({
      step: i + 1,
      users: count(i),
      share_of_first: computeShare(count(i), count(0)),
      share_of_previous: i === 0 ? null : computeShare(count(i), count(i - 1)),
      median_seconds: count(i) === 0 ? null : toSeconds(medians[i - 1]),
    })),
  }
}

/** Builds the part of the body that repeats the question. It comes first. */
export const shapeFunnelEcho = (
  { date_range, steps, within, filters, filtersOperator }: FunnelRequest,
  { period }: Query,
): Pick<FunnelResponse, 'period' | 'query'> => ({
  period: formatPeriod(period),
  query: { date_range, steps, within, filters, filtersOperator },
})

/** Computes a share in per cent, to two decimals; null without a base. */
const computeShare = (users: number, base: number): number | null =>
  base === 0 ? null : Math.round((10_000 * users) / base) / 100

/** Turns milliseconds into seconds, to two decimals. A median lies at most halfway between two milliseconds. */
const toSeconds = (ms: number | null | undefined): number | null =>
  ms === null || ms === undefined ? null : Math.round(ms / 10) / 100
