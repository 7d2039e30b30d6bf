/** The filters of the page, each of which can be negated and removed. */
import { describeFilter } from '../../questions/filters.js'
import { negateFilter, removeFilter, set } from '../../state/changes.js'
import type { Parts } from '../shared/parts.js'

export function FilterPills({ state, change }: Parts) {
  const { filters, join } = state
  if (filters.length === 0) return null
  return (
    <ul class="pills" aria-label="Filters">
      {filters.map((filter, i) => (
        <li key={`${filter.field} ${filter.operator}`}>
          <button class="pill" title="Negate this filter" onClick={() => change(negateFilter(i))}>
            {describeFilter(filter)}
          </button>
          <button
            aria-label={`Remove: ${describeFilter(filter)}`}
            onClick={() => change(removeFilter(i))}
          >
            ×
          </button>
        </li>
      ))}
      {filters.length > 1 && (
        <li>
          <button
            aria-pressed={join === 'or'}
            onClick={() => change(set({ join: join === 'or' ? 'and' : 'or' }))}
          >
            {join === 'or' ? 'Match any' : 'Match all'}
          </button>
        </li>
      )}
      {filters.length > 1 && (
        <li>
          <button onClick={() => change(set({ filters: [] }))}>Clear all</button>
        </li>
      )}
    </ul>
  )
}
