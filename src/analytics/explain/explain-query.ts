/** Explains how a request would be answered, without reading any event: its plan and its statement. */
import type { AnalyticsQueryRequest, ExplainResponse } from '../../contract/api.js'
import { describePlan } from '../plan/describe.js'
import { planAnalytics, type PlanDependencies, type QueriedProject } from '../query-analytics.js'
import { shapeEcho } from '../response.js'
import { buildFirstStatement } from '../rounds.js'
import { describeStatement, estimateAllRows, NONCE, planWithSizes } from './describe-work.js'

/**
 * Explains a validated request.
 *
 * @throws ApiError as `queryAnalytics` does before it runs a statement
 */
export async function explainQuery(
  request: AnalyticsQueryRequest,
  project: QueriedProject,
  dependencies: PlanDependencies,
): Promise<ExplainResponse> {
  const { planned: plan, sizes } = await planWithSizes(dependencies, (given) =>
    planAnalytics(request, project, given),
  )
  const { group } = dependencies
  const shards = group?.width ?? 1
  return {
    ...shapeEcho(request, plan.query),
    // The contract allows for further members; the description has only those that it names.
    plan: describePlan(plan) as ExplainResponse['plan'],
    shards,
    estimatedRows: estimateAllRows([plan], sizes, shards),
    statement: describeStatement(
      buildFirstStatement(plan, NONCE, group),
      group === undefined || plan.userCounting.kind === 'all',
    ),
  }
}
