/** What stands at the top of a printed page, where nobody can open the menus of the bar. */
import type { Query, QueryResponse } from '../client/contract.js'
import { describeFilter } from '../queries/filters.js'
import { nameBucket } from '../format/dates.js'
import { clockIn, describePeriod, nameMoments } from '../state/periods.js'
import type { ExplorerState } from '../state/state.js'
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
      {shown.kind === 'ready' && <p>{describePeriods(shown.body, state, zone)}</p>}
      {filters !== '' && <p>Filters: {filters}</p>}
      {state.goal !== undefined && <p>Goal: {state.goal}</p>}
      {shown.kind === 'ready' && <p>As of {nameBucket(clockIn(zone, shown.at), 'minute')}</p>}
    </div>
  )
}

/** Says in words which period numbers are of, and with which it is compared. */
export function describePeriods(
  { period, comparison }: Pick<QueryResponse, 'period' | 'comparison'>,
  state: ExplorerState,
  zone: string,
): string {
  const preset = typeof state.period === 'string' ? `${describePeriod(state.period, zone)}: ` : ''
  const compared =
    comparison === undefined ? '' : `, compared with ${nameMoments(comparison.period, zone)}`
  return `${preset}${nameMoments(period, zone)}, ${zone.replaceAll('_', ' ')}${compared}`
}

/** Lists the filters in words; empty if there are none. */
export const describeFilters = ({ filters, join, goal }: ExplorerState): string =>
  filters.map((filter) => describeFilter(filter, goal)).join(join === 'or' ? ' or ' : ' and ')
