/** Explains how a request would be answered, without reading any event: its plan and its statement. */
import type { AnalyticsQueryRequest, ExplainResponse } from '../../contract/api.js'
import type { ProjectSizes } from '../../model/project-sizes.js'
import { describePlan } from '../plan/describe.js'
import { planAnalytics, type PlanDependencies, type QueriedProject } from '../query-analytics.js'
import { shapeEcho } from '../response.js'
import { buildFirstStatement } from '../rounds.js'
import { estimateRows } from './estimate-rows.js'

/** Stands in a statement for what marks its rows as those of one request. */
const NONCE = 'explain'

/**
 * Explains a validated request.
 *
 * @throws ApiError as `queryAnalytics` does before it runs a statement
 */
export async function explainQuery(
  request: AnalyticsQueryRequest,
  project: QueriedProject,
  { readSizes, ...dependencies }: PlanDependencies,
): Promise<ExplainResponse> {
  let sizes: ProjectSizes | undefined
  const plan = await planAnalytics(request, project, {
    ...dependencies,
    readSizes: async (projectId) => (sizes = await readSizes?.(projectId)),
  })
  const { group } = dependencies
  const width = group?.width ?? 1
  const { query, query_params } = buildFirstStatement(plan, NONCE, group)
  return {
    ...shapeEcho(request, plan.query),
    // The contract allows for further members; the description has only those that it names.
    plan: describePlan(plan) as ExplainResponse['plan'],
    shards: width,
    estimatedRows: sizes === undefined ? null : estimateRows(plan, sizes, width),
    statement: {
      sql: query,
      parameters: query_params,
      isOnly: group === undefined || plan.userCounting.kind === 'all',
    },
  }
}
