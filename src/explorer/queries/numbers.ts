/** The query about the numbers of an event property: what they are as a whole. */
import { PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import type { Query, QueryBody } from '../client/contract.js'
import type { AskedState } from '../state/state.js'
import { getOpenTab, PANELS } from './panels.js'
import { buildComparison, buildTabScope } from './scope.js'

/** The id of the query. */
export const NUMBERS = 'numbers'

/** The metrics over numbers that the page shows: what they are called, and what they are. */
export const MEASURES = [
  ['sum', 'Sum', 'All numbers together.'],
  ['avg', 'Mean', 'Their sum divided by their count.'],
  ['median', 'Median', 'The number that at least half of them do not exceed.'],
  ['p75', 'p75', 'The number that at least 75 per cent of them do not exceed.'],
  ['p95', 'p95', 'The number that at least 95 per cent of them do not exceed.'],
] as const

/** Builds the query about the property whose tab is open; none for other tabs. */
export function buildNumbersQuery(state: AskedState): readonly Query[] {
  const property = PANELS.map((panel) => getOpenTab(panel, state.tabs).id).find((id) =>
    id.startsWith(PROPERTY_PREFIX),
  )
  if (property === undefined) return []
  const of = property as `event:prop:${string}`
  const metrics: NonNullable<QueryBody['metrics']> = MEASURES.map(([metric]) => ({
    metric,
    of,
    as: metric,
  }))
  return [
    {
      id: NUMBERS,
      operation: 'query',
      body: { ...buildTabScope(property, state), metrics, ...buildComparison(state) },
    },
  ]
}
