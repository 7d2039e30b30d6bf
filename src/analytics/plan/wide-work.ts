/** Estimates the work of a plan for a project that lives across several shards: what they do, and what the shard that asks does. */
import { buildRecord } from '../../lib/records.js'
import type { ProjectSizes } from '../../model/project-sizes.js'
import type { Plan } from './plan.js'
import { listShardWork, UNITS, type Work } from './work.js'

/** The work of a plan on all its shards. */
export interface WideWork {
  /** What all shards do together for their groups. */
  readonly shards: Work
  /** What the shard that asks does besides: it analyses the statements, and adds up the groups. */
  readonly asking: Work
}

/**
 * Estimates the work of a plan across shards. Each step is a statement of its own, and all shards work on each of them.
 *
 * @param sizes those of one shard
 * @param width the number of shards
 */
export function estimateWideWork(plan: Plan, sizes: ProjectSizes, width: number): WideWork {
  const statements = listShardWork(plan, sizes)
  const add = (of: (work: (typeof statements)[number]) => number): number =>
    statements.reduce((sum, statement) => sum + of(statement), 0)
  return {
    shards: buildRecord(UNITS, (unit) => width * add(({ work }) => work[unit])),
    asking: {
      ...buildRecord(UNITS, () => 0),
      wideStatement: statements.length,
      wideSelect: add(({ work }) => work.select),
      askedShard: width * statements.length,
      shardGroup: width * add(({ groups }) => groups),
    },
  }
}
