/** Plans a query: builds a plan for each way of reading, and chooses one. */
import { EVENT_LIMITS } from '../../model/event-fields.js'
import { CONVERSION_METRICS, isOfVisits } from '../../model/goals.js'
import { isOfEvents, isOfNumbers, type Measure } from '../../model/measures.js'
import { describeMetric } from '../../model/metrics.js'
import { DEFAULT_SIZES, type ProjectSizes } from '../../model/project-sizes.js'
import {
  ALL_RELATIONS,
  RELATIONS,
  type Grain,
  isRollup,
  type RelationName,
} from '../../model/relations.js'
import {
  isRanked,
  toComparedQuery,
  toConversionsQuery,
  toRankingQuery,
  toTotalsQuery,
  withoutThenBy,
} from '../request/derived-queries.js'
import type { Predicate } from '../request/filters.js'
import { isByProject, type Grouping, type Query } from '../request/query.js'
import { isAlwaysNull } from '../request/visit-groups.js'
import { estimateCost } from './cost.js'
import { listTerms, type Need } from './coverage.js'
import {
  buildScans,
  createDivider,
  type Division,
  listRejections,
  splitByGrain,
} from './divide-period.js'
import { estimateFacts } from './estimates.js'
import {
  listRelations,
  listScans,
  type ConversionsPlan,
  mergeSteps,
  type NewUsersPlan,
  type Plan,
  type RowSource,
  type Scan,
  type UserCounting,
} from './plan.js'

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
  const ways = [...listPlans(query, relations)].map(([name, found]) => {
    const plan = width === 1 ? sparingCurrencies(found) : found
    return { name, plan, ...estimateCost(plan, sizes, width) }
  })
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

/**
 * Returns a plan that reads the currencies of numbers from events only if there are several, where rollups have the numbers. They are those of
 * one shard: different shards may have different ones.
 */
function sparingCurrencies(plan: Plan): Plan {
  const { scans } = plan
  if (isByProject(plan.query) || !scans.some(({ readsNumbers }) => readsNumbers === true))
    return plan
  const isSpared = ({ measures }: Scan): boolean =>
    measures.length > 0 && measures.every((one) => isOfNumbers(one) && one.state === 'currencies')
  return {
    ...plan,
    scans: scans.map((scan) => (isSpared(scan) ? { ...scan, isForCurrencies: true } : scan)),
  }
}

function isReadingDaysLikelyToPay(plan: Plan, sizes: ProjectSizes): boolean {
  return listScans(plan)
    .filter(({ relation }) => !isRollup(relation))
    .some(({ periods }) => {
      const hasEdges = splitByGrain(periods, 'day').outside.length > 0
      const { alone, besideEdges } = MIN_EVENTS_OF_DAYS
      return estimateFacts(sizes, periods).events >= (hasEdges ? besideEdges : alone)
    })
}

/** A way of reading. Every way gives the same response. */
interface Way {
  /** The grains of rollups that are not read, because other relations may take less time. */
  readonly avoids: readonly Grain[]
  /** Whether users are counted in a second step, if that is possible. */
  readonly defersUsers?: true
  /** Whether sessions may be read without their events. */
  readonly readsWholeSessions?: true
}

/**
 * The ways of reading. Where one cannot be gone, its plan is that of an earlier one.
 *
 * 1. All rollups, and the users of all groups at once.
 * 2. Without some rollups: finer ones are fewer SELECTs, and few facts are faster to read than rollups.
 * 3. The same, with users counted last.
 * 4. Sessions instead of events, where rollups leave some.
 */
const WAYS: readonly Way[] = [
  { avoids: [] },
  { avoids: ['month'] },
  { avoids: ['day'] },
  { avoids: ['month', 'day'] },
  { avoids: [], defersUsers: true },
  { avoids: ['month'], defersUsers: true },
  { avoids: ['day'], defersUsers: true },
  { avoids: ['month', 'day'], defersUsers: true },
  { avoids: [], readsWholeSessions: true },
]

/** Lists the different plans of a query by name, in the order of `WAYS`. All give the same response. */
export function listPlans(
  query: Query,
  relations: readonly RelationName[],
): ReadonlyMap<string, Plan> {
  const plans = new Map<string, Plan>()
  let grains: ReadonlySet<Grain> | undefined
  for (const way of WAYS) {
    if (grains !== undefined && !isPossible(way, query, grains)) continue
    const plan = buildPlan(query, relations, way)
    grains ??= listGrains(plan)
    const name = nameWay(plan)
    if (!plans.has(name) && !readsFactsTwice(plan)) plans.set(name, plan)
  }
  return plans
}

/** Whether a way may differ from the first one, whose plan reads rollups of these grains. To build a plan takes its time. */
const isPossible = (way: Way, query: Query, grains: ReadonlySet<Grain>): boolean =>
  way.avoids.slice(0, 1).every((grain) => grains.has(grain)) &&
  (way.defersUsers !== true || findDeferredCounting(query, listMeasures(query)) !== 'all')

const listGrains = (plan: Plan): ReadonlySet<Grain> =>
  new Set(
    listRelations(plan)
      .filter(isRollup)
      .map((name) => RELATIONS[name].grain),
  )

/** Whether users are counted last, and only facts are read. That never pays. */
const readsFactsTwice = (plan: Plan): boolean =>
  plan.userCounting.kind !== 'all' && !listScans(plan).some(({ relation }) => isRollup(relation))

/** Leaves out `whole_sessions`. */
export const withoutWholeSessions = (relations: readonly RelationName[]): readonly RelationName[] =>
  relations.filter((name) => name !== 'whole_sessions')

const ROW_SOURCES: Readonly<Record<Grouping['kind'], RowSource>> = {
  none: 'one',
  dimension: 'events',
  property: 'events',
  property_names: 'events',
  clock: 'events',
  interval: 'buckets',
  project: 'projects',
}

/** Builds the plan of a query for a way of reading. */
function buildPlan(query: Query, allowed: readonly RelationName[], way: Way): Plan {
  const relations = way.readsWholeSessions === true ? allowed : withoutWholeSessions(allowed)
  const conversions = planConversions(query, relations, way)
  const plan = planMeasures(query, relations, way, conversions !== undefined)
  return {
    ...plan,
    ...(query.metrics.includes('new_users')
      ? { newUsers: planNewUsers(query, relations, way) }
      : {}),
    ...(conversions === undefined ? {} : { conversions }),
  }
}

/**
 * Plans the conversions of the goals apart from the rest, if rollups have them for all goals; undefined if they do not, or if events have to be
 * read for other metrics anyway.
 */
function planConversions(
  query: Query,
  relations: readonly RelationName[],
  { avoids }: Way,
): readonly ConversionsPlan[] | undefined {
  const counted = listMeasures(query).filter(isOfEvents)
  const ofGoals = counted.filter((measure) => !isOfNumbers(measure))
  const isFromEvents = ofGoals.length < counted.length || ofGoals.some(isOfVisits)
  if (counted.length === 0 || isFromEvents || isByProject(query)) return undefined
  const plans = query.goals.flatMap((predicate, goal) => {
    const measures = ofGoals.filter((measure) => measure.goal === goal)
    if (measures.length === 0) return []
    const metrics = [...new Set(measures.flatMap(({ state }) => CONVERSION_METRICS[state] ?? []))]
    const part = planMeasures(toConversionsQuery(query, predicate, metrics), relations, { avoids })
    // The groups are those of the other measures, whatever is among these.
    const scans = part.scans.filter((scan) => scan.measures.length > 0)
    return [{ goal, measures, plan: { ...part, rows: 'one' as const, scans } }]
  })
  const isCovered = ({ plan }: ConversionsPlan): boolean =>
    plan.scans.some(({ relation }) => isRollup(relation))
  return plans.every(isCovered) ? plans : undefined
}

/**
 * Plans the measures that relations have.
 *
 * @param isWithoutGoals whether conversions are counted apart; then all users, of whom they are a share, are the users of the groups
 */
function planMeasures(
  query: Query,
  relations: readonly RelationName[],
  { avoids, defersUsers }: Way,
  isWithoutGoals = false,
): Plan {
  const rows = ROW_SOURCES[query.grouping.kind]
  const divide = createDivider(query, relations, avoids)
  const scan = (divisions: readonly Division[]) =>
    relations.flatMap((relation) => buildScans(relation, divisions, query))

  const asked = listMeasures(query)
  const measures = isWithoutGoals ? withoutGoals(asked) : asked
  const kind = defersUsers === true ? findDeferredCounting(query, asked) : 'all'
  const needs = new Set<Need>(measures)
  // Candidates are found by their number of events.
  if (kind === 'candidates') needs.add('pageviews').add('events')
  // Groups are found by their events, even if no measure of events is selected. New users and conversions are joined to them.
  const isJoined = isWithoutGoals || query.metrics.includes('new_users')
  if (rows === 'events' || (isJoined && rows === 'buckets' && query.thenBy.length > 0)) {
    needs.add('groups')
  }

  const divisions = [...needs].map(divide)
  const isDeferred = ({ need }: Division): boolean => kind !== 'all' && need === 'users'
  return {
    query,
    rows,
    scans: scan(divisions.filter((division) => !isDeferred(division))),
    userCounting: kind === 'all' ? { kind } : { kind, scans: scan(divisions.filter(isDeferred)) },
    readsDays: true,
    rejected: relations.flatMap((relation) => listRejections(relation, divisions)),
    considered: [],
  }
}

const withoutGoals = (measures: readonly Measure[]): readonly Measure[] => [
  ...new Set(
    measures.flatMap((measure): readonly Measure[] => {
      if (!isOfEvents(measure) || isOfNumbers(measure)) return [measure]
      return measure.state === 'all_users' ? ['users'] : []
    }),
  ),
]

const EVERYONE: Predicate = { kind: 'all', of: [] }

/** Plans the users of the groups, and the users that had an event before. */
function planNewUsers(
  query: Query,
  relations: readonly RelationName[],
  { avoids }: Way,
): NewUsersPlan {
  const { grouping, thenBy, predicate, period } = query
  const isOfProjects = isByProject(query)
  const everything = { ...(isOfProjects ? query : withoutThenBy(query)), predicate: EVERYONE }
  const planUsers = (of: Query): Plan => {
    const metrics = ['users'] as const
    const plan = planMeasures({ ...of, metrics }, relations, { avoids })
    // The groups are those of the other measures.
    return { ...plan, scans: plan.scans.filter(({ measures }) => measures.includes('users')) }
  }
  const { earliestTimestamp } = EVENT_LIMITS
  const isPart = thenBy.length > 0 || listTerms(predicate).length > 0
  return {
    users: planUsers(query),
    ...(grouping.kind === 'interval' && isPart ? { everyone: planUsers(everything) } : {}),
    ...(period.start <= earliestTimestamp
      ? {}
      : {
          earlier: planUsers({
            ...withoutThenBy(everything),
            grouping: { kind: isOfProjects ? 'project' : 'none' },
            period: { start: earliestTimestamp, end: period.start },
          }),
        }),
  }
}

/** Lists the measures of the selected metrics that relations have, but those that are null in every row. */
const listMeasures = (query: Query): readonly Measure[] => [
  ...new Set(
    query.metrics
      .filter((metric) => !isAlwaysNull(metric, query))
      .flatMap((metric) => describeMetric(metric).measures)
      .filter((measure) => measure !== 'new_users'),
  ),
]

/** Names a way of reading by the relations that it reads. Plans of a query with the same name have the same scans. */
export function nameWay(plan: Plan): string {
  const relations = new Set(listRelations(plan))
  return [
    [...relations].join(', '),
    ...(plan.userCounting.kind === 'all' ? [] : ['users last']),
  ].join('; ')
}

/** Candidates are counted only for pages that end by this row, because the statement keeps a list of that many groups. */
const MAX_LAST_ROW = 2_000

/** Returns how users can be counted in a second step; `all` if they cannot. */
function findDeferredCounting(
  { grouping, thenBy, order, limit, offset, having, includesLost }: Query,
  measures: readonly Measure[],
): UserCounting['kind'] {
  const hasGroups = grouping.kind === 'dimension' || grouping.kind === 'property'
  if (!hasGroups || thenBy.length > 0 || !measures.includes('users')) return 'all'
  // The first step keeps its groups in an array, and how often each number occurs is too much for it. Conversions are counted where
  // users are.
  if (measures.some(isOfEvents)) return 'all'
  // It does not know the other period either, nor which rows users leave out.
  if (order.against !== undefined || includesLost || having.length > 0) return 'all'
  if (order.by !== 'users') return 'page'
  return order.direction === 'desc' && limit + offset <= MAX_LAST_ROW ? 'candidates' : 'all'
}
