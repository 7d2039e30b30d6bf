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
import { planRetention } from './plan-retention.js'
import { buildRetentionStatement, type CohortRow } from './statement.js'

export interface RetentionDependencies extends PlanDependencies {
  readonly run: RunRows<CohortRow>
  /** Called with each plan before they are run. */
  readonly onPlan?: (plan: Plan) => void
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
  const { run, onPlan, group } = dependencies
  const grid = await resolveNow(resolveRetention, request, project, dependencies)
  const plan = planRetention(request, project.id, grid, await createPlanner(project, dependencies))
  if (plan === undefined) return shapeResponse(request, grid, [])
  for (const part of [plan.cohorts, plan.later]) if (part !== undefined) onPlan?.(part)
  const patternFields = listPatternFields(request.filters)
  const rows = await readRows<CohortRow>({ projectId: project.id, patternFields }, run, (nonce) =>
    buildRetentionStatement(plan, nonce, group),
  )
  return shapeResponse(request, grid, rows)
}

function shapeResponse(
  { interval, date_range, filters, filtersOperator }: RetentionRequest,
  grid: Grid,
  rows: readonly CohortRow[],
): RetentionResponse {
  const { firstCohort, lastCohort, intervals, period } = grid
  const counts = new Map(rows.map((row) => [row.group_key, row.counts]))
  return {
    period: formatPeriod(period),
    query: { interval, date_range, intervals, filters, filtersOperator },
    data: Array.from({ length: lastCohort - firstCohort + 1 }, (_, i) =>
      shapeCohort(grid, firstCohort + i, counts.get(firstCohort + i) ?? []),
    ),
  }
}

/** Shapes a cohort. What lies ahead is null. */
function shapeCohort(grid: Grid, cohort: number, counts: readonly number[]): Cohort {
  const read = (k: number): number | null => (hasBegun(grid, cohort + k) ? (counts[k] ?? 0) : null)
  return {
    start: formatMoment(GRANULARITIES[grid.granularity].toStart(cohort)),
    size: read(0),
    counts: Array.from({ length: grid.intervals }, (_, i) => read(i + 1)),
  }
}
