/** The bar: the project, who is there now, and what the numbers are about. */
import type { Project, Question } from '../../client/contract.js'
import { set } from '../../state/changes.js'
import { COMPARISONS, type ShownComparison } from '../../state/state.js'
import { findShown, type Parts } from '../shared/parts.js'
import { Value } from '../shared/value.js'
import { FilterPills } from './filter-pills.js'
import { PeriodMenu } from './period-menu.js'
import { ZoneMenu } from './zone-menu.js'

const COMPARISON_NAMES: Readonly<Record<ShownComparison, string>> = {
  off: 'No comparison',
  previous_period: 'Previous period',
  previous_year: 'Previous year',
  weekdays: 'Previous period, same weekdays',
}

export interface BarProps extends Parts {
  readonly project: Pick<Project, 'name'>
  /** The question who is there now. */
  readonly live: Question | undefined
  readonly today: Date
}

export function Bar({ project, live, today, ...parts }: BarProps) {
  const { state, change } = parts
  const now = findShown(parts, live)
  return (
    <header class="bar">
      <h1>{project.name === '' ? 'Tallyhouse' : project.name}</h1>
      <p class="now">
        {now.kind === 'ready' && (
          <>
            <Value metric="users" value={now.body.data[0]?.metrics.users} /> now
          </>
        )}
      </p>
      <PeriodMenu {...parts} today={today} />
      <label>
        <span class="hidden">Compare with</span>
        <select
          name="compare"
          value={state.comparison}
          onChange={({ currentTarget: { value } }) => {
            const comparison = COMPARISONS.find((one) => one === value) ?? 'off'
            change(set({ comparison }))
          }}
        >
          {COMPARISONS.map((one) => (
            <option key={one} value={one}>
              {COMPARISON_NAMES[one]}
            </option>
          ))}
        </select>
      </label>
      <ZoneMenu {...parts} />
      <FilterPills {...parts} />
    </header>
  )
}
