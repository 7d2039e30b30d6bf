/** Chooses the time zone of the page. */
import { set } from '../../state/changes.js'
import type { Parts } from '../shared/parts.js'
import { Select } from '../shared/select.js'

const OWN = Intl.DateTimeFormat().resolvedOptions().timeZone
const ALL = Intl.supportedValuesOf('timeZone')

export function ZoneMenu({ state: { zone }, change }: Pick<Parts, 'state' | 'change'>) {
  const zones = [...new Set(['UTC', OWN, zone, ...ALL])]
  return (
    <Select
      label="Time zone"
      name="zone"
      options={zones.map((one) => [one, one.replaceAll('_', ' ')])}
      value={zone}
      onChange={(chosen) => change(set({ zone: chosen }))}
    />
  )
}
