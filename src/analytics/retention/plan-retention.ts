/** Plans a retention table: which relations are read for the cohorts, and for what their users did later. */
import type { Metric, RetentionRequest } from '../../contract/api.js'
import type { PlanQuery } from '../operation.js'
import type { Plan } from '../plan/plan.js'
import { numberBuckets } from '../request/buckets.js'
import type { Period } from '../request/period.js'
import { resolveFilteredQuery } from '../request/derived-queries.js'
import type { Query } from '../request/query.js'
import { findReadEnds, type Grid, type ProjectGrid } from './grid.js'

export interface RetentionPlan {
  readonly grid: Grid
  /** The new users of each interval of the period, and with them its users with matching events. */
  readonly cohorts: Plan
  /** The users with matching events by interval, from the end of that period on. Absent if nothing of it is counted. */
  readonly later?: Plan
  /** The number of the last cohort that has begun, and of the last interval that is read. */
  readonly lastCohort: number
  readonly lastInterval: number
}

/** Plans a retention table; undefined if the whole of it lies ahead. @param plan plans a query */
export function planRetention(
  grid: ProjectGrid,
  plan: PlanQuery,
  request: RetentionRequest,
): RetentionPlan | undefined {
  const { projectId, granularity, period, end } = grid
  if (period.start >= end) return undefined
  const [cohortsEnd, readEnd] = findReadEnds(grid)
  const begun = { start: period.start, end: cohortsEnd }
  const after = { start: cohortsEnd, end: readEnd }
  const [, lastCohort] = numberBuckets(granularity, begun)
  const [, lastInterval] = numberBuckets(granularity, { start: period.start, end: after.end })
  return {
    grid,
    cohorts: plan(toQuery(request, projectId, 'new_users', begun)),
    ...(after.start < after.end
      ? { later: plan(toQuery(request, projectId, 'users', after)) }
      : {}),
    lastCohort,
    lastInterval,
  }
}

/** Lists the plans of a table: they are read by one statement. */
export const listRetentionPlans = ({ cohorts, later }: RetentionPlan): readonly Plan[] =>
  later === undefined ? [cohorts] : [cohorts, later]

/** Builds the query for a metric by interval. Its predicate is that of the request. */
const toQuery = (
  { interval, ...request }: RetentionRequest,
  projectId: string,
  metric: Metric,
  period: Period,
): Query =>
  resolveFilteredQuery(
    request,
    { metrics: [metric], group_by: [`interval:${interval}`] },
    projectId,
    period,
  )
