/** The questions whose answers the page shows in a state: one batch. */
import { MAX_BUCKETS } from '../state/intervals.js'
import { CARD_METRICS, type ExplorerState } from '../state/state.js'
import { getOpenTab, NEW_AND_RETURNING, PANELS, RETENTION, type Tab } from './panels.js'
import { buildDetailsQuestions } from './details.js'
import { selectsEvents, type KnownValues } from './filters.js'
import { buildComparison, buildScope, buildScopeInUtc, buildTabScope, groupBy } from './scope.js'
import type { Question } from '../client/contract.js'

/** The id of the question which properties events have: each gets a tab. */
export const PROPERTIES = 'properties'

/** How many rows a panel has. */
const PANEL_ROWS = 8

/**
 * Builds the questions of a state: the cards, the chart, who is there now, one for each panel, and those of the open dialog.
 * They are answered in about this order: what is at the top of the page comes first.
 *
 * @param known the values that the dialog can search, once they have been answered
 */
export function buildQuestions(state: ExplorerState, known?: KnownValues): readonly Question[] {
  return [
    {
      id: 'cards',
      operation: 'query',
      body: { ...buildScope(state), metrics: [...CARD_METRICS], ...buildComparison(state) },
    },
    buildChartQuestion(state),
    { id: 'now', operation: 'query', body: { date_range: 'live', metrics: ['users'] } },
    ...PANELS.map((panel) => buildPanelQuestion(panel.id, getOpenTab(panel, state.tabs), state)),
    buildPropertiesQuestion(state),
    ...buildDetailsQuestions(state, known),
  ]
}

const buildChartQuestion = (state: ExplorerState): Question => ({
  id: 'chart',
  operation: 'query',
  body: {
    ...buildScope(state),
    // Named also if it is UTC, so that the answer says how long its buckets are.
    time_zone: state.zone,
    metrics: [state.metric],
    group_by: [`interval:${state.interval}`],
    ...buildComparison(state),
    limit: MAX_BUCKETS,
  },
})

/** Asks for the properties of all events; with a filter on events, of those events alone. Other filters do not hide a tab. */
const buildPropertiesQuestion = (state: ExplorerState): Question => ({
  id: PROPERTIES,
  operation: 'values',
  body: {
    field: 'event:prop',
    ...buildScopeInUtc(
      state.filters.some(selectsEvents) ? state : { ...state, filters: [] },
      'events',
    ),
    limit: 12,
  },
})

function buildPanelQuestion(id: string, { id: tab, metric }: Tab, state: ExplorerState): Question {
  if (tab === RETENTION) {
    return { id, operation: 'retention', body: { interval: 'week', ...buildScopeInUtc(state) } }
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
      metrics: metric === 'events' ? ['events', 'users'] : ['users'],
      group_by: groupBy(tab),
      limit: PANEL_ROWS,
      include: { totals: true },
    },
  }
}
