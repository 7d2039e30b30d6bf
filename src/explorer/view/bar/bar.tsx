/** The bar: the project, who is there now, and what the numbers are about. */
import type { Question } from '../../client/contract.js'
import { set } from '../../state/changes.js'
import { COMPARISONS, type ShownComparison } from '../../state/state.js'
import { findShown, type Parts } from '../shared/parts.js'
import { Select } from '../shared/select.js'
import { Search } from '../search/search.js'
import { Value } from '../shared/value.js'
import { FilterPills } from './filter-pills.js'
import { PeriodMenu } from './period-menu.js'
import { ZoneMenu } from './zone-menu.js'

const COMPARISON_NAMES: Readonly<Record<ShownComparison, string>> = {
  off: 'No comparison',
  previous_period: 'vs. previous period',
  weekdays: 'vs. same weekdays before',
  previous_year: 'vs. previous year',
}

export interface BarProps extends Parts {
  /** The name of the project; empty until it is known. */
  readonly name: string
  /** The question who is there now. */
  readonly live: Question | undefined
  readonly now: () => Date
  /** The names of the event properties that can be searched. */
  readonly properties: readonly string[]
}

export function Bar({ name, live, now, properties, ...parts }: BarProps) {
  const { state, change } = parts
  const isAll = state.period === 'all'
  const present = findShown(parts, live)
  const users = present.kind === 'ready' ? present.body.data[0]?.metrics.users : undefined
  return (
    <header class="bar">
      <h1>{name === '' ? 'Tallyhouse' : name}</h1>
      <p class="now" title="Users in the last five minutes">
        {present.kind === 'ready' && <Value metric="users" value={users} />}{' '}
        {users === 1 ? 'user' : 'users'} now
      </p>
      <PeriodMenu {...parts} now={now} />
      <Select
        label="Compare with"
        name="compare"
        options={COMPARISONS.map((one) => [one, COMPARISON_NAMES[one]])}
        value={isAll ? 'off' : state.comparison}
        disabledBecause={isAll ? 'All time has nothing before it' : undefined}
        onChange={(comparison) => change(set({ comparison }))}
      />
      <ZoneMenu {...parts} />
      <Search {...parts} now={now} properties={properties} />
      <FilterPills {...parts} />
    </header>
  )
}
