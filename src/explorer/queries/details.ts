/** The queries of the dialog with all rows of a tab. */
import type { MetricName, Query, ShownMetric } from '../client/contract.js'
import { PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import { isTextField } from '../state/filters.js'
import {
  listGoalMetrics,
  type AskedState,
  type ChosenGoal,
  type Details,
  type DetailsView,
  type ExplorerState,
} from '../state/state.js'
import { buildTextSearch, buildValueSearch, type KnownValues } from './filters.js'
import { buildMetrics } from './metrics.js'
import { findTab, getOpenTab, NEW_AND_RETURNING, PANELS, RETENTION, type Tab } from './panels.js'
import { buildComparison, buildTabScope, groupBy, isCompared, narrow, type Scope } from './scope.js'

/** How many rows a page of the dialog has. */
const DETAILS_ROWS = 50

/** The id of the query about its rows. */
export const DETAILS = 'details'
/** The id of the query about the values that a search finds. */
export const DETAILS_VALUES = 'details-values'
/** How many values can be searched: as many as a response has. */
const MAX_SEARCHED = 1000

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
  [PROPERTY_PREFIX, ['visits', 'bounce_rate', 'visit_duration', 'views_per_visit']],
]

/** Lists the metrics that rows of a tab have: the columns of the dialog. */
export function listDetailsMetrics({ id }: Tab, chosen: ChosenGoal): readonly ShownMetric[] {
  const [, missing = []] = MISSING.find(([start]) => id.startsWith(start)) ?? []
  return [...METRICS.filter((metric) => !missing.includes(metric)), ...listGoalMetrics(chosen)]
}

/** Finds the tab of a dialog. @returns undefined if it has no rows */
export function findDetailsTab(id: string): Tab | undefined {
  const tab = findTab(id)
  return tab?.id === NEW_AND_RETURNING || tab?.id === RETENTION ? undefined : tab
}

export type Order = Pick<Details, 'orderBy' | 'direction'>

/** What orders the rows: what was chosen, or the metric of the tab if that is no column. */
export function getOrder(tab: Tab, { orderBy, direction }: Details, state: ChosenGoal): Order {
  const columns: readonly string[] = [tab.id, ...listDetailsMetrics(tab, state)]
  return columns.includes(orderBy)
    ? { orderBy, direction }
    : { orderBy: tab.metric, direction: 'desc' }
}

/** What the cells of a dialog are about: without a comparison, the period alone. */
export const getView = (state: ExplorerState, { view }: Details): DetailsView =>
  isCompared(state) ? view : 'value'

/**
 * Builds the queries of the open dialog; none if it is closed.
 *
 * Fields that the API compares as a whole are searched in two steps: their values are asked when the dialog opens, and a search
 * asks for the rows of those whose names have the text.
 *
 * @param known the values of the field, once they have been answered
 */
export function buildDetailsQueries(
  state: AskedState,
  known: KnownValues | undefined,
): readonly Query[] {
  const { details } = state
  const tab = details && findDetailsTab(details.tab)
  if (details === undefined || tab === undefined) return []
  const search = details.search.trim()
  const scope = buildTabScope(tab.id, state)
  const ask = (narrowed: Scope): Query => buildRowsQuery(tab, details, state, narrowed)
  if (isTextField(tab.id)) {
    return [ask(search === '' ? scope : narrow(scope, buildTextSearch(tab.id, search)))]
  }
  const values = buildValuesQuery(tab, scope)
  if (search === '') return [ask(scope), values]
  return known?.asked === JSON.stringify(values.body)
    ? [ask(narrow(scope, buildValueSearch(tab.id, search, known))), values]
    : [values]
}

function buildRowsQuery(tab: Tab, details: Details, state: AskedState, scope: Scope): Query {
  const { orderBy, direction } = getOrder(tab, details, state)
  const view = getView(state, details)
  const isOfMetric = view !== 'value' && orderBy !== tab.id
  return {
    id: DETAILS,
    operation: 'query',
    body: {
      ...scope,
      metrics: buildMetrics(listDetailsMetrics(tab, state), state.goal),
      group_by: groupBy(tab.id),
      order_by: [[isOfMetric ? `${view}:${orderBy}` : orderBy, direction]],
      limit: DETAILS_ROWS,
      offset: details.page * DETAILS_ROWS,
      ...buildComparison(state),
      ...(view === 'value' ? {} : { include: { lost: true } }),
    },
  }
}

/** Asks for the values of the scope: unlike the operation `values`, a query knows its time zone and its filters. */
const buildValuesQuery = (tab: Tab, scope: Scope): Query => ({
  id: DETAILS_VALUES,
  operation: 'query',
  body: { ...scope, metrics: ['pageviews'], group_by: groupBy(tab.id), limit: MAX_SEARCHED },
})

/** Builds the queries for all rows of the open tab of each panel, with all metrics. */
export const buildExports = (state: AskedState): readonly Query[] =>
  PANELS.flatMap((panel) => {
    const tab = findDetailsTab(getOpenTab(panel, state.tabs).id)
    return tab === undefined
      ? []
      : [
          {
            id: `${DETAILS}-${panel.id}`,
            operation: 'query',
            body: {
              ...buildTabScope(tab.id, state),
              metrics: buildMetrics(listDetailsMetrics(tab, state), state.goal),
              group_by: groupBy(tab.id),
              limit: 'all',
            },
          } as const,
        ]
  })
