/** The filters of a state: as those of the API, in words, and found by a part of the name of a value. */
import type { Filter } from '../../contract/api.js'
import { PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import { matchesName, nameValues } from '../format/values.js'
import {
  CHOSEN_FIELDS,
  isChosenField,
  isEventField,
  isNegation,
  isPageField,
  negate,
  toApiFilter,
  type Field,
  type FieldFilter,
  type FilterOperator,
} from '../state/filters.js'
import type { ExplorerState } from '../state/state.js'
import { findTab } from './panels.js'

/**
 * What a filter on events keeps: all that happened in the visits with such an event, or such events alone. Of `whole_visits`, filters on
 * pages keep all that happened, too.
 */
export type Kept = 'visits' | 'events' | 'whole_visits'

/**
 * Builds the filters of the API. Filters on events that are joined by `and` are about one event: a visit with a purchase whose
 * plan is `pro`, rather than with a purchase, and something else whose plan is `pro`. A negation keeps the visits without such an event.
 *
 * A goal is seldom reached on the page that brings it about. So with a goal, a filter on pages keeps the visits that saw one, too.
 */
export function buildFilters(
  { filters, join, goal }: Pick<ExplorerState, 'filters' | 'join' | 'goal'>,
  kept: Kept,
): readonly Filter[] {
  const isWhole = goal !== undefined || kept === 'whole_visits'
  const events = filters.filter(selectsEvents).map(toApiFilter)
  const others = filters
    .filter((filter) => !selectsEvents(filter))
    .map((filter) => (keepsVisits(filter, isWhole) ? selectVisits(filter) : toApiFilter(filter)))
  if (events.length === 0 || kept === 'events') return [...others, ...events]
  const isAny = events.length > 1 && join === 'or'
  const any: Filter = { type: 'group', operator: 'or', filters: events }
  return [...others, { type: 'visit', filters: isAny ? [any] : events }]
}

/** Whether a filter selects visits by an event that they have. */
export const selectsEvents = ({ field, operator }: FieldFilter): boolean =>
  isEventField(field) && !isNegation(operator)

/** Whether a filter keeps whole visits, and not only what it matches. @param isWhole whether those on pages do */
const keepsVisits = ({ field }: FieldFilter, isWhole: boolean): boolean =>
  isEventField(field) || (isWhole && isPageField(field))

/** Selects the visits with something that a filter matches; with a negation, those without anything that it excludes. */
function selectVisits(filter: FieldFilter): Filter {
  const { operator } = filter
  if (!isNegation(operator)) return { type: 'visit', filters: [toApiFilter(filter)] }
  const excluded = toApiFilter(negate(filter))
  return { type: 'group', operator: 'not', filters: [{ type: 'visit', filters: [excluded] }] }
}

/** The names of the operators. */
export const OPERATOR_NAMES: Readonly<Record<FilterOperator, string>> = {
  is: 'is',
  is_not: 'is not',
  contains: 'contains',
  contains_not: 'does not contain',
}

/** Before the field of an event, and before the value. */
const VISIT_NAMES: Readonly<Record<FilterOperator, readonly [string, string]>> = {
  is: ['Visit with', ''],
  is_not: ['Visit without', ''],
  contains: ['Visit with', 'containing '],
  contains_not: ['Visit without', 'containing '],
}

/** The name of a field, such as `Country`. */
export const nameField = (field: Field): string =>
  isChosenField(field) ? CHOSEN_FIELDS[field].name : (findTab(field)?.name ?? field)

/** Describes what an event of a step matches, such as `Event is signup or purchase`. */
export const describeStep = ({ field, operator, values }: FieldFilter): string =>
  `${nameField(field)} ${OPERATOR_NAMES[operator]} ${nameValues(field, values).join(' or ')}`

/** Describes a filter, such as `Country is Germany or Austria`, or `Visit with plan pro`. @param goal the one that is chosen */
export function describeFilter(filter: FieldFilter, goal?: string): string {
  if (!keepsVisits(filter, goal !== undefined)) return describeStep(filter)
  const { field, operator, values } = filter
  const names = nameValues(field, values).join(' or ')
  const fieldName = nameField(field)
  const [visit, before] = VISIT_NAMES[operator]
  const name = field.startsWith(PROPERTY_PREFIX) ? fieldName : fieldName.toLowerCase()
  return `${visit} ${name} ${before}${names}`
}

/** Describes all filters of the page; empty if there are none. */
export const describeFilters = ({
  filters,
  join,
  goal,
}: Pick<ExplorerState, 'filters' | 'join' | 'goal'>): string =>
  filters.map((filter) => describeFilter(filter, goal)).join(join === 'or' ? ' or ' : ' and ')

/**
 * Says which visits the numbers of the whole page are about, if a filter on pages selects them: a row of the page counts others, its
 * entries. Undefined without such a filter.
 */
export function describeVisits({
  filters,
  join,
}: Pick<ExplorerState, 'filters' | 'join'>): string | undefined {
  const selectsAll = join === 'and' || filters.length === 1
  return selectsAll &&
    filters.some(({ field, operator }) => isPageField(field) && !isNegation(operator))
    ? 'Visits, bounce rate and visit duration are those of visits that saw the page. The details of Pages have those of entries, which began there.'
    : undefined
}

/** The values of a field, the most frequent first. */
export interface KnownValues {
  /** The body of the query that they answer, as JSON. */
  readonly asked: string
  readonly values: readonly string[]
  /** How many there are in all; a response has at most 1,000. */
  readonly total: number
}

/** How many values a filter of the API may have. */
const MAX_VALUES = 500

/** Selects the values of a field that contain a text; also the missing value, if its name does, such as `Direct`. */
export function buildTextSearch(field: Field, text: string): Filter {
  const contains = toApiFilter({ field, operator: 'contains', values: [text] })
  return matchesName(field, '', text)
    ? {
        type: 'group',
        operator: 'or',
        filters: [contains, toApiFilter({ field, operator: 'is', values: [''] })],
      }
    : contains
}

/** Selects the known values whose names contain a text: `germ` selects the country `DE`. */
export const buildValueSearch = (field: Field, text: string, known: KnownValues): Filter =>
  toApiFilter({
    field,
    operator: 'is',
    values: findValues(field, text, known).slice(0, MAX_VALUES),
  })

/** Describes what a search leaves out; undefined if it is nothing. */
export function describeLimits(field: Field, text: string, known: KnownValues): string | undefined {
  const { values, total } = known
  const format = (count: number): string => count.toLocaleString('en')
  if (findValues(field, text, known).length > MAX_VALUES) {
    return `Only the ${MAX_VALUES} most frequent matches are listed.`
  }
  return total > values.length
    ? `Only the ${format(values.length)} most frequent of ${format(total)} values are searched.`
    : undefined
}

const findValues = (field: Field, text: string, { values }: KnownValues): readonly string[] =>
  values.filter((value) => matchesName(field, value, text))
