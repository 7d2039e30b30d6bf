/** Describes a plan to people: what is read for which measures, and why not something cheaper. */
import type { Period } from '../../contract/api.js'
import type { RelationName } from '../../model/relations.js'
import { formatPeriod } from '../request/period.js'
import type { PassedOver, Plan, Scan } from './planner.js'
import type { Predicate } from '../request/filters.js'

/** One relation that is read. */
export interface Read extends Pick<Scan, 'measures' | 'dimension'> {
  readonly relation: RelationName
  readonly periods: readonly Period[]
  /** As in the plan; null where there is no filter. */
  readonly filteredBy: Scan['filteredBy'] | null
}

/** A plan without what the question is about: no value of a filter is in it. */
export interface PlanDescription {
  readonly period: Period
  readonly reads: readonly Read[]
  /** Cheaper relations that are not read, or for other parts of the period alone. */
  readonly passedOver: readonly PassedOver[]
  readonly usersOf: Plan['usersOf']
}

export function describePlan({ query, scans, passedOver, usersOf }: Plan): PlanDescription {
  return {
    period: formatPeriod(query.period),
    reads: scans.map(({ relation, dimension, measures, periods, filteredBy }) => ({
      relation,
      ...(dimension === undefined ? {} : { dimension }),
      measures,
      periods: periods.map(formatPeriod),
      filteredBy: looksAtNothing(query.predicate) ? null : filteredBy,
    })),
    passedOver,
    usersOf,
  }
}

const looksAtNothing = (predicate: Predicate): boolean =>
  predicate.kind === 'all' && predicate.of.every(looksAtNothing)
