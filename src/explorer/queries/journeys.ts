/** The query of the dialog with journeys. */
import type { Query } from '../client/contract.js'
import { toApiFilter, type FieldFilter } from '../state/filters.js'
import type { AskedState, ExplorerState } from '../state/state.js'
import { buildScope } from './scope.js'

/** The id of the query about journeys. */
export const JOURNEYS = 'journeys'

/** How many pages and events of each step have a row. */
const STEP_ROWS = 8

/** Builds the query of the open journeys. Filters on pages keep whole visits, so that all their steps are seen. */
export function buildJourneysQueries(state: AskedState): readonly Query[] {
  const { journeys } = state
  if (journeys === undefined) return []
  const { anchor, direction, steps } = journeys
  return [
    {
      id: JOURNEYS,
      operation: 'journeys',
      body: {
        ...buildScope(state, 'whole_visits'),
        [direction]: { filters: [toApiFilter(anchor)] },
        ...(steps === 'all' ? { kinds: ['page', 'event'] } : {}),
        limit: STEP_ROWS,
      },
    },
  ]
}

/** The tabs whose rows journeys can start at, and the fields of these rows as steps. */
const STEP_FIELDS: Readonly<Record<string, 'page:path' | 'event:name'>> = {
  'page:path': 'page:path',
  'page:entry': 'page:path',
  'page:exit': 'page:path',
  'event:name': 'event:name',
}

/**
 * Finds what journeys start at when they are opened from a tab: what the page is filtered by, or else the first row.
 *
 * @param tab the id of the tab
 * @returns undefined for tabs that have neither pages nor events
 */
export function findAnchor(
  tab: string,
  { filters }: Pick<ExplorerState, 'filters'>,
  firstRow: string,
): FieldFilter | undefined {
  const field = STEP_FIELDS[tab]
  if (field === undefined) return undefined
  const filtered = filters.find((one) => one.field === field && one.operator === 'is')
  return filtered ?? { field, operator: 'is', values: [firstRow] }
}
