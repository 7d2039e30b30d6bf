/** Which relations can answer part of a query exactly, by the dimensions and properties that it reads; and why others cannot. */
import { PROPERTY_NAMES, PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import { type DimensionName, DIMENSIONS, isDimensionName } from '../../model/dimensions.js'
import type { Granularity } from '../../model/granularities.js'
import { isOfNumbers, type Measure } from '../../model/measures.js'
import { describeMetric } from '../../model/metrics.js'
import { isNegation } from '../../model/operators.js'
import { computeMeasure, type Grain, type RelationName, RELATIONS } from '../../model/relations.js'
import { findSummed, nameSums } from '../../model/number-sums.js'
import { findPair, findPairOf } from '../../model/pairs.js'
import { type RollupSubject, TOTAL, type UserSubject } from '../../model/rollups.js'
import type { Predicate } from '../request/filters.js'
import { type GroupedBy, type Grouping, listGroupings, type Query } from '../request/query.js'

export type Term =
  | { readonly kind: 'dimension'; readonly dimension: DimensionName }
  | { readonly kind: 'property'; readonly name: string }
  | { readonly kind: 'property_names' }
  | { readonly kind: 'clock'; readonly part: string }
  | { readonly kind: 'anonymous' }
  /** What the events of the same session are. */
  | { readonly kind: 'visit' }

/** Returns the name of a term as in the column `dimension` of rollups, e.g. `country` or `event:prop:plan`; `event:prop` for all properties. */
export function nameTerm(term: Term): string {
  switch (term.kind) {
    case 'dimension':
      return term.dimension
    case 'property':
      return `${PROPERTY_PREFIX}${term.name}`
    case 'property_names':
      return PROPERTY_NAMES
    case 'clock':
      return term.part
    case 'anonymous':
    case 'visit':
      return term.kind
    default:
      return term satisfies never
  }
}

/** A predicate that is not made of others about the same event. */
type Condition = Exclude<Predicate, { readonly kind: 'all' | 'any' | 'not' }>

function listConditions(predicate: Predicate): readonly Condition[] {
  switch (predicate.kind) {
    case 'all':
    case 'any':
      return predicate.of.flatMap(listConditions)
    case 'not':
      return listConditions(predicate.of)
    case 'string':
    case 'list':
    case 'property':
    case 'anonymous':
    case 'clock':
    case 'visit':
      return [predicate]
    default:
      return predicate satisfies never
  }
}

/** Lists the terms of a predicate, with repetitions. */
export const listTerms = (predicate: Predicate): readonly Term[] =>
  listConditions(predicate).map(toTerm)

function toTerm(condition: Condition): Term {
  switch (condition.kind) {
    case 'string':
    case 'list':
      return { kind: 'dimension', dimension: condition.dimension }
    case 'property':
      return { kind: 'property', name: condition.name }
    case 'clock':
      return { kind: 'clock', part: condition.part }
    case 'anonymous':
    case 'visit':
      return { kind: condition.kind }
    default:
      return condition satisfies never
  }
}

/** Lists the predicates on other events of the session, from the outermost on. */
export const listVisits = (predicate: Predicate): readonly Predicate[] =>
  listConditions(predicate).flatMap((condition) =>
    condition.kind === 'visit' ? [condition.of, ...listVisits(condition.of)] : [],
  )

/** Lists the terms that a query groups by; none for a single row or a time series of everything. */
export const listGroupingTerms = (query: GroupedBy): readonly Term[] =>
  listGroupings(query).flatMap(listTermsOf)

function listTermsOf(grouping: Grouping): readonly Term[] {
  switch (grouping.kind) {
    case 'dimension':
      return [{ kind: 'dimension', dimension: grouping.dimension }]
    case 'property':
      return [{ kind: 'property', name: grouping.name }]
    case 'property_names':
      return [{ kind: 'property_names' }]
    case 'clock':
      return [{ kind: 'clock', part: grouping.part }]
    case 'none':
    case 'interval':
    case 'project':
      return []
    default:
      return grouping satisfies never
  }
}

/** Whether a predicate that reads nothing but one property matches events without that property. */
function matchesWithoutProperty(predicate: Predicate): boolean {
  switch (predicate.kind) {
    case 'all':
      return predicate.of.every(matchesWithoutProperty)
    case 'any':
      return predicate.of.some(matchesWithoutProperty)
    case 'not':
      return !matchesWithoutProperty(predicate.of)
    case 'property':
      return isNegation(predicate.operator)
    case 'string':
    case 'list':
    case 'anonymous':
    case 'clock':
    case 'visit':
      throw new TypeError('the predicate reads more than one property')
    default:
      return predicate satisfies never
  }
}

/** Whether a predicate reads only session attributes, so that it matches all events of a session or none. */
export const matchesWholeSessions = (predicate: Predicate): boolean =>
  listTerms(predicate).every(isSessionAttribute)

/** Whether all events of a session have the same value of a term. */
const isSessionAttribute = (term: Term): boolean =>
  term.kind === 'visit' ||
  (term.kind === 'dimension' && DIMENSIONS[term.dimension].sessionColumn !== undefined)

/** The purpose of a scan: to provide a measure, or to find the groups, which exist wherever events match. */
export type Need = Measure | 'groups'

/** The rows of rollups that a query reads: those of one dimension, of a property or of all of them, or of everything. */
export interface RollupKey {
  readonly subject: RollupSubject
  /** The value of the column `dimension` in those rows; `event:prop` for those of all properties. */
  readonly dimension: string
}

/** Lists the terms that a need reads beside those of its query: the property whose numbers it is about. */
export const listTermsOfNeed = (need: Need): readonly Term[] =>
  need !== 'groups' && isOfNumbers(need) ? [{ kind: 'property', name: need.property }] : []

/** The rows of rollups that have the groups of a query: of one subject, or of several that have different measures. */
export type RollupMatch =
  | { readonly kind: 'covered'; readonly keys: readonly [RollupKey, ...RollupKey[]] }
  | { readonly kind: 'rejected'; readonly reason: string }

/** The grains whose rows add up to buckets of each size. A week may begin within a month, so months do not make weeks. */
const GRAINS_OF_BUCKETS: Readonly<Record<Granularity, readonly Grain[]>> = {
  minute: ['moment'],
  '15minutes': ['moment'],
  hour: ['moment'],
  day: ['day', 'moment'],
  week: ['day', 'moment'],
  month: ['month', 'day', 'moment'],
  quarter: ['month', 'day', 'moment'],
  year: ['month', 'day', 'moment'],
}

const reject = (reason: string): RollupMatch => ({ kind: 'rejected', reason })
const cover = (subject: RollupSubject, dimension: string): RollupMatch => ({
  kind: 'covered',
  keys: [{ subject, dimension }],
})

/**
 * Finds the rows of rollups for a need of a query. They exist only if it reads one dimension or property, or a pair of dimensions. Numbers
 * are read from their sums, or from the values of their property.
 */
export function matchRollups(query: Query, need: Need): RollupMatch {
  const match = matchValues(query, need)
  const sums = findSums(query, need)
  if (sums === undefined) return match
  return { kind: 'covered', keys: [sums, ...(match.kind === 'covered' ? match.keys : [])] }
}

/** Finds the sums of the numbers that a need is about: a query may read one dimension besides. */
function findSums(query: Query, need: Need): RollupKey | undefined {
  if (need === 'groups' || !isOfNumbers(need)) return undefined
  const names = new Set([...listTerms(query.predicate), ...listGroupingTerms(query)].map(nameTerm))
  const [name, ...others] = names
  if (others.length > 0) return undefined
  const dimension = name === undefined ? TOTAL : findSummed(name)
  return dimension && { subject: 'numbers', dimension: nameSums(need.property, dimension) }
}

/** Finds the rows of the rollups that count by values. */
function matchValues(query: Query, need: Need): RollupMatch {
  const { predicate } = query
  const counted = listTermsOfNeed(need)
  const grouped = [...listGroupingTerms(query), ...counted]
  const terms = new Map([...listTerms(predicate), ...grouped].map((term) => [nameTerm(term), term]))
  const [first, ...others] = terms
  if (first === undefined) return cover('sessions', TOTAL)
  const [name, term] = first
  const [second, ...more] = others
  if (second !== undefined) {
    const pair = more.length === 0 ? findPairOf(name, second[0]) : undefined
    return pair === undefined
      ? reject(`no rollup combines ${[...terms.keys()].join(' and ')}`)
      : cover('pairs', pair.name)
  }
  const subject = findSubject(term)
  if (subject === undefined) return reject(`no rollup counts by ${name}`)
  if (term.kind === 'property' && grouped.length === 0 && matchesWithoutProperty(predicate)) {
    return reject(`no rollup counts events without ${name}`)
  }
  return cover(subject, name)
}

function findSubject(term: Term): RollupSubject | undefined {
  switch (term.kind) {
    case 'dimension':
      return DIMENSIONS[term.dimension].rollupSubject
    case 'property':
    case 'property_names':
      return 'events'
    case 'clock':
    case 'anonymous':
    case 'visit':
      return undefined
    default:
      return term satisfies never
  }
}

/** Finds the rows of a rollup that have the groups of a query. */
export function findKey(name: RelationName, match: RollupMatch): RollupKey | undefined {
  if (match.kind === 'rejected') return undefined
  const { rollup } = RELATIONS[name]
  return match.keys.find((key) => {
    const users: UserSubject = findPair(key.dimension) === undefined ? 'users' : 'pair_users'
    return rollup === key.subject || rollup === users
  })
}

/** Whether a relation can serve a need for any query at all. */
export const canServe = (name: RelationName, need: Need): boolean =>
  need === 'groups'
    ? RELATIONS[name].isGroup !== undefined
    : computeMeasure(name, need) !== undefined

/** Finds the reason why a relation cannot serve a need of a query exactly; undefined if it can. */
export function findRejectionReason(
  name: RelationName,
  need: Need,
  query: Query,
  match: RollupMatch,
): string | undefined {
  const { grouping } = query
  const { grain, rollup } = RELATIONS[name]
  if (name === 'whole_sessions') return findReasonAgainstWholeSessions(query)
  if (rollup === undefined) return undefined
  if (match.kind === 'rejected') return match.reason
  const key = findKey(name, match)
  if (key === undefined) return `it does not count by ${match.keys[0].dimension}`
  const { dimension } = key
  const pair = findPair(dimension)
  if (grain === 'day' && !hasDailyRollup(dimension)) {
    return `${dimension} has no daily rollup`
  }
  // The buckets of a zone are cut into whole days and months, and the rest: any grain may have a part of them.
  const isNumbered = grouping.kind === 'interval' && grouping.zoned === undefined
  if (isNumbered && !GRAINS_OF_BUCKETS[grouping.granularity].includes(grain)) {
    return `its ${grain}s do not add up to buckets of one ${grouping.granularity}`
  }
  return isVisitMeasure(need) ? findReasonAgainstVisits(query, pair?.of ?? dimension) : undefined
}

/**
 * Finds the reason why a rollup by a dimension cannot count the visits of a query. A visit matches a filter by page or name with any of
 * its events. Where a query groups by page and filters by nothing else, it matches by its entry page.
 */
function findReasonAgainstVisits(query: Query, dimension: string): string | undefined {
  if (!isDimensionName(dimension)) return undefined
  const { sessionColumn, entryColumn } = DIMENSIONS[dimension]
  if (sessionColumn !== undefined || matchesEntries(query)) return undefined
  if (entryColumn === undefined) return `it counts no visits by ${dimension}`
  const isGroupedBy = listGroupingTerms(query).some((term) => nameTerm(term) === dimension)
  const isFilteredBy = listTerms(query.predicate).some((term) => nameTerm(term) === dimension)
  return isGroupedBy && !isFilteredBy
    ? undefined
    : 'it counts visits by entry page, and the filter matches any page of a visit'
}

/** Finds the reason why sessions alone, without their events, cannot answer a query. */
function findReasonAgainstWholeSessions(query: Query): string | undefined {
  const { grouping, predicate, metrics } = query
  if (grouping.kind === 'interval') return 'sessions may cross the edges of buckets'
  const other = [...listTerms(predicate), ...listGroupingTerms(query)].find(
    (term) => !isSessionAttribute(term),
  )
  if (other !== undefined) return `events of one session may differ in ${nameTerm(other)}`
  const measures = metrics.flatMap((metric) => describeMetric(metric).measures)
  const needsEvents = grouping.kind !== 'none' || measures.some((one) => !isVisitMeasure(one))
  return needsEvents ? undefined : 'no event is counted'
}

/** Whether daily rollups have a `dimension`. Totals and properties are always counted by day. */
const hasDailyRollup = (dimension: string): boolean =>
  !isDimensionName(dimension) || DIMENSIONS[dimension].hasDailyRollup === true

const isVisitMeasure = (need: Need): boolean => canServe('sessions', need)

/** Whether a query groups by page and filters by nothing else. A visit then matches by its entry page alone. */
export function matchesEntries(query: Query): boolean {
  const filtered = listTerms(query.predicate).map(nameTerm)
  return listGroupingTerms(query).some(
    (term) =>
      term.kind === 'dimension' &&
      DIMENSIONS[term.dimension].entryColumn !== undefined &&
      filtered.every((name) => name === term.dimension),
  )
}
