/** The queries of a page in a state: one batch. */
import { MAX_BUCKETS } from '../state/intervals.js'
import { listCardMetrics, listGoalMetrics, type AskedState } from '../state/state.js'
import { getOpenTab, NEW_AND_RETURNING, PANELS, RETENTION, type Tab } from './panels.js'
import { buildDetailsQueries } from './details.js'
import { buildFunnelQueries } from './funnel.js'
import { buildJourneysQueries } from './journeys.js'
import { buildNumbersQuery } from './numbers.js'
import { selectsEvents, type KnownValues } from './filters.js'
import { buildMetrics } from './metrics.js'
import {
  buildComparison,
  buildScope,
  buildScopeInUtc,
  buildTabScope,
  groupBy,
  isCompared,
} from './scope.js'
import type { Query, ShownMetric } from '../client/contract.js'

/** The id of the query which properties events have: each gets a tab. */
export const PROPERTIES = 'properties'

/** The query since when events are counted: all time begins then. */
export const SINCE: Query = {
  id: 'since',
  operation: 'query',
  body: { date_range: 'all', metrics: ['events'] },
}

/** The id of the query whether the goal has a value: by itself, since amounts in several currencies are refused. */
export const VALUE = 'value'

/** How many rows a panel has. */
const PANEL_ROWS = 10

/**
 * Builds the queries of a state: the cards, the chart, who is there now, one for each panel, and those of the open dialog.
 * They are answered in about this order: what is at the top of the page comes first.
 *
 * @param known the values that the dialog can search, once they have been answered
 * @param asksSince whether to ask since when events are counted, for a page that does not know its project
 * @param asksValue whether the goal may have a value
 */
export function buildQueries(
  state: AskedState,
  {
    known,
    asksSince = false,
    asksValue = true,
  }: {
    readonly known?: KnownValues | undefined
    readonly asksSince?: boolean
    readonly asksValue?: boolean
  } = {},
): readonly Query[] {
  return [
    ...(asksSince && isCompared(state) ? [SINCE] : []),
    buildTotalsQuery('cards', listCardMetrics(state), state),
    ...(asksValue && state.goal !== undefined ? [buildTotalsQuery(VALUE, ['value'], state)] : []),
    buildChartQuery(state),
    { id: 'now', operation: 'query', body: { date_range: 'live', metrics: ['users'] } },
    ...PANELS.map((panel) => buildPanelQuery(panel.id, getOpenTab(panel, state.tabs), state)),
    ...buildNumbersQuery(state),
    buildPropertiesQuery(state),
    ...buildDetailsQueries(state, known),
    ...buildFunnelQueries(state),
    ...buildJourneysQueries(state),
  ]
}

const buildTotalsQuery = (
  id: string,
  metrics: readonly ShownMetric[],
  state: AskedState,
): Query => ({
  id,
  operation: 'query',
  body: {
    ...buildScope(state),
    metrics: buildMetrics(metrics, state.goal),
    ...buildComparison(state),
  },
})

const buildChartQuery = (state: AskedState): Query => ({
  id: 'chart',
  operation: 'query',
  body: {
    ...buildScope(state),
    // Empty, so that the response says how long its buckets are.
    include: {},
    metrics: buildMetrics([state.metric], state.goal),
    group_by: [`interval:${state.interval}`],
    ...buildComparison(state),
    limit: MAX_BUCKETS,
  },
})

/** Asks for the properties of all events; with a filter on events, of those events alone. Other filters do not hide a tab. */
const buildPropertiesQuery = (state: AskedState): Query => ({
  id: PROPERTIES,
  operation: 'values',
  body: {
    field: 'event:prop',
    ...buildScope(state.filters.some(selectsEvents) ? state : { ...state, filters: [] }, 'events'),
    limit: 12,
  },
})

/** How many days are followed: more than fit beside each other are of little use, and there may be as many cohorts. */
const FOLLOWED_DAYS = 14

const buildCohorts = ({ cohort }: AskedState) =>
  cohort === 'day' ? { interval: cohort, intervals: FOLLOWED_DAYS } : { interval: cohort }

function buildPanelQuery(id: string, { id: tab, metric }: Tab, state: AskedState): Query {
  if (tab === RETENTION) {
    return {
      id,
      operation: 'retention',
      body: { ...buildCohorts(state), ...buildScopeInUtc(state) },
    }
  }
  if (tab === NEW_AND_RETURNING) {
    return {
      id,
      operation: 'query',
      body: { ...buildScope(state), metrics: ['users', 'new_users'], ...buildComparison(state) },
    }
  }
  return {
    id,
    operation: 'query',
    body: {
      ...buildTabScope(tab, state),
      metrics: buildMetrics(
        [
          ...(metric === 'events' ? (['events', 'users'] as const) : (['users'] as const)),
          ...listGoalMetrics(state),
        ],
        state.goal,
      ),
      group_by: groupBy(tab),
      limit: PANEL_ROWS,
      include: { totals: true },
      ...buildComparison(state),
    },
  }
}
