/** What a plan is, and how it is described to those who ask. The statement is written from it, and `tallyhouse explain` shows it. */
import type { Period as ShownPeriod } from '../../contract/api.js'
import { describeConversions, type GoalMeasure } from '../../model/goals.js'
import { isOfEvents, isOfNumbers, type Measure } from '../../model/measures.js'
import { describeNumbers } from '../../model/numbers.js'
import type { RelationName } from '../../model/relations.js'
import type { Predicate } from '../request/filters.js'
import { arePeriodsEqual, formatPeriod, type Period } from '../request/period.js'
import type { Query } from '../request/query.js'

/** One pass over one relation, which provides some measures of every group. */
export interface Scan {
  readonly relation: RelationName
  /** Empty if the scan is needed only for its groups. */
  readonly measures: readonly Measure[]
  /** Whether its groups become rows of the response. */
  readonly makesGroups: boolean
  /** The parts of the period that it reads: whole months or days if the relation has no finer rows. */
  readonly periods: readonly Period[]
  /**
   * How the predicate is applied: to the relation's columns; to the entry page of visits; to the value that a
   * rollup counts by; or to the events of each session.
   */
  readonly filteredBy: 'columns' | 'entry' | 'value' | 'events'
  /** For a rollup, the `dimension` of the rows that are read; `event:prop` for those of all properties. */
  readonly dimension?: string
  /** Whether the values of a property are read as numbers, or their sums. Present for rollups only. */
  readonly readsNumbers?: true
  /**
   * Whether it is read only if the events of its months have several currencies. Its measures are the currencies of numbers, which are
   * needed only to refuse sums over several.
   */
  readonly isForCurrencies?: true
}

/** A relation that would have been cheaper, and the reason why it is not read for these measures. */
export interface RejectedRelation {
  readonly relation: RelationName
  /** Empty if only the groups were needed. */
  readonly measures: readonly Measure[]
  readonly reason: string
}

/**
 * The groups whose users are counted. `all`: all groups, in the scans of the plan. The other kinds defer the counting to
 * a second step with separate scans, because bitmaps of users cost more to read than any other column of a rollup.
 * `page`: the groups on the page, which the first step finds. `candidates`: the groups with enough events to get onto
 * the page by their users.
 */
export type UserCounting =
  | { readonly kind: 'all' }
  | { readonly kind: 'page' | 'candidates'; readonly scans: readonly Scan[] }

/**
 * The origin of the response's rows. `one`: the response always has a single row. `events`: a group becomes a row when an
 * event of the period matches, whichever metrics are selected. `buckets`: every bucket of the period is a row. `projects`: every project
 * is one.
 */
export type RowSource = 'one' | 'events' | 'buckets' | 'projects'

/** A way of reading that was considered, and what it was estimated to cost. */
export interface ConsideredWay {
  readonly name: string
  /** Estimated milliseconds of CPU time, on all shards together. */
  readonly ms: number
  /** How many of them the shard that asks takes besides its own part; absent for a project on one shard. */
  readonly askingMs?: number
  readonly isChosen: boolean
}

/** How new users are counted: users with a matching event who have none before the period or bucket. */
export interface NewUsersPlan {
  /** The users with matching events, by group. */
  readonly users: Plan
  /** All users by bucket of a time series. Absent if they are those with matching events, or there are no buckets. */
  readonly everyone?: Plan
  /** All users before the period. Absent if no event can lie before it. */
  readonly earlier?: Plan
}

/**
 * How the conversions of a goal are counted from rollups. A conversion is an event that satisfies the filters of the query and those of the
 * goal, so its plan is that of a query with both.
 */
export interface ConversionsPlan {
  /** The place of the goal among those of the query. */
  readonly goal: number
  /** What the query asks of the goal. */
  readonly measures: readonly GoalMeasure[]
  /** Counts the events and users of the conversions, by group. */
  readonly plan: Plan
}

export interface Plan {
  readonly query: Query
  readonly rows: RowSource
  /** The scans of the first step, which is the only step if users are counted for `all` groups. */
  readonly scans: readonly Scan[]
  readonly userCounting: UserCounting
  /** Whether facts of whole days are found by the column of their day: it is cheaper to read than the moments of many rows. */
  readonly readsDays: boolean
  readonly rejected: readonly RejectedRelation[]
  /** The cheapest first; among those that cost about the same, another may be chosen. */
  readonly considered: readonly ConsideredWay[]
  /** How new users are counted; absent if they are not asked for. */
  readonly newUsers?: NewUsersPlan
  /** How conversions are counted if rollups have them; absent if they are counted in the scans of events, or not asked for. */
  readonly conversions?: readonly ConversionsPlan[]
  /** The plan of the query's totals; absent if it does not ask for them. */
  readonly totals?: Plan
  /**
   * The plan of the same query about the period that it is compared with, in a single step; absent if there is no comparison. If
   * users are counted last, it reads only the groups whose users are counted.
   */
  readonly comparison?: Plan
  /** The plan that finds the largest groups; absent if the query is not for their series. */
  readonly ranking?: Plan
}

/** Lists the scans of both steps. */
export const listScans = ({ scans, userCounting }: Plan): readonly Scan[] =>
  userCounting.kind === 'all' ? scans : [...scans, ...userCounting.scans]

/** Lists the plans by which new users are counted. */
const listNewUserPlans = ({ newUsers }: Plan): readonly Plan[] =>
  newUsers === undefined
    ? []
    : [newUsers.users, newUsers.everyone, newUsers.earlier].filter((part) => part !== undefined)

/** Lists the plans whose groups are joined to those of a plan: they count new users and conversions. */
export const listJoinedPlans = (plan: Plan): readonly Plan[] => [
  ...listNewUserPlans(plan),
  ...(plan.conversions ?? []).map((one) => one.plan),
]

/** Lists the relations that a plan reads for its rows, with repetitions. */
export const listRelations = (plan: Plan): readonly RelationName[] =>
  [plan, ...listJoinedPlans(plan)].flatMap(listScans).map(({ relation }) => relation)

/** Lists the scans of both steps as those of a single step, in which no rows are read twice for different measures. */
export function mergeSteps({ scans, userCounting }: Plan): readonly Scan[] {
  if (userCounting.kind === 'all') return scans
  const merged = [...scans]
  for (const scan of userCounting.scans) {
    const i = merged.findIndex((other) => readsSameRows(other, scan))
    const other = merged[i]
    if (other === undefined) merged.push(scan)
    else merged[i] = { ...other, measures: [...other.measures, ...scan.measures] }
  }
  return merged
}

const readsSameRows = (one: Scan, other: Scan): boolean =>
  one.relation === other.relation &&
  one.filteredBy === other.filteredBy &&
  one.dimension === other.dimension &&
  arePeriodsEqual(one.periods, other.periods)

/** One relation that is read. */
export interface Read extends Pick<Scan, 'dimension'> {
  readonly relation: RelationName
  readonly measures: readonly string[]
  readonly periods: readonly ShownPeriod[]
  /** As in the plan; null for a query without filters. */
  readonly filteredBy: Scan['filteredBy'] | null
  /** When it is read at all; absent if it always is. */
  readonly onlyIf?: 'several_currencies'
}

/** A description of each part of a `NewUsersPlan`. */
export interface NewUsersDescription extends Readonly<
  Partial<Record<'everyone' | 'earlier', PlanDescription>>
> {
  readonly users: PlanDescription
}

/** A description of a plan. It contains none of the values that the query filters by. */
export interface PlanDescription {
  readonly period: ShownPeriod
  /** In the order of the statement: scans for deferred user counts come last. */
  readonly reads: readonly Read[]
  /** The cheaper relations that are not read, or are read only for other measures. */
  readonly rejected: readonly (Omit<RejectedRelation, 'measures'> & Pick<Read, 'measures'>)[]
  readonly userCounting: UserCounting['kind']
  /** The ways of reading that were compared, the cheapest first. */
  readonly considered: readonly ConsideredWay[]
  /** How new users are counted; absent if the query does not ask for them. */
  readonly newUsers?: NewUsersDescription
  /** The plans that count the conversions of each goal, if rollups have them. */
  readonly conversions?: readonly PlanDescription[]
  /** The plan of the totals; absent if the query does not ask for them. */
  readonly totals?: PlanDescription
  /** The plan of the period that it is compared with; absent if there is none. */
  readonly comparison?: PlanDescription
  /** How the largest groups are found; absent if the query is not for their series. */
  readonly ranking?: PlanDescription
}

/** Describes a plan, without the values that its query filters by. */
export function describePlan(plan: Plan): PlanDescription {
  const { query, rejected, userCounting, considered } = plan
  const isFiltered = !isEmptyFilter(query.predicate)
  return {
    period: formatPeriod(query.period),
    reads: listScans(plan).map((scan) => describeScan(scan, isFiltered)),
    rejected: rejected.map(({ relation, measures, reason }) => ({
      relation,
      measures: measures.map(nameMeasure),
      reason,
    })),
    userCounting: userCounting.kind,
    considered: considered.map(({ askingMs, ...way }) => ({
      ...way,
      ms: roundToTenths(way.ms),
      ...(askingMs === undefined ? {} : { askingMs: roundToTenths(askingMs) }),
    })),
    ...(plan.newUsers === undefined ? {} : { newUsers: describeNewUsers(plan.newUsers) }),
    ...(plan.conversions === undefined
      ? {}
      : { conversions: plan.conversions.map((one) => describePlan(one.plan)) }),
    ...(plan.totals === undefined ? {} : { totals: describePlan(plan.totals) }),
    ...(plan.comparison === undefined ? {} : { comparison: describePlan(plan.comparison) }),
    ...(plan.ranking === undefined ? {} : { ranking: describePlan(plan.ranking) }),
  }
}

const describeScan = (
  { relation, dimension, measures, periods, filteredBy, isForCurrencies }: Scan,
  isFiltered: boolean,
): Read => ({
  relation,
  ...(dimension === undefined ? {} : { dimension }),
  measures: measures.map(nameMeasure),
  periods: periods.map(formatPeriod),
  filteredBy: isFiltered ? filteredBy : null,
  ...(isForCurrencies === true ? { onlyIf: 'several_currencies' } : {}),
})

function nameMeasure(measure: Measure): string {
  if (isOfNumbers(measure)) return describeNumbers(measure)
  return isOfEvents(measure) ? describeConversions(measure) : measure
}

const describeNewUsers = ({ users, everyone, earlier }: NewUsersPlan): NewUsersDescription => ({
  users: describePlan(users),
  ...(everyone === undefined ? {} : { everyone: describePlan(everyone) }),
  ...(earlier === undefined ? {} : { earlier: describePlan(earlier) }),
})

const roundToTenths = (ms: number): number => Math.round(ms * 10) / 10

const isEmptyFilter = (predicate: Predicate): boolean =>
  predicate.kind === 'all' && predicate.of.every(isEmptyFilter)
