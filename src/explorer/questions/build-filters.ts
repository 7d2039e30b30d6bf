/** The filters of a state as those of the API. */
import type { Filter } from '../../contract/api.js'
import {
  isEventField,
  isNegation,
  OPPOSITES,
  toApiFilter,
  type FieldFilter,
} from '../state/filters.js'
import type { ExplorerState } from '../state/state.js'

/** What a filter on events keeps: all that happened in the visits with such an event, or such events alone. */
export type Kept = 'visits' | 'events'

/**
 * Builds the filters of the API. Filters on events that are joined by `and` are about one event: a visit with a purchase whose
 * plan is `pro`, rather than with a purchase, and something else whose plan is `pro`. A negation keeps the visits without such an event.
 */
export function buildFilters(
  { filters, join }: Pick<ExplorerState, 'filters' | 'join'>,
  kept: Kept,
): readonly Filter[] {
  const events = filters.filter(selectsEvents).map(toApiFilter)
  const others = filters
    .filter((filter) => !selectsEvents(filter))
    .map((filter) => (isEventField(filter.field) ? excludeVisits(filter) : toApiFilter(filter)))
  if (events.length === 0 || kept === 'events') return [...others, ...events]
  const isAny = events.length > 1 && join === 'or'
  const any: Filter = { type: 'group', operator: 'or', filters: events }
  return [...others, { type: 'visit', filters: isAny ? [any] : events }]
}

/** Whether a filter selects visits by an event that they have. */
export const selectsEvents = ({ field, operator }: FieldFilter): boolean =>
  isEventField(field) && !isNegation(operator)

/** Selects the visits none of whose events is one that a filter excludes. */
function excludeVisits(filter: FieldFilter): Filter {
  const excluded = toApiFilter({ ...filter, operator: OPPOSITES[filter.operator] })
  return { type: 'group', operator: 'not', filters: [{ type: 'visit', filters: [excluded] }] }
}
