/** The bar: the project, who is there now, and what the numbers are about. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { GoalList } from '../../contract/management-api.js'
import type { Project, Query } from '../client/contract.js'
import { chooseGoal, set } from '../state/changes.js'
import { LIVE } from '../state/state.js'
import { Select, SkipLink } from './controls.js'
import { FilterMenu, type ConditionSource } from './filter-menu.js'
import { FilterPills } from './filter-pills.js'
import { findShown, type Parts } from './parts.js'
import { ComparisonMenu, PeriodMenu } from './period-menu.js'
import { Search } from './search.js'
import { ShareMenu } from './share-menu.js'
import { useSettled, type Settling } from './use-settled.js'
import { Value } from './value.js'

interface BarProps extends Parts {
  /** The name of the project; empty until it is known. */
  readonly name: string
  /** What filters are built from. Its state has a period that can be asked about. */
  readonly source: ConditionSource
  readonly project: Project | undefined
  /** The goals of the project; none until they are known, and on public dashboards. */
  readonly goals: GoalList['goals']
  /** The query about the whole period. */
  readonly totals: Query | undefined
  /** The query for the number of users on the site now. */
  readonly live: Query | undefined
}

export function Bar({ name, live, source, project, goals, totals, ...parts }: BarProps) {
  const { state, change } = parts
  const [hasMore, setMore] = useState(false)
  const ref = useScrollPadding()
  const isSettled = useSettled(parts.responses.isAsking)
  const present = findShown(parts, live)
  const users = present.kind === 'ready' ? present.body.data[0]?.metrics.users : undefined
  return (
    <header class="bar" ref={ref}>
      <div class="row">
        <SkipLink />
        <h1 title={name}>{name === '' ? 'Tallyhouse' : name}</h1>
        {parts.access.project !== undefined && (
          <a class="control" href="/explore">
            All projects
          </a>
        )}
        <button
          class="now"
          title="Users in the last five minutes. Shows the last 30, minute by minute."
          aria-pressed={state.period === LIVE}
          onClick={() => change(set({ period: LIVE, interval: 'auto' }))}
        >
          {present.kind === 'ready' && <Value metric="users" value={users} />}{' '}
          {users === 1 ? 'user' : 'users'} now
        </button>
        <PeriodMenu {...parts} now={source.now} isSettled={isSettled} />
        <button class="control more" aria-expanded={hasMore} onClick={() => setMore(!hasMore)}>
          More
        </button>
        <div class={hasMore ? 'rest open' : 'rest'}>
          <ComparisonMenu {...parts} isSettled={isSettled} />
          <ZoneMenu {...parts} isSettled={isSettled} />
          <FilterMenu {...source} change={change} />
          <button
            class="control"
            onClick={() => change(set({ funnel: { within: 'visit', steps: [] } }))}
          >
            Funnel
          </button>
          <ShareMenu {...{ ...parts, project, totals }} asked={source.state} />
          <Search {...parts} {...source} />
          {/* At the end, since it comes when the goals are known, and would move what is behind it. */}
          <GoalMenu {...parts} goals={goals} />
        </div>
      </div>
      <FilterPills {...parts} source={source} />
    </header>
  )
}

/** The zones that a browser knows: its own first. */
const listKnown = (): readonly string[] => [
  Intl.DateTimeFormat().resolvedOptions().timeZone,
  ...Intl.supportedValuesOf('timeZone'),
]

/** Chooses the time zone of the page. */
export function ZoneMenu({
  state: { zone: chosen },
  ownZone,
  change,
  isSettled,
}: Pick<Parts, 'state' | 'change' | 'ownZone'> & Settling) {
  const zone = chosen ?? ownZone
  const known = useMemo(() => (isSettled ? listKnown() : []), [isSettled])
  const zones = [...new Set(['UTC', ownZone, zone, ...known])]
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

/** Chooses the goal whose conversions are shown; nothing if the project has none. */
function GoalMenu({
  state: { goal: chosen = '' },
  change,
  goals,
}: Pick<BarProps, 'state' | 'change' | 'goals'>) {
  // The one of the address may have been deleted, or the list cannot be read.
  const names = [...new Set([...goals.map(({ name }) => name), ...(chosen === '' ? [] : [chosen])])]
  if (names.length === 0) return null
  return (
    <Select
      label="Goal"
      name="goal"
      options={[['', 'No goal'], ...names.map((name) => [name, `Goal: ${name}`] as const)]}
      value={chosen}
      onChange={(name) => change(chooseGoal(name === '' ? undefined : name))}
    />
  )
}

/** Keeps what gets the focus out from under the bar, which stays at the top. @returns what refers to the bar */
export function useScrollPadding() {
  const ref = useRef<HTMLElement>(null)
  useEffect(() => {
    const bar = ref.current
    if (bar === null) return
    const { style } = bar.ownerDocument.documentElement
    const observer = new ResizeObserver(() => {
      const isSticky = getComputedStyle(bar).position === 'sticky'
      style.scrollPaddingTop = isSticky ? `${bar.offsetHeight}px` : ''
    })
    observer.observe(bar)
    return () => observer.disconnect()
  }, [])
  return ref
}
