/**
 * Estimates how much CPU time a plan takes, from the work that it does and what each unit of work costs.
 *
 * Across shards it is the CPU time of all of them together, and not the time until the response: every shard works on every query of
 * such a project, so CPU time decides how many queries it can answer. A plan that takes less of it is hardly ever later: the
 * shards work side by side and are about as large, and each further step costs CPU time on all of them, too.
 */
import { buildRecord } from '../../lib/records.js'
import type { ProjectSizes } from '../../model/project-sizes.js'
import type { ConsideredWay, Plan } from './plan.js'
import { countGroups } from './group-sizes.js'
import { listCountingSteps } from './steps.js'
import { estimateWork, UNITS, type Unit, type Work } from './work.js'

/**
 * What each unit of work costs, in microseconds of CPU time. `npm run -s bench:plans` measures plans and fits these costs to
 * them, as it did on 2026-11-22 with 20 million events on 2 × AMD EPYC. Only their proportions matter. `npm run -s
 * bench:cluster-plans` does the same for the work of the shard that asks others: on 2026-11-23, with 500,000 events across 2 and
 * across 4 embedded engines on the same machine.
 */
export const UNIT_COSTS: Readonly<Record<Unit, number>> = {
  /** A statement: what is the same in all. */
  statement: 1_700,
  /** A SELECT from a table: analysing it, and starting to read. */
  select: 5_000,
  /** A partition of a table from which a SELECT reads. */
  partition: 580,
  /** Counting users in a second step. */
  secondStep: 4_200,
  /** A row of a rollup that holds sums. */
  sumRow: 0.1,
  /** A row of a rollup that holds users, as a bitmap. */
  bitmap: 0.43,
  /** A user in such a bitmap. */
  bitmapUser: 0.0059,
  /** A column of an event that is read. */
  eventColumn: 0.0074,
  /** An event whose user is counted; more if there are many groups. */
  eventUser: 0.0058,
  /** A column of a session that is read. */
  sessionColumn: 0.016,
  /** A statement across shards: what the shard that asks does for it, whatever the statement reads. */
  wideStatement: 1_600,
  /** A SELECT of such a statement: the shard that asks analyses it twice. */
  wideSelect: 4_400,
  /** A shard that is asked by a step of such a statement. */
  askedShard: 1_800,
  /** A group that one of these shards returns. */
  shardGroup: 0.33,
}

/** Estimated milliseconds of CPU time, as in `ConsideredWay`. */
export type Cost = Pick<ConsideredWay, 'ms' | 'askingMs'>

/**
 * Estimates how many milliseconds of CPU time a plan takes, on all shards together.
 *
 * @param sizes those of one shard
 * @param width the number of shards
 */
export function estimateCost(plan: Plan, sizes: ProjectSizes, width = 1): Cost {
  if (width === 1) return { ms: addCosts(estimateWork(plan, sizes), UNIT_COSTS) }
  const { shards, asking } = estimateWideWork(plan, sizes, width)
  const askingMs = addCosts(asking, UNIT_COSTS)
  return { ms: addCosts(shards, UNIT_COSTS) + askingMs, askingMs }
}

/** The work of a plan on all its shards. */
export interface WideWork {
  /** What all shards do together for their groups. */
  readonly shards: Work
  /** What the shard that asks does besides: it analyses the statements, and adds up the groups. */
  readonly asking: Work
}

/**
 * Estimates the work of a plan across shards. The shards are asked once for each step of it.
 *
 * @param sizes those of one shard
 * @param width the number of shards
 */
export function estimateWideWork(plan: Plan, sizes: ProjectSizes, width: number): WideWork {
  const work = estimateWork(plan, sizes)
  const groups = countGroups(plan.query, sizes)
  const steps = [groups, ...listCountingSteps(plan).map(({ keys }) => Math.min(keys, groups))]
  const shard = { ...work, statement: steps.length }
  return {
    shards: buildRecord(UNITS, (unit) => width * shard[unit]),
    asking: {
      ...buildRecord(UNITS, () => 0),
      wideStatement: 1,
      wideSelect: work.select,
      askedShard: width * steps.length,
      shardGroup: width * steps.reduce((sum, count) => sum + count, 0),
    },
  }
}

/** Adds up the milliseconds of CPU time that some work takes. @param costs microseconds */
export const addCosts = (work: Work, costs: Readonly<Record<Unit, number>>): number =>
  UNITS.reduce((sum, unit) => sum + work[unit] * costs[unit], 0) / 1_000
