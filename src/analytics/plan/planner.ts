/** Plans a query: chooses the relations to read, and for which groups to count users. */
import { DEFAULT_SIZES, type ProjectSizes } from '../../model/project-sizes.js'
import { ALL_RELATIONS, isRollup, type RelationName } from '../../model/relations.js'
import {
  isRanked,
  toComparedQuery,
  toRankingQuery,
  toTotalsQuery,
} from '../request/derived-queries.js'
import type { Query } from '../request/query.js'
import { buildPlan, nameWay } from './build-plan.js'
import { estimateCost } from './cost.js'
import { listRelations, listScans, mergeSteps, type Plan } from './plan.js'
import { estimateFacts } from './sizes.js'
import { splitByGrain } from './split-period.js'
import { listAvoidingWays, withoutWholeSessions } from './ways.js'

/** Estimates err, so the first way that is listed is replaced only by one that is estimated to take less than this share of its time. */
const MAX_SHARE = 0.85

/**
 * From this many events on, facts of whole days are found by the column of their day; below, by their moments: a condition on
 * both takes ClickHouse about a millisecond. If the period has edges as well, these are read apart, which takes it several.
 */
const MIN_EVENTS_OF_DAYS = { alone: 20_000, besideEdges: 400_000 }

/**
 * Plans a query. It reads no data: the plan follows from the arguments alone. It reads rollups as far as
 * they reach and counts all users at once, unless another way is estimated to take clearly less time.
 *
 * @param relations the relations that may be read, the cheapest first; the facts must be among them
 * @param sizes those of one shard of the project; they decide how the response is computed, and never what it is
 * @param width the number of shards that the project lives across
 */
export function planQuery(
  query: Query,
  relations: readonly RelationName[] = ALL_RELATIONS,
  sizes: ProjectSizes = DEFAULT_SIZES,
  width = 1,
): Plan {
  const plan = choosePlan(query, relations, sizes, width)
  if (!isRanked(query)) return plan
  return { ...plan, ranking: choosePlan(toRankingQuery(query), relations, sizes, width) }
}

function choosePlan(
  query: Query,
  relations: readonly RelationName[],
  sizes: ProjectSizes,
  width: number,
): Plan {
  const ways = [...listPlans(query, relations)].map(([name, plan]) => ({
    name,
    plan,
    ...estimateCost(plan, sizes, width),
  }))
  const [usual] = ways
  const considered = ways.toSorted((one, other) => one.ms - other.ms)
  const [cheapest] = considered
  if (usual === undefined || cheapest === undefined) throw new TypeError('every query has a plan')
  const best = cheapest.ms < usual.ms * MAX_SHARE ? cheapest : usual
  return {
    ...best.plan,
    readsDays: isReadingDaysLikelyToPay(best.plan, sizes),
    considered: considered.map(({ plan, ...way }) => ({ ...way, isChosen: plan === best.plan })),
  }
}

/**
 * Plans a query, its totals, and what it is compared with.
 *
 * @param plan plans each of them
 */
export function planWithOthers(query: Query, plan: (query: Query) => Plan): Plan {
  const compared = toComparedQuery(query)
  return {
    ...plan(query),
    ...(query.includesTotals ? { totals: planWithOthers(toTotalsQuery(query), plan) } : {}),
    ...(compared === undefined ? {} : { comparison: toSingleStep(plan(compared)) }),
  }
}

/** Returns a plan in a single step. Series of the largest groups are those of the groups of the query that is compared. */
const toSingleStep = ({ ranking: _, ...plan }: Plan): Plan => ({
  ...plan,
  scans: mergeSteps(plan),
  userCounting: { kind: 'all' },
})

function isReadingDaysLikelyToPay(plan: Plan, sizes: ProjectSizes): boolean {
  return listScans(plan)
    .filter(({ relation }) => !isRollup(relation))
    .some(({ periods }) => {
      const hasEdges = splitByGrain(periods, 'day').outside.length > 0
      const { alone, besideEdges } = MIN_EVENTS_OF_DAYS
      return estimateFacts(sizes, periods).events >= (hasEdges ? besideEdges : alone)
    })
}

/** Lists the different plans of a query by name, first the one that reads all rollups and counts all users at once. All give the same answer. */
export function listPlans(
  query: Query,
  relations: readonly RelationName[],
): ReadonlyMap<string, Plan> {
  const plans = new Map<string, Plan>()
  // Sessions are compared with events. Where rollups answer, no estimate is needed to prefer them.
  const withSessions = buildPlan(query, { relations, avoided: new Set(), defersUsers: false })
  for (const plan of [...listPlansFrom(query, withoutWholeSessions(relations)), withSessions]) {
    const name = nameWay(plan)
    if (!plans.has(name)) plans.set(name, plan)
  }
  return plans
}

/** Lists the plans that read all rollups that they can, or avoid some. Several may be the same. */
function listPlansFrom(query: Query, relations: readonly RelationName[]): readonly Plan[] {
  const first = buildPlan(query, { relations, avoided: new Set(), defersUsers: true })
  const read = listRelations(first)
  return (first.userCounting.kind === 'all' ? [false] : [false, true]).flatMap((defersUsers) => {
    const way = { relations, avoided: new Set<RelationName>(), defersUsers }
    const plans = [way, ...listAvoidingWays(way, read)].map((one) => buildPlan(query, one))
    // To read facts twice never pays.
    return plans.filter((plan) => !defersUsers || readsRollups(plan))
  })
}

const readsRollups = (plan: Plan): boolean =>
  listScans(plan).some(({ relation }) => isRollup(relation))
