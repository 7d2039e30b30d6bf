/** The question of the dialog with all rows of a tab. */
import type { MetricName, QueryBody, Question } from '../client/contract.js'
import type { Details, ExplorerState } from '../state/state.js'
import { findTab, NEW_AND_RETURNING, RETENTION, type Tab } from './panels.js'
import { buildComparison, buildScope } from './scope.js'

/** How many rows a page of the dialog has. */
export const DETAILS_ROWS = 50

/** The id of its question. */
export const DETAILS = 'details'

const METRICS: readonly MetricName[] = [
  'users',
  'new_users',
  'visits',
  'pageviews',
  'events',
  'bounce_rate',
  'visit_duration',
  'views_per_visit',
]

/** The metrics that rows of a grouping never have: they are null or 0 by the definition of the grouping. */
const MISSING: readonly (readonly [start: string, metrics: readonly MetricName[]])[] = [
  ['page:path', ['views_per_visit']],
  ['page:origin', ['views_per_visit']],
  ['event:name', ['visits', 'pageviews', 'bounce_rate', 'visit_duration', 'views_per_visit']],
  ['event:prop:', ['visits', 'bounce_rate', 'visit_duration', 'views_per_visit']],
]

/** Lists the metrics that rows of a tab have: the columns of the dialog. */
export function listDetailsMetrics({ id }: Tab): readonly MetricName[] {
  const [, missing = []] = MISSING.find(([start]) => id.startsWith(start)) ?? []
  return METRICS.filter((metric) => !missing.includes(metric))
}

/** Finds the tab of a dialog. @returns undefined if it has no rows */
export function findDetailsTab(id: string): Tab | undefined {
  const tab = findTab(id)
  return tab?.id === NEW_AND_RETURNING || tab?.id === RETENTION ? undefined : tab
}

/** What orders the rows: what was chosen, or the metric of the tab if that is no column. */
export function getOrder(tab: Tab, { orderBy, direction }: Details): Order {
  const columns: readonly string[] = [tab.id, ...listDetailsMetrics(tab)]
  return columns.includes(orderBy)
    ? { orderBy, direction }
    : { orderBy: tab.metric, direction: 'desc' }
}

export type Order = Pick<Details, 'orderBy' | 'direction'>

/** Builds the question of the open dialog; none if it is closed. */
export function buildDetailsQuestions(state: ExplorerState): readonly Question[] {
  const { details } = state
  const tab = details && findDetailsTab(details.tab)
  if (details === undefined || tab === undefined) return []
  const { orderBy, direction } = getOrder(tab, details)
  return [
    {
      id: DETAILS,
      operation: 'query',
      body: {
        ...buildScope(state),
        metrics: [...listDetailsMetrics(tab)],
        group_by: [tab.id as NonNullable<QueryBody['group_by']>[number]],
        order_by: [[orderBy, direction]],
        limit: DETAILS_ROWS,
        offset: details.page * DETAILS_ROWS,
        ...buildComparison(state),
      },
    },
  ]
}
