/**
 * The search of the bar: the queries that find values of all fields, the suggestions that their responses make, and the one
 * that an arrow key leads to.
 */
import { PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import type { QueryResponse, Query } from '../client/contract.js'
import { matchesName, nameValue } from '../format/values.js'
import { isEventField, isTextField, type Field, type FieldFilter } from '../state/filters.js'
import type { AskedState } from '../state/state.js'
import { buildTextSearch } from './filters.js'
import { nameTab } from './panels.js'
import { buildScope, groupBy, narrow } from './scope.js'

/** Something that a text may mean: a filter, and how it is called. */
export interface Suggestion {
  readonly filter: FieldFilter
  readonly name: string
  /** The name of the field, such as `Places: Country`. */
  readonly of: string
}

/** How many values of a field, and of all fields, are suggested. */
const MAX_OF_FIELD = 5
const MAX_SUGGESTIONS = 12
/** How many values of a field are known at most; as many as a response has. */
const MAX_VALUES = 1000

/** The fields that are searched, and how many properties: together, few enough for every search. The filter menu has the others. */
const FIELDS: readonly Field[] = [
  'page:path',
  'channel',
  'referrer',
  'utm_source',
  'utm_campaign',
  'country',
  'city',
  'browser',
  'device_type',
  'event:name',
]
const MAX_PROPERTIES = 2

/** How many letters the values that are asked for contain. More letters search among those. */
const STEM_LENGTH = 2

/** The first letters of a text, which decide what the query asks for; undefined if it has too few. */
export function findStem(text: string): string | undefined {
  const letters = Array.from(text)
  return letters.length < STEM_LENGTH ? undefined : letters.slice(0, STEM_LENGTH).join('')
}

/**
 * Builds one query for each field: the most frequent values of the period that contain a text. Fields that the
 * API compares as a whole are asked for all their values, which does not depend on the text.
 */
export const buildSearchQueries = (
  state: AskedState,
  properties: readonly string[],
  text: string,
): readonly Query[] =>
  [...FIELDS, ...properties.slice(0, MAX_PROPERTIES).map((name) => PROPERTY_PREFIX + name)].map(
    (field) => buildValuesOf(field, state, text),
  )

/** Builds the query for the values of a field that contain a text. */
export function buildValuesOf(field: Field, state: AskedState, text: string): Query {
  const scope = buildScope({ ...state, filters: [] })
  const isSearched = isTextField(field) && text !== ''
  return {
    id: field,
    operation: 'query',
    body: {
      ...(isSearched ? narrow(scope, buildTextSearch(field, text)) : scope),
      metrics: [isEventField(field) ? 'events' : 'pageviews'],
      group_by: groupBy(field),
      limit: MAX_VALUES,
    },
  }
}

/** Builds queries that search for the whole text, for the fields where the stem matched more values than a response holds. */
export const buildNarrowedQueries = (
  state: AskedState,
  responses: readonly (readonly [field: Field, response: QueryResponse])[],
  text: string,
): readonly Query[] =>
  responses
    .filter(([field, { pagination }]) => isTextField(field) && pagination.total > MAX_VALUES)
    .map(([field]) => buildValuesOf(field, state, text))

/** Lists what a text may mean, the closest first: names that are the text, then those that start with it. */
export function listSuggestions(
  text: string,
  responses: readonly (readonly [field: Field, response: QueryResponse])[],
): readonly Suggestion[] {
  const found = responses.flatMap(([field, { data }]) =>
    data
      .map(({ group }) => group[field] ?? '')
      .filter((value) => matchesName(field, value, text))
      .slice(0, MAX_OF_FIELD)
      .map((value) => suggest(field, value)),
  )
  return found
    .toSorted((a, b) => rateDistance(a.name, text) - rateDistance(b.name, text))
    .slice(0, MAX_SUGGESTIONS)
}

const suggest = (field: Field, value: string): Suggestion => ({
  filter: { field, operator: 'is', values: [value] },
  name: nameValue(field, value),
  of: nameTab(field),
})

/** Suggests all pages whose path contains a text. */
export const suggestPages = (text: string): Suggestion => ({
  filter: { field: 'page:path', operator: 'contains', values: [text] },
  name: `Page contains “${text}”`,
  of: nameTab('page:path'),
})

function rateDistance(name: string, text: string): number {
  const [lower, searched] = [name.toLowerCase(), text.toLowerCase()]
  if (lower === searched) return 0
  return lower.startsWith(searched) ? 1 : 2
}

export type Move = 'next' | 'previous'

/**
 * Returns the option that is active after a move: after the last one comes the first, before the first one the last.
 *
 * @param active undefined while none is active
 */
export function moveActive(
  active: number | undefined,
  move: Move,
  count: number,
): number | undefined {
  if (count === 0) return undefined
  const from = active ?? (move === 'next' ? -1 : count)
  return (from + (move === 'next' ? 1 : -1) + count) % count
}
