/** What people do on the page, as changes of its state. */
import { OPPOSITES, type FieldFilter } from './filters.js'
import type { Details, ExplorerState } from './state.js'

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
  (state) => {
    const i = state.filters.findIndex(
      ({ field, operator }) => field === added.field && operator === added.operator,
    )
    const same = state.filters[i]
    const filters =
      same === undefined
        ? [...state.filters, added]
        : state.filters.with(i, {
            ...same,
            values: [...new Set([...same.values, ...added.values])],
          })
    return { ...state, filters, details: undefined }
  }

/** Removes a filter. @param index its place among the filters */
export const removeFilter =
  (index: number): Change =>
  (state) => ({ ...state, filters: state.filters.filter((_, i) => i !== index) })

/** Makes a filter its opposite, or back. */
export const negateFilter =
  (index: number): Change =>
  (state) => {
    const filter = state.filters[index]
    if (filter === undefined) return state
    const operator = OPPOSITES[filter.operator]
    return { ...state, filters: state.filters.with(index, { ...filter, operator }) }
  }

/** Removes all filters. */
export const clearFilters: Change = (state) => ({ ...state, filters: [], join: 'and' })

/** Compares with the period before, or no more. */
export const toggleComparison: Change = (state) => ({
  ...state,
  comparison: state.comparison === 'off' ? 'previous_period' : 'off',
})

/** Opens the dialog of a tab. */
export const openDetails =
  (tab: string, orderBy: string): Change =>
  (state) => ({
    ...state,
    details: { tab, search: '', orderBy, direction: 'desc', page: 0 },
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
