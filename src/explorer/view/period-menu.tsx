/** Chooses the period: a preset, a range of dates, or the period before or after. */
import { useState } from 'preact/hooks'
import { getComparison } from '../queries/scope.js'
import { set } from '../state/changes.js'
import {
  dateIn,
  describePeriod,
  PRESET_NAMES,
  stepPeriod,
  toDates,
  toPreset,
} from '../state/periods.js'
import {
  COMPARISONS,
  LIVE,
  PRESETS,
  type Range,
  type ShownComparison,
  type ShownPeriod,
} from '../state/state.js'
import { Menu } from './menu.js'
import type { Parts } from './parts.js'
import type { Settling } from './use-settled.js'

type MenuParts = Pick<Parts, 'state' | 'change' | 'ownZone'> & Settling

interface PeriodMenuProps extends MenuParts {
  readonly now: () => Date
}

export function PeriodMenu({ state, ownZone, change, now, isSettled }: PeriodMenuProps) {
  const { period, zone } = state
  const shownZone = zone ?? ownZone
  const today = dateIn(shownZone, now())
  const show = (chosen: ShownPeriod): void => change(set({ period: chosen }))
  const step = (range: Range): void => show(toPreset(range, today))
  return (
    <div class="period" role="group" aria-label="Period">
      <Step name="The period before" sign="‹" range={stepPeriod(period, -1, today)} onStep={step} />
      <Menu text={describePeriod(period, shownZone)}>
        {(close) => {
          const choose = (chosen: ShownPeriod): void => {
            close()
            show(chosen)
          }
          return (
            <>
              {([LIVE, ...PRESETS] as const).map((preset) => (
                <button
                  key={preset}
                  aria-pressed={period === preset}
                  onClick={() => choose(preset)}
                >
                  {PRESET_NAMES[preset]}
                </button>
              ))}
              {isSettled && (
                <RangeForm
                  range={typeof period === 'string' ? toDates(period, today) : period}
                  onRange={choose}
                />
              )}
            </>
          )
        }}
      </Menu>
      <Step name="The period after" sign="›" range={stepPeriod(period, 1, today)} onStep={step} />
    </div>
  )
}

const COMPARISON_NAMES: Readonly<Record<(typeof COMPARISONS)[number], string>> = {
  off: 'No comparison',
  previous_period: 'vs. previous period',
  weekdays: 'vs. same weekdays before',
  previous_year: 'vs. previous year',
}

/** Chooses what the period is compared with: one that follows from it, or a range of dates. */
export function ComparisonMenu({ state, ownZone, change, isSettled }: MenuParts) {
  const { period, zone } = state
  const comparison = getComparison(state)
  const name =
    typeof comparison === 'string'
      ? COMPARISON_NAMES[comparison]
      : `vs. ${describePeriod(comparison, zone ?? ownZone)}`
  // All time has nothing before it.
  if (period === 'all') return null
  return (
    <Menu text={name} class="compare">
      {(close) => {
        const choose = (chosen: ShownComparison): void => {
          close()
          change(set({ comparison: chosen }))
        }
        return (
          <>
            {COMPARISONS.map((one) => (
              <button key={one} aria-pressed={comparison === one} onClick={() => choose(one)}>
                {COMPARISON_NAMES[one]}
              </button>
            ))}
            {isSettled && (
              <RangeForm
                range={typeof comparison === 'string' ? undefined : comparison}
                onRange={choose}
              />
            )}
          </>
        )
      }}
    </Menu>
  )
}

/** Goes to the period before or after, where there is one. */
function Step({
  name,
  sign,
  range,
  onStep,
}: {
  readonly name: string
  readonly sign: string
  readonly range: Range | undefined
  readonly onStep: (range: Range) => void
}) {
  return (
    <button
      class="control"
      aria-label={name}
      title={name}
      disabled={range === undefined}
      onClick={() => range && onStep(range)}
    >
      {sign}
    </button>
  )
}

/** Asks for a range of dates. */
function RangeForm({
  range,
  onRange,
}: {
  /** The dates to begin with. */
  readonly range: Range | undefined
  readonly onRange: (range: Range) => void
}) {
  const [isReversed, setIsReversed] = useState(false)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const data = new FormData(event.currentTarget)
        const [from, to] = [data.get('from'), data.get('to')]
        if (typeof from !== 'string' || typeof to !== 'string') return
        setIsReversed(from > to)
        if (from <= to) onRange({ from, to })
      }}
    >
      <label>
        From{' '}
        <input
          class="control"
          type="date"
          name="from"
          required
          defaultValue={range?.from.slice(0, 10) ?? ''}
        />
      </label>
      <label>
        to{' '}
        <input
          class="control"
          type="date"
          name="to"
          required
          defaultValue={range?.to.slice(0, 10) ?? ''}
        />
      </label>
      <button class="control" type="submit">
        Show
      </button>
      {isReversed && <p role="alert">The end is before the start.</p>}
    </form>
  )
}
