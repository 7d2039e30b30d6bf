/** Estimates how many rows a plan reads, from the sizes of the project. */
import type { ProjectSizes } from '../../model/project-sizes.js'
import { countRollupRows } from '../plan/group-sizes.js'
import { listNewUserPlans, listScans, type Plan, type Scan } from '../plan/plan.js'
import { estimateFacts } from '../plan/sizes.js'

/**
 * Estimates how many rows of events, sessions and rollups a plan reads, with those for its totals, its largest groups and its comparison.
 *
 * @param sizes those of one shard
 * @param width the number of shards
 */
export function estimateRows(plan: Plan, sizes: ProjectSizes, width: number): number {
  const parts = [plan, ...listNewUserPlans(plan)]
  const own = parts.flatMap(listScans).map((scan) => estimateScannedRows(scan, sizes))
  const others = [plan.totals, plan.ranking, plan.comparison].map((other) =>
    other === undefined ? 0 : estimateRows(other, sizes, width),
  )
  return others.reduce(
    (sum, rows) => sum + rows,
    Math.round(width * own.reduce((sum, rows) => sum + rows, 0)),
  )
}

function estimateScannedRows({ relation, dimension, periods }: Scan, sizes: ProjectSizes): number {
  if (dimension !== undefined) return countRollupRows(relation, dimension, periods, sizes)
  const { events, visits } = estimateFacts(sizes, periods)
  return relation === 'events' ? events : visits
}
