/** Describes a plan for a reader: which relations are read for which measures, and why no cheaper ones. */
import type { Period } from '../../contract/api.js'
import type { RelationName } from '../../model/relations.js'
import { formatPeriod } from '../request/period.js'
import {
  listScans,
  type ConsideredWay,
  type NewUsersPlan,
  type Plan,
  type RejectedRelation,
  type Scan,
  type UserCounting,
} from './plan.js'
import type { Predicate } from '../request/filters.js'

/** One relation that is read. */
export interface Read extends Pick<Scan, 'measures' | 'dimension'> {
  readonly relation: RelationName
  readonly periods: readonly Period[]
  /** As in the plan; null for a query without filters. */
  readonly filteredBy: Scan['filteredBy'] | null
}

/** A description of each part of a `NewUsersPlan`. */
export interface NewUsersDescription extends Readonly<
  Partial<Record<'everyone' | 'earlier', PlanDescription>>
> {
  readonly users: PlanDescription
}

/** A description of a plan. It contains none of the values that the query filters by. */
export interface PlanDescription {
  readonly period: Period
  /** In the order of the statement: scans for deferred user counts come last. */
  readonly reads: readonly Read[]
  /** The cheaper relations that are not read, or are read only for other measures. */
  readonly rejected: readonly RejectedRelation[]
  readonly userCounting: UserCounting['kind']
  /** The ways of reading that were compared, the cheapest first. */
  readonly considered: readonly ConsideredWay[]
  /** How new users are counted; absent if the query does not ask for them. */
  readonly newUsers?: NewUsersDescription
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
    reads: listScans(plan).map(({ relation, dimension, measures, periods, filteredBy }) => ({
      relation,
      ...(dimension === undefined ? {} : { dimension }),
      measures,
      periods: periods.map(formatPeriod),
      filteredBy: isFiltered ? filteredBy : null,
    })),
    rejected,
    userCounting: userCounting.kind,
    considered: considered.map(({ askingMs, ...way }) => ({
      ...way,
      ms: roundToTenths(way.ms),
      ...(askingMs === undefined ? {} : { askingMs: roundToTenths(askingMs) }),
    })),
    ...(plan.newUsers === undefined ? {} : { newUsers: describeNewUsers(plan.newUsers) }),
    ...(plan.totals === undefined ? {} : { totals: describePlan(plan.totals) }),
    ...(plan.comparison === undefined ? {} : { comparison: describePlan(plan.comparison) }),
    ...(plan.ranking === undefined ? {} : { ranking: describePlan(plan.ranking) }),
  }
}

const describeNewUsers = ({ users, everyone, earlier }: NewUsersPlan): NewUsersDescription => ({
  users: describePlan(users),
  ...(everyone === undefined ? {} : { everyone: describePlan(everyone) }),
  ...(earlier === undefined ? {} : { earlier: describePlan(earlier) }),
})

const roundToTenths = (ms: number): number => Math.round(ms * 10) / 10

const isEmptyFilter = (predicate: Predicate): boolean =>
  predicate.kind === 'all' && predicate.of.every(isEmptyFilter)
