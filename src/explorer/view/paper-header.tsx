/** What stands at the top of a printed page, where nobody can open the menus of the bar. */
import type { Query } from '../client/contract.js'
import { describeFilters } from '../queries/filters.js'
import { nameBucket } from '../format/dates.js'
import { clockIn, describePeriods } from '../state/periods.js'
import { findShown, type Parts } from './parts.js'

interface PaperHeaderProps extends Parts {
  /** The name of the project; empty until it is known. */
  readonly name: string
  /** The query about the whole period. */
  readonly totals: Query | undefined
}

/** Says which project, period and filters the numbers are about, and of when they are. It is not on the screen. */
export function PaperHeader({ name, totals, ...parts }: PaperHeaderProps) {
  const { state, ownZone, site } = parts
  const zone = state.zone ?? ownZone
  const shown = findShown(parts, totals)
  const filters = describeFilters(state)
  return (
    <div class="paper-header">
      <p class="name">{name === '' ? 'Tallyhouse' : name}</p>
      {site !== undefined && <p>{site}</p>}
      {shown.kind === 'ready' && <p>{describePeriods(state.period, shown.body, zone)}</p>}
      {filters !== '' && <p>Filters: {filters}</p>}
      {state.goal !== undefined && <p>Goal: {state.goal}</p>}
      {shown.kind === 'ready' && <p>As of {nameBucket(clockIn(zone, shown.at), 'minute')}</p>}
    </div>
  )
}
