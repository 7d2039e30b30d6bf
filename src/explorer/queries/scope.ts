/** What the queries of a state share: the period, its time zone, the filters, and the comparison. */
import type { Filter } from '../../contract/api.js'
import { PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import type { Field } from '../state/filters.js'
import type { AskedState, ExplorerState } from '../state/state.js'
import type { QueryBody } from '../client/contract.js'
import { buildFilters, type Kept } from './filters.js'

export type Scope = Pick<QueryBody, 'date_range' | 'filters' | 'filtersOperator' | 'time_zone'>

/** What queries share: the period, its time zone, and the filters. The service fills in the zone of the project. */
export const buildScope = (state: AskedState, kept: Kept = 'visits'): Scope => ({
  ...buildScopeInUtc(state, kept),
  ...(state.zone === undefined ? {} : { time_zone: state.zone }),
})

/**
 * The scope of a tab. Values of a property are those of the filtered events themselves: with a filter on purchases, the plans that
 * were purchased, and not those of other events in the same visits.
 */
export const buildTabScope = (tab: Field, state: AskedState): Scope =>
  buildScope(state, tab.startsWith(PROPERTY_PREFIX) ? 'events' : 'visits')

/** The scope for operations that know no time zone. */
export function buildScopeInUtc(
  state: AskedState,
  kept: Kept = 'visits',
): Omit<Scope, 'time_zone'> {
  const filters = buildFilters(state, kept)
  return {
    date_range: buildDateRange(state),
    ...(filters.length === 0 ? {} : { filters: [...filters] }),
    ...(filters.length > 1 && state.join === 'or' ? { filtersOperator: state.join } : {}),
  }
}

/** The period as the API takes it. */
function buildDateRange({
  period,
  lastDays,
}: Pick<AskedState, 'period' | 'lastDays'>): QueryBody['date_range'] {
  if (typeof period === 'string') return period
  return lastDays === undefined ? [period.from, period.to] : { last: lastDays, unit: 'day' }
}

/** Adds a filter to a scope: events have to match it besides those that the scope has. */
export function narrow({ filters = [], filtersOperator, ...others }: Scope, added: Filter): Scope {
  return filtersOperator === 'or'
    ? { ...others, filters: [{ type: 'group', operator: 'or', filters }, added] }
    : { ...others, filters: [...filters, added] }
}

/** The grouping of a field. */
export const groupBy = (field: Field): NonNullable<QueryBody['group_by']> => [
  field as NonNullable<QueryBody['group_by']>[number],
]

/** Whether the period is compared with another one. All time has nothing before it. */
export const isCompared = ({
  comparison,
  period,
}: Pick<ExplorerState, 'comparison' | 'period'>): boolean =>
  comparison !== 'off' && period !== 'all'

/**
 * What the period is compared with. With a filter by weekdays, a period before has the same weekdays: of 30 days, nine are on weekends,
 * or eight.
 */
export const getComparison = ({
  comparison,
  filters,
}: Pick<ExplorerState, 'comparison' | 'filters'>): ExplorerState['comparison'] =>
  comparison === 'previous_period' && filters.some(({ field }) => field === 'weekday')
    ? 'weekdays'
    : comparison

/** The members of a query that compare it. */
export function buildComparison(state: AskedState): Pick<QueryBody, 'compare' | 'compare_align'> {
  const comparison = getComparison(state)
  if (comparison === 'off' || !isCompared(state)) return {}
  return comparison === 'weekdays'
    ? { compare: 'previous_period', compare_align: 'weekday' }
    : { compare: typeof comparison === 'string' ? comparison : [comparison.from, comparison.to] }
}
