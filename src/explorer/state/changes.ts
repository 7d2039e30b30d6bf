/** What people do on the page, as changes of its state. */
import type { FieldFilter } from './filters.js'
import { DEFAULT_STATE, listCardMetrics, type Details, type ExplorerState } from './state.js'

/** A change of the state. */
export type Change = (state: ExplorerState) => ExplorerState

/** Sets members of the state, such as the period. An open dialog starts again at its first page. */
export const set =
  (members: Partial<ExplorerState>): Change =>
  (state) => ({ ...state, ...members })

/** Opens a tab of a panel. */
export const openTab =
  (panel: string, tab: string): Change =>
  (state) => ({ ...state, tabs: { ...state.tabs, [panel]: tab } })

/** Adds a filter, and closes the dialog. A filter on the same field with the same operator gets the values, too. */
export const addFilter =
  (added: FieldFilter): Change =>
  (state) => ({
    ...state,
    filters: mergeFilter(state.filters, added) ?? [...state.filters, added],
    details: undefined,
  })

/** Adds the values of a filter to the one on the same field with the same operator. @returns undefined if there is none */
function mergeFilter(
  filters: readonly FieldFilter[],
  { field, operator, values }: FieldFilter,
): readonly FieldFilter[] | undefined {
  const i = filters.findIndex((one) => one.field === field && one.operator === operator)
  const same = filters[i]
  return same && filters.with(i, { ...same, values: [...new Set([...same.values, ...values])] })
}

/** Removes a filter. @param index its place among the filters */
export const removeFilter =
  (index: number): Change =>
  (state) => ({ ...state, filters: state.filters.filter((_, i) => i !== index) })

/** Replaces a filter. If there is another one on the same field with the same operator, that one gets the values. @param index its place among the filters */
export const replaceFilter =
  (index: number, replacement: FieldFilter): Change =>
  (state) => {
    const { filters } = state
    if (filters[index] === undefined) return state
    const others = filters.filter((_, i) => i !== index)
    return {
      ...state,
      filters: mergeFilter(others, replacement) ?? filters.with(index, replacement),
    }
  }

/** Chooses a goal, or none: its metrics then leave the chart. */
export const chooseGoal =
  (goal: string | undefined): Change =>
  (state) => ({
    ...state,
    goal,
    metric: listCardMetrics({ goal }).includes(state.metric) ? state.metric : DEFAULT_STATE.metric,
  })

/** Removes all filters. */
export const clearFilters: Change = (state) => ({ ...state, filters: [], join: 'and' })

/** Compares with the period before, or no more. */
export const toggleComparison: Change = (state) => ({
  ...state,
  comparison: state.comparison === 'off' ? 'previous_period' : 'off',
})

/** Opens the dialog of a tab. */
export const openDetails =
  (tab: string, orderBy: string, view: Details['view'] = 'value'): Change =>
  (state) => ({
    ...state,
    details: { tab, view, search: '', orderBy, direction: 'desc', page: 0 },
  })

/** Changes the open dialog. Another search or order starts at the first page. */
export const changeDetails =
  (members: Partial<Details>): Change =>
  (state) =>
    state.details === undefined
      ? state
      : { ...state, details: { ...state.details, page: 0, ...members } }

/** Closes the dialog. */
export const closeDetails: Change = (state) => ({ ...state, details: undefined })
