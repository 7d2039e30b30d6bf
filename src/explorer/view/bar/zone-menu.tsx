/** Chooses the time zone of the page. */
import { set } from '../../state/changes.js'
import type { Parts } from '../shared/parts.js'

export function ZoneMenu({ state, change }: Parts) {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  const zones = [...new Set(['UTC', own, state.zone, ...Intl.supportedValuesOf('timeZone')])]
  return (
    <label>
      <span class="hidden">Time zone</span>
      <select
        name="zone"
        value={state.zone}
        onChange={({ currentTarget: { value } }) => change(set({ zone: value }))}
      >
        {zones.map((zone) => (
          <option key={zone} value={zone}>
            {zone}
          </option>
        ))}
      </select>
    </label>
  )
}
