/** Explains how a request for retention would be answered. */
import type { RetentionExplainResponse, RetentionRequest } from '../../contract/api.js'
import { describePlan } from '../plan/describe.js'
import type { PlanDependencies, QueriedProject } from '../query-analytics.js'
import { listRetentionPlans } from '../retention/plan-retention.js'
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
  const { cohorts, later } = plan
  return {
    ...echo,
    plan: {
      cohorts: describePlan(cohorts),
      ...(later === undefined ? {} : { later: describePlan(later) }),
    } as RetentionExplainResponse['plan'],
    shards,
    estimatedRows: estimateAllRows(listRetentionPlans(plan), sizes, shards),
    statement: describeStatement(buildRetentionStatement(plan, NONCE, group)),
  }
}
