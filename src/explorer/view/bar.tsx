/** The bar: the project, who is there now, and what the numbers are about. */
import { useEffect, useState } from 'preact/hooks'
import type { Query } from '../client/contract.js'
import { describeFilter } from '../queries/filters.js'
import { negateFilter, removeFilter, set } from '../state/changes.js'
import { COMPARISONS, type ShownComparison } from '../state/state.js'
import { Select } from './controls.js'
import { findShown, type Parts } from './parts.js'
import { PeriodMenu } from './period-menu.js'
import { Search } from './search.js'
import { Value } from './value.js'

const COMPARISON_NAMES: Readonly<Record<ShownComparison, string>> = {
  off: 'No comparison',
  previous_period: 'vs. previous period',
  weekdays: 'vs. same weekdays before',
  previous_year: 'vs. previous year',
}

interface BarProps extends Parts {
  /** The name of the project; empty until it is known. */
  readonly name: string
  /** The query who is there now. */
  readonly live: Query | undefined
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

/** The zones that are likely: UTC, those of the project and the browser, and the one that is chosen. */
const listLikely = (ownZone: string, zone: string): readonly string[] => [
  'UTC',
  ownZone,
  Intl.DateTimeFormat().resolvedOptions().timeZone,
  zone,
]

/** Chooses the time zone of the page. */
function ZoneMenu({
  state: { zone: chosen },
  ownZone,
  change,
  responses: { isAsking },
}: Pick<Parts, 'state' | 'change' | 'ownZone' | 'responses'>) {
  const zone = chosen ?? ownZone
  // There are hundreds: the numbers are drawn first.
  const [all, setAll] = useState<readonly string[]>([])
  useEffect(() => {
    if (!isAsking) setAll(Intl.supportedValuesOf('timeZone'))
  }, [isAsking])
  const zones = [...new Set([...listLikely(ownZone, zone), ...all])]
  return (
    <Select
      label="Time zone"
      name="zone"
      options={zones.map((one) => [one, one.replaceAll('_', ' ')])}
      value={zone}
      onChange={(next) => change(set({ zone: next === ownZone ? undefined : next }))}
    />
  )
}

/** The filters of the page, each of which can be negated and removed. */
function FilterPills({ state, change }: Parts) {
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
