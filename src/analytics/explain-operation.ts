/** Explains how an operation would answer a request, without reading any event: its plan, its statement, and about how many rows it reads. */
import type { Statement } from '../clickhouse/sql.js'
import type { ExplainResponse } from '../contract/api.js'
import type { ProjectSizes } from '../model/project-sizes.js'
import { countRollupRows, estimateFacts } from './plan/estimates.js'
import { listJoinedPlans, listScans, type Plan, type Scan } from './plan/plan.js'
import type {
  DatedRequest,
  Explained,
  Operation,
  PlanDependencies,
  QueriedProject,
  StoredResponse,
} from './operation.js'
import { prepare } from './run-operation.js'

/** Stands in a statement for what marks its rows as those of one request. */
export const NONCE = 'explain'

/** What is explained about a response, after the part that repeats the request. */
export type Explanation = Pick<ExplainResponse, 'shards' | 'estimatedRows' | 'state'> & {
  readonly plan: object
  /** Absent if nothing is read. */
  readonly statement?: ExplainResponse['statement']
}

/**
 * Explains a validated request.
 *
 * @throws what `prepare` rejects with
 */
export async function explainOperation<Body extends DatedRequest, Resolved, Planned, Response>(
  operation: Operation<Body, Resolved, Planned, StoredResponse, Response>,
  explained: Explained<Planned>,
  request: Body,
  project: QueriedProject,
  { readSizes, ...dependencies }: PlanDependencies,
): Promise<Explanation> {
  let sizes: ProjectSizes | undefined
  const { resolved, planned } = await prepare(operation, request, project, {
    ...dependencies,
    readSizes: async (projectId) => (sizes = await readSizes?.(projectId)),
  })
  const { group, describeState } = dependencies
  const shards = group?.width ?? 1
  const statement = explained.buildStatement(planned, NONCE, group)
  return {
    ...operation.echo(request, resolved),
    plan: explained.describe(planned),
    shards,
    ...(describeState === undefined ? {} : { state: await describeState() }),
    estimatedRows: estimateAllRows(operation.listPlans(planned), sizes, shards),
    ...(statement === undefined ? {} : { statement: describeStatement(statement) }),
  }
}

const describeStatement = ({ query, query_params }: Statement): ExplainResponse['statement'] => ({
  sql: query,
  parameters: query_params,
  isOnly: true,
})

/** Counts the rows that plans read, on all shards together; null without the sizes of the project. */
function estimateAllRows(
  plans: readonly Plan[],
  sizes: ProjectSizes | undefined,
  shards: number,
): number | null {
  if (plans.length === 0) return 0
  if (sizes === undefined) return null
  return plans.reduce((sum, plan) => sum + estimateRows(plan, sizes, shards), 0)
}

/**
 * Estimates how many rows of events, sessions and rollups a plan reads, with those for its totals, its largest groups and its comparison.
 *
 * @param sizes those of one shard
 * @param width the number of shards
 */
function estimateRows(plan: Plan, sizes: ProjectSizes, width: number): number {
  const parts = [plan, ...listJoinedPlans(plan)]
  const own = parts.flatMap(listScans).map((scan) => estimateScannedRows(scan, sizes))
  const others = [plan.totals, plan.ranking, plan.comparison].map((other) =>
    other === undefined ? 0 : estimateRows(other, sizes, width),
  )
  return others.reduce(
    (sum, rows) => sum + rows,
    Math.round(width * own.reduce((sum, rows) => sum + rows, 0)),
  )
}

function estimateScannedRows(scan: Scan, sizes: ProjectSizes): number {
  const { relation, dimension, periods, isForCurrencies } = scan
  if (isForCurrencies === true) return 0
  if (dimension !== undefined) return countRollupRows(relation, dimension, periods, sizes)
  const { events, visits } = estimateFacts(sizes, periods)
  return relation === 'events' ? events : visits
}
