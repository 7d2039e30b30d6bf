/** Answers a request for a retention table: how many users of each cohort came back. */
import type { Cohort, RetentionRequest, RetentionResponse } from '../../contract/api.js'
import { GRANULARITIES } from '../../model/granularities.js'
import type { Plan } from '../plan/plan.js'
import {
  createPlanner,
  resolveNow,
  type PlanDependencies,
  type QueriedProject,
} from '../query-analytics.js'
import { readRows, type RunRows } from '../read-rows.js'
import { listPatternFields } from '../request/filter-limits.js'
import { formatMoment, formatPeriod } from '../request/period.js'
import { hasBegun, resolveRetention, type Grid } from './grid.js'
import { listRetentionPlans, planRetention, type RetentionPlan } from './plan-retention.js'
import { buildRetentionStatement, type CohortRow } from './statement.js'

export interface RetentionDependencies extends PlanDependencies {
  readonly run: RunRows<CohortRow>
  /** Called with each plan before they are run. */
  readonly onPlan?: (plan: Plan) => void
  /** Called with what the request is resolved to. */
  readonly onResolve?: (grid: Grid) => void
}

/** A request that is resolved and planned. */
export interface PreparedRetention {
  readonly grid: Grid
  /** Undefined if the whole table lies ahead. */
  readonly plan: RetentionPlan | undefined
}

/**
 * Answers a validated request.
 *
 * @throws ApiError PLAN_LIMIT_EXCEEDED, VALIDATION_ERROR for too many counts or for a pattern that only the store refuses,
 *   INTERNAL_ERROR for rows of another project or request, or the error that `firstEventAt` or `run` rejects with
 */
export async function queryRetention(
  request: RetentionRequest,
  project: QueriedProject,
  dependencies: RetentionDependencies,
): Promise<RetentionResponse> {
  const { run, onPlan, onResolve, group } = dependencies
  const { grid, plan } = await prepareRetention(request, project, dependencies)
  onResolve?.(grid)
  if (plan === undefined) return shapeResponse(request, grid, [])
  for (const part of listRetentionPlans(plan)) onPlan?.(part)
  const patternFields = listPatternFields(request.filters)
  const rows = await readRows<CohortRow>({ projectId: project.id, patternFields }, run, (nonce) =>
    buildRetentionStatement(plan, nonce, group),
  )
  return shapeResponse(request, grid, rows)
}

/**
 * Resolves and plans a validated request.
 *
 * @throws ApiError PLAN_LIMIT_EXCEEDED, VALIDATION_ERROR for too many counts, or the error that `firstEventAt` rejects with
 */
export async function prepareRetention(
  request: RetentionRequest,
  project: QueriedProject,
  dependencies: PlanDependencies,
): Promise<PreparedRetention> {
  const grid = await resolveNow(resolveRetention, request, project, dependencies)
  const plan = await createPlanner(project, dependencies)
  return { grid, plan: planRetention(request, project.id, grid, plan) }
}

function shapeResponse(
  request: RetentionRequest,
  grid: Grid,
  rows: readonly CohortRow[],
): RetentionResponse {
  const { firstCohort, lastCohort } = grid
  const counts = new Map(rows.map((row) => [row.group_key, row.counts]))
  return {
    ...shapeRetentionEcho(request, grid),
    data: Array.from({ length: lastCohort - firstCohort + 1 }, (_, i) =>
      shapeCohort(grid, firstCohort + i, counts.get(firstCohort + i) ?? []),
    ),
  }
}

/** Builds the part of the body that repeats the question. It comes first. */
export const shapeRetentionEcho = (
  { interval, date_range, filters, filtersOperator }: RetentionRequest,
  { period, intervals }: Grid,
): Pick<RetentionResponse, 'period' | 'query'> => ({
  period: formatPeriod(period),
  query: { interval, date_range, intervals, filters, filtersOperator },
})

/** Shapes a cohort. What lies ahead is null. */
function shapeCohort(grid: Grid, cohort: number, counts: readonly number[]): Cohort {
  const read = (k: number): number | null => (hasBegun(grid, cohort + k) ? (counts[k] ?? 0) : null)
  return {
    start: formatMoment(GRANULARITIES[grid.granularity].toStart(cohort)),
    size: read(0),
    counts: Array.from({ length: grid.intervals }, (_, i) => read(i + 1)),
  }
}
