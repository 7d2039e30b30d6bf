/** Describes what is read for an answer: the statement, on how many shards, and about how many rows. */
import type { Statement } from '../../clickhouse/sql.js'
import type { ExplainResponse } from '../../contract/api.js'
import type { ProjectSizes } from '../../model/project-sizes.js'
import type { Plan } from '../plan/plan.js'
import type { PlanDependencies } from '../query-analytics.js'
import { estimateRows } from './estimate-rows.js'

/** Stands in a statement for what marks its rows as those of one request. */
export const NONCE = 'explain'

/** What was planned, with the sizes of the project that it was planned with. */
interface Planned<What> {
  readonly planned: What
  /** Undefined if they are not known. */
  readonly sizes: ProjectSizes | undefined
}

/** Plans something, and keeps the sizes that it was planned with. @throws what `plan` rejects with */
export async function planWithSizes<What>(
  { readSizes, ...dependencies }: PlanDependencies,
  plan: (dependencies: PlanDependencies) => Promise<What>,
): Promise<Planned<What>> {
  let sizes: ProjectSizes | undefined
  const planned = await plan({
    ...dependencies,
    readSizes: async (projectId) => (sizes = await readSizes?.(projectId)),
  })
  return { planned, sizes }
}

/** Counts the rows that plans read, on all shards together; null without the sizes of the project. */
export const estimateAllRows = (
  plans: readonly Plan[],
  sizes: ProjectSizes | undefined,
  shards: number,
): number | null =>
  sizes === undefined
    ? null
    : plans.reduce((sum, plan) => sum + estimateRows(plan, sizes, shards), 0)

/** Describes a statement. @param isOnly whether the answer is read by it alone */
export const describeStatement = (
  { query, query_params }: Statement,
  isOnly = true,
): ExplainResponse['statement'] => ({ sql: query, parameters: query_params, isOnly })
