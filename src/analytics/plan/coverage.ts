/** Says whether a relation can answer a measure of a query exactly, and if not, why. */
import { DIMENSIONS, PROPERTY_PREFIX, type DimensionName } from '../../model/dimensions.js'
import type { Granularity } from '../../model/granularities.js'
import type { Measure } from '../../model/measures.js'
import { RELATIONS, type Grain, type RelationName } from '../../model/relations.js'
import { TOTAL, type RollupSubject } from '../../model/rollups.js'
import type { Predicate } from '../request/filters.js'
import type { Query } from '../request/query.js'

/** What a rollup counts by: the whole, a dimension, or an event property. */
export interface RollupKey {
  readonly family: RollupSubject
  /** As its rows have it in the column `dimension`. */
  readonly dimension: string
}

/** Grains that a bucket is made of whole rows of; a week has no whole months. */
const FITTING_GRAINS: Readonly<Record<Granularity, readonly Grain[]>> = {
  hour: ['moment'],
  day: ['day', 'moment'],
  week: ['day', 'moment'],
  month: ['month', 'day', 'moment'],
}

/** What a query must be put to rollups by, or why no rollup has it. */
export function rollupKeyOf({ grouping, predicate }: Query): RollupKey | string {
  const terms = new Set(termsOf(predicate))
  if (grouping.kind === 'dimension') terms.add(grouping.dimension)
  if (grouping.kind === 'property') terms.add(`${PROPERTY_PREFIX}${grouping.name}`)
  const [term, ...others] = terms
  if (term === undefined) return { family: 'sessions', dimension: TOTAL }
  if (others.length > 0) return `no rollup counts by ${[...terms].join(' and ')} at once`
  const family = term.startsWith(PROPERTY_PREFIX) ? 'events' : familyOf(term)
  if (family === undefined) return `no rollup counts by ${term}`
  const isProperty = term.startsWith(PROPERTY_PREFIX)
  if (isProperty && grouping.kind !== 'property' && !impliesProperty(predicate)) {
    return `no rollup has the events without ${term}`
  }
  return { family, dimension: term }
}

const familyOf = (term: string): RollupSubject | undefined =>
  term in DIMENSIONS ? DIMENSIONS[term as DimensionName].rollupSubject : undefined

/** The names of what a predicate looks at. */
function termsOf(predicate: Predicate): readonly string[] {
  switch (predicate.kind) {
    case 'all':
    case 'any':
      return predicate.of.flatMap(termsOf)
    case 'string':
    case 'list':
      return [predicate.dimension]
    case 'property':
      return [`${PROPERTY_PREFIX}${predicate.name}`]
    case 'anonymous':
      return ['anonymous']
    default:
      return predicate satisfies never
  }
}

/** Whether every event that a predicate selects has the properties it looks at. */
function impliesProperty(predicate: Predicate): boolean {
  switch (predicate.kind) {
    case 'all':
      return predicate.of.some((part) => termsOf(part).length > 0 && impliesProperty(part))
    case 'any':
      return predicate.of.every((part) => termsOf(part).length > 0 && impliesProperty(part))
    case 'property':
      return predicate.operator !== 'notEq' && predicate.operator !== 'notContains'
    case 'string':
    case 'list':
    case 'anonymous':
      return true
    default:
      return predicate satisfies never
  }
}

/** Why a relation cannot answer a measure of a query exactly; undefined where it can. */
export function whyNot(
  name: RelationName,
  measure: Measure,
  query: Query,
  key: RollupKey | string,
): string | undefined {
  const { grain, rollup } = RELATIONS[name]
  if (rollup === undefined) return undefined
  if (typeof key === 'string') return key
  if (rollup !== 'users' && rollup !== key.family) return `it does not count by ${key.dimension}`
  if (grain === 'day' && !hasDays(key)) return `${key.dimension} is counted by month alone`
  const { grouping } = query
  if (grouping.kind === 'interval' && !FITTING_GRAINS[grouping.granularity].includes(grain)) {
    return `buckets of one ${grouping.granularity} are not made of whole ${grain}s`
  }
  if (isOfVisits(measure) && key.family === 'pageviews' && grouping.kind !== 'dimension') {
    return 'it has visits by the page they entered on, and a filter looks at all their pages'
  }
  return undefined
}

/** Whether rollups count by a key for each day: by a dimension as its row says, by all else always. */
const hasDays = ({ dimension }: RollupKey): boolean =>
  !(dimension in DIMENSIONS) || DIMENSIONS[dimension as DimensionName].hasDailyRollup === true

const isOfVisits = (measure: Measure): boolean => measure in RELATIONS.sessions.measures

/** Whether a predicate looks at nothing that differs between the events of a session. */
export function isOfSessions(predicate: Predicate): boolean {
  return termsOf(predicate).every(
    (term) => term in DIMENSIONS && DIMENSIONS[term as DimensionName].sessionColumn !== undefined,
  )
}

/** Whether a query asks for pages by nothing but the page it groups by: a visit then counts by its entry alone. */
export function isOfEntries({ grouping, predicate }: Query): boolean {
  return (
    grouping.kind === 'dimension' &&
    DIMENSIONS[grouping.dimension].entryColumn !== undefined &&
    termsOf(predicate).every((term) => term === grouping.dimension)
  )
}
