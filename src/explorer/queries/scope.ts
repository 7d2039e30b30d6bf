/** What the queries of a state share: the period, its time zone, the filters, and the comparison. */
import type { Filter } from '../../contract/api.js'
import { PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import type { Field } from '../state/filters.js'
import type { ExplorerState } from '../state/state.js'
import type { QueryBody } from '../client/contract.js'
import { buildFilters, type Kept } from './filters.js'

export type Scope = Pick<QueryBody, 'date_range' | 'filters' | 'filtersOperator' | 'time_zone'>

/** What queries share: the period, its time zone, and the filters. That of the project is left to the service, which knows it. */
export const buildScope = (state: ExplorerState, kept: Kept = 'visits'): Scope => ({
  ...buildScopeInUtc(state, kept),
  ...(state.zone === undefined ? {} : { time_zone: state.zone }),
})

/**
 * The scope of a tab. Values of a property are those of the filtered events themselves: with a filter on purchases, the plans that
 * were purchased, and not those of other events in the same visits.
 */
export const buildTabScope = (tab: Field, state: ExplorerState): Scope =>
  buildScope(state, tab.startsWith(PROPERTY_PREFIX) ? 'events' : 'visits')

/** The scope for operations that know no time zone. */
export function buildScopeInUtc(
  state: ExplorerState,
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
const buildDateRange = ({ period }: ExplorerState): QueryBody['date_range'] =>
  typeof period === 'string' ? period : [period.from, period.to]

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

/** The members of a query that compare it. All time has nothing before it. */
export function buildComparison({
  comparison,
  period,
}: ExplorerState): Pick<QueryBody, 'compare' | 'compare_align'> {
  if (comparison === 'off' || period === 'all') return {}
  return comparison === 'weekdays'
    ? { compare: 'previous_period', compare_align: 'weekday' }
    : { compare: comparison }
}
