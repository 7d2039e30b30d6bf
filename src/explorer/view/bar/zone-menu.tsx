/** Chooses the time zone of the page. */
import { useEffect, useState } from 'preact/hooks'
import { set } from '../../state/changes.js'
import type { Parts } from '../shared/parts.js'
import { Select } from '../shared/select.js'

/** The zones that are likely: that of the counts, that of the browser, and the one that is chosen. */
const listLikely = (zone: string): readonly string[] => [
  'UTC',
  Intl.DateTimeFormat().resolvedOptions().timeZone,
  zone,
]

export function ZoneMenu({
  state: { zone },
  change,
  answers: { isAsking },
}: Pick<Parts, 'state' | 'change' | 'answers'>) {
  // There are hundreds: the numbers are drawn first.
  const [all, setAll] = useState<readonly string[]>([])
  useEffect(() => {
    if (!isAsking) setAll(Intl.supportedValuesOf('timeZone'))
  }, [isAsking])
  const zones = [...new Set([...listLikely(zone), ...all])]
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
