/** Explains how a request for a funnel would be answered. */
import type { FunnelExplainResponse, FunnelRequest } from '../../contract/api.js'
import { prepareFunnel, shapeFunnelEcho } from '../funnel/query-funnel.js'
import { buildFunnelStatement } from '../funnel/statement.js'
import { describePlan } from '../plan/describe.js'
import type { PlanDependencies, QueriedProject } from '../query-analytics.js'
import { describeStatement, estimateAllRows, NONCE, planWithSizes } from './describe-work.js'

/**
 * Explains a validated request.
 *
 * @throws ApiError as `queryFunnel` does before it runs a statement
 */
export async function explainFunnel(
  request: FunnelRequest,
  project: QueriedProject,
  dependencies: PlanDependencies,
): Promise<FunnelExplainResponse> {
  const { planned: funnel, sizes } = await planWithSizes(dependencies, (given) =>
    prepareFunnel(request, project, given),
  )
  const { plan } = funnel
  const { group } = dependencies
  const shards = group?.width ?? 1
  return {
    ...shapeFunnelEcho(request, plan.query),
    plan: describePlan(plan) as FunnelExplainResponse['plan'],
    shards,
    estimatedRows: estimateAllRows([plan], sizes, shards),
    statement: describeStatement(buildFunnelStatement(funnel, NONCE, group)),
  }
}
