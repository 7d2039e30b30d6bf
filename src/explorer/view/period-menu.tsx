/** Chooses the period: a preset, a range of dates, or the period before or after. */
import { useRef, useState } from 'preact/hooks'
import { set } from '../state/changes.js'
import { dateIn, describePeriod, PRESET_NAMES, stepPeriod } from '../state/periods.js'
import { PRESETS, type Range, type ShownPeriod } from '../state/state.js'
import type { Parts } from './parts.js'

interface PeriodMenuProps extends Pick<Parts, 'state' | 'change' | 'ownZone'> {
  readonly now: () => Date
}

export function PeriodMenu({ state: { period, zone }, ownZone, change, now }: PeriodMenuProps) {
  const menu = useRef<HTMLDetailsElement>(null)
  const shownZone = zone ?? ownZone
  const today = dateIn(shownZone, now())
  const show = (chosen: ShownPeriod): void => {
    menu.current?.removeAttribute('open')
    change(set({ period: chosen }))
  }
  return (
    <div class="period" role="group" aria-label="Period">
      <Step name="The period before" sign="‹" range={stepPeriod(period, -1, today)} onStep={show} />
      <details
        ref={menu}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          event.preventDefault()
          menu.current?.removeAttribute('open')
          menu.current?.querySelector('summary')?.focus()
        }}
        onFocusOut={({ currentTarget, relatedTarget }) => {
          const stays = relatedTarget instanceof Node && currentTarget.contains(relatedTarget)
          if (!stays) currentTarget.removeAttribute('open')
        }}
      >
        <summary class="control">{describePeriod(period, shownZone)}</summary>
        {/* It takes the focus of clicks between its buttons, so that they do not close it. */}
        <div class="menu" tabIndex={-1}>
          {PRESETS.map((preset) => (
            <button key={preset} aria-pressed={period === preset} onClick={() => show(preset)}>
              {PRESET_NAMES[preset]}
            </button>
          ))}
          <RangeForm period={period} onRange={show} />
        </div>
      </details>
      <Step name="The period after" sign="›" range={stepPeriod(period, 1, today)} onStep={show} />
    </div>
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
  period,
  onRange,
}: {
  readonly period: ShownPeriod
  readonly onRange: (range: ShownPeriod) => void
}) {
  const [isReversed, setIsReversed] = useState(false)
  const range = typeof period === 'string' ? undefined : period
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
