/** Explains how a request for retention would be answered. */
import type { RetentionExplainResponse, RetentionRequest } from '../../contract/api.js'
import { describePlan, type PlanDescription } from '../plan/describe.js'
import type { PlanDependencies, QueriedProject } from '../query-analytics.js'
import { listRetentionPlans, type RetentionPlan } from '../retention/plan-retention.js'
import { prepareRetention, shapeRetentionEcho } from '../retention/query-retention.js'
import { buildRetentionStatement } from '../retention/statement.js'
import { describeStatement, estimateAllRows, NONCE, planWithSizes } from './describe-work.js'

/**
 * Explains a validated request.
 *
 * @throws ApiError as `queryRetention` does before it runs a statement
 */
export async function explainRetention(
  request: RetentionRequest,
  project: QueriedProject,
  dependencies: PlanDependencies,
): Promise<RetentionExplainResponse> {
  const { planned, sizes } = await planWithSizes(dependencies, (given) =>
    prepareRetention(request, project, given),
  )
  const { grid, plan } = planned
  const { group } = dependencies
  const shards = group?.width ?? 1
  const echo = shapeRetentionEcho(request, grid)
  if (plan === undefined) return { ...echo, plan: {}, shards, estimatedRows: 0 }
  return {
    ...echo,
    plan: describeRetentionPlans(plan),
    shards,
    estimatedRows: estimateAllRows(listRetentionPlans(plan), sizes, shards),
    statement: describeStatement(buildRetentionStatement(plan, NONCE, group)),
  }
}

/** Describes the plans of a table, by what they are for. */
export const describeRetentionPlans = ({
  cohorts,
  later,
}: RetentionPlan): Readonly<Record<string, PlanDescription>> => ({
  cohorts: describePlan(cohorts),
  ...(later === undefined ? {} : { later: describePlan(later) }),
})
