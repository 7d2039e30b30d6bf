/** Chooses the period: a preset, a range of dates, or the period before or after. */
import { set } from '../../state/changes.js'
import { dateIn, describePeriod, PRESET_NAMES, stepPeriod } from '../../state/periods.js'
import { PRESETS } from '../../state/state.js'
import type { Parts } from '../shared/parts.js'

export function PeriodMenu({ state, change, today: now }: Parts & { readonly today: Date }) {
  const { period, zone } = state
  const today = dateIn(zone, now)
  const step = (direction: -1 | 1, label: string, sign: string) => {
    const stepped = stepPeriod(period, direction, today)
    return (
      <button
        aria-label={label}
        title={label}
        disabled={stepped === undefined}
        onClick={() => stepped && change(set({ period: stepped }))}
      >
        {sign}
      </button>
    )
  }
  return (
    <div class="period" role="group" aria-label="Period">
      {step(-1, 'The period before', '‹')}
      <details>
        <summary>{describePeriod(period)}</summary>
        <div class="menu">
          {PRESETS.map((preset) => (
            <button
              key={preset}
              aria-pressed={period === preset}
              onClick={(event) => {
                event.currentTarget.closest('details')?.removeAttribute('open')
                change(set({ period: preset }))
              }}
            >
              {PRESET_NAMES[preset]}
            </button>
          ))}
          <RangeForm change={change} today={today} />
        </div>
      </details>
      {step(1, 'The period after', '›')}
    </div>
  )
}

/** Asks for a range of dates. */
function RangeForm({ change, today }: Pick<Parts, 'change'> & { readonly today: string }) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const data = new FormData(event.currentTarget)
        const [from, to] = [data.get('from'), data.get('to')]
        if (typeof from !== 'string' || typeof to !== 'string' || from > to) return
        event.currentTarget.closest('details')?.removeAttribute('open')
        change(set({ period: { from, to } }))
      }}
    >
      <label>
        From <input type="date" name="from" required max={today} />
      </label>
      <label>
        to <input type="date" name="to" required />
      </label>
      <button type="submit">Show</button>
    </form>
  )
}
