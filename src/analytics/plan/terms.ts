/** Lists the terms of a query: the dimensions and properties that its predicate and grouping read. */
import { PROPERTY_NAMES, PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import { DIMENSIONS, type DimensionName } from '../../model/dimensions.js'
import { isNegation } from '../../model/operators.js'
import type { Predicate } from '../request/filters.js'
import { listGroupings, type GroupedBy, type Grouping } from '../request/query.js'

export type Term =
  | { readonly kind: 'dimension'; readonly dimension: DimensionName }
  | { readonly kind: 'property'; readonly name: string }
  | { readonly kind: 'property_names' }
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
    case 'none':
    case 'interval':
      return []
    default:
      return grouping satisfies never
  }
}

/** Whether a predicate that reads nothing but one property matches events without that property. */
export function matchesWithoutProperty(predicate: Predicate): boolean {
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
export const isSessionAttribute = (term: Term): boolean =>
  term.kind === 'visit' ||
  (term.kind === 'dimension' && DIMENSIONS[term.dimension].sessionColumn !== undefined)
