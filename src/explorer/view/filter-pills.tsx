/** The filters of the page: each opens to be edited, and can be turned into its opposite, or removed. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { describeFilter } from '../queries/filters.js'
import { clearFilters, removeFilter, replaceFilter, set, type Change } from '../state/changes.js'
import { isNegation, negate, type FieldFilter } from '../state/filters.js'
import { Select } from './controls.js'
import { ConditionForm, type ConditionSource } from './filter-menu.js'
import { Menu } from './menu.js'
import type { Parts } from './parts.js'

const JOIN_NAMES = [
  ['and', 'All must match'],
  ['or', 'At least one must match'],
] as const

/** The button that adds filters; on a phone that with which it comes. A search that got the focus would open the keyboard of a phone. */
const findFilterButton = (): HTMLElement | undefined =>
  [...document.querySelectorAll<HTMLElement>('.filter > summary, button.more')].find((one) =>
    one.checkVisibility(),
  )

interface FilterPillsProps extends Parts {
  /** What filters are built from. */
  readonly source: ConditionSource
}

/** The filters of the page, and how they are joined. */
export function FilterPills({ state, change, source }: FilterPillsProps) {
  const { filters, join, goal } = state
  const list = useRef<HTMLUListElement>(null)
  // Where the focus goes after a change that takes the button away.
  const next = useRef<number | undefined>(undefined)
  useEffect(() => {
    if (next.current === undefined) return
    const pills = list.current?.querySelectorAll<HTMLElement>('.pill') ?? []
    const target = pills[Math.min(next.current, pills.length - 1)]
    next.current = undefined
    ;(target ?? findFilterButton())?.focus()
  }, [filters])
  const changeAt = (index: number, make: Change): void => {
    next.current = index
    change(make)
  }
  if (filters.length === 0) return null
  return (
    <ul ref={list} class="pills" aria-label="Filters">
      {filters.map((filter, i) => (
        <Pill
          key={`${filter.field} ${filter.operator}`}
          {...{ filter, goal, source }}
          onReplace={(replacement) => changeAt(i, replaceFilter(i, replacement))}
          onRemove={() => changeAt(i, removeFilter(i))}
        />
      ))}
      {filters.length > 1 && (
        <>
          <li>
            <Select
              label="How many filters must match"
              name="join"
              options={JOIN_NAMES}
              value={join}
              onChange={(chosen) => change(set({ join: chosen }))}
            />
          </li>
          <li>
            <button onClick={() => changeAt(0, clearFilters)}>Clear all</button>
          </li>
        </>
      )}
    </ul>
  )
}

interface PillProps {
  readonly filter: FieldFilter
  /** The goal that is chosen. */
  readonly goal: string | undefined
  readonly source: ConditionSource
  readonly onReplace: (replacement: FieldFilter) => void
  readonly onRemove: () => void
}

/** A filter. A click opens it. */
function Pill({ filter, goal, source, onReplace, onRemove }: PillProps) {
  const [isOpen, setOpen] = useState(false)
  const name = describeFilter(filter, goal)
  return (
    <li>
      <Menu text={name} title={`Edit: ${name}`} button="pill" onToggle={setOpen}>
        {(close) => {
          const replace = (replacement: FieldFilter): void => {
            close()
            onReplace(replacement)
          }
          return (
            isOpen && (
              <>
                <button onClick={() => replace(negate(filter))}>
                  {isNegation(filter.operator) ? 'Include instead' : 'Exclude instead'}
                </button>
                <ConditionForm {...source} isOpen edited={filter} onCondition={replace} />
              </>
            )
          )
        }}
      </Menu>
      <button aria-label={`Remove: ${name}`} onClick={onRemove}>
        ×
      </button>
    </li>
  )
}
