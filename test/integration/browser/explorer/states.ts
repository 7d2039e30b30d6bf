/** Random states of the page of the known project: periods, comparisons, zones, filters, goals, tabs and dialogs. */
import fc from 'fast-check'
import type { FieldFilter } from '../../../../src/explorer/state/filters.js'
import { listDetailsMetrics, findDetailsTab } from '../../../../src/explorer/queries/details.js'
import { PANELS } from '../../../../src/explorer/queries/panels.js'
import {
  COMPARISONS,
  DEFAULT_STATE,
  DETAILS_VIEWS,
  JOURNEY_DIRECTIONS,
  JOURNEY_STEPS,
  listCardMetrics,
  type ExplorerState,
} from '../../../../src/explorer/state/state.js'

const filter = (
  field: string,
  values: readonly string[],
  operators: readonly FieldFilter['operator'][] = ['is', 'is_not'],
): fc.Arbitrary<FieldFilter> =>
  fc.record({
    field: fc.constant(field),
    operator: fc.constantFrom(...operators),
    values: fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 }),
  })

const TEXT = ['is', 'is_not', 'contains', 'contains_not'] as const

const filters = fc.uniqueArray(
  fc.oneof(
    filter('country', ['DE', 'FR', 'US', '']),
    filter('page:path', ['/', '/pricing', '/a', 'DOC'], TEXT),
    filter('event:name', ['signup'], TEXT),
    filter('event:prop:plan', ['pro', 'free'], TEXT),
    filter('weekday', ['1', '3', '6', '7']),
    filter('hour', ['00', '06', '11', '15', '23']),
    filter('segment', ['french-phones', 'firefox']),
  ),
  { maxLength: 3, selector: ({ field, operator }) => `${field} ${operator}` },
)

/** Steps of funnels, and what journeys start at. */
const step = fc.oneof(
  filter('page:path', ['/', '/pricing', '/a', 'DOC'], TEXT),
  filter('event:name', ['signup'], TEXT),
  filter('event:prop:plan', ['pro', 'free'], TEXT),
)
const funnel = fc.record({
  within: fc.constantFrom('visit' as const, 1, 30),
  steps: fc.array(step, { minLength: 2, maxLength: 4 }),
})
const journeys = fc.record({
  anchor: step,
  direction: fc.constantFrom(...JOURNEY_DIRECTIONS),
  steps: fc.constantFrom(...JOURNEY_STEPS),
})

const TABS = PANELS.flatMap((panel) => panel.tabs.map(({ id }) => [panel.id, id] as const))

/** Of periods that are over, so that the numbers do not change. */
const period = fc.constantFrom(
  { from: '2026-02-01', to: '2026-02-28' },
  { from: '2026-02-10', to: '2026-02-14' },
  { from: '2026-02-27', to: '2026-02-27' },
  { from: '2025-12-01', to: '2026-02-28' },
)

export const explorerStates: fc.Arbitrary<ExplorerState> = fc
  .record({
    period,
    comparison: fc.constantFrom(...COMPARISONS),
    zone: fc.constantFrom(undefined, 'America/New_York', 'Asia/Kolkata'),
    filters,
    join: fc.constantFrom('and' as const, 'or' as const),
    goal: fc.constantFrom(undefined, 'pro', 'pricing'),
    tabs: fc
      .array(fc.constantFrom(...TABS), { maxLength: 4 })
      .map((tabs) => Object.fromEntries(tabs) as Readonly<Record<string, string>>),
    cohort: fc.constantFrom('day' as const, 'week' as const),
  })
  .chain((members) => {
    const state = { ...DEFAULT_STATE, ...members }
    const details = fc
      .record({
        tab: fc.constantFrom(...TABS.map(([, tab]) => tab), 'event:prop:plan'),
        view: fc.constantFrom(...DETAILS_VIEWS),
        search: fc.constant(''),
        column: fc.nat(),
        direction: fc.constantFrom('asc' as const, 'desc' as const),
        page: fc.constant(0),
      })
      .map(({ column, ...others }) => {
        const tab = findDetailsTab(others.tab)
        const metrics = tab === undefined ? [] : listDetailsMetrics(tab, state)
        return tab && { ...others, orderBy: metrics[column % metrics.length] ?? tab.id }
      })
    return fc
      .tuple(
        fc.record({ metric: fc.constantFrom(...listCardMetrics(state)) }),
        // One dialog at most is open.
        fc.oneof(
          fc.constant({}),
          fc.record({ details }),
          fc.record({ funnel }),
          fc.record({ journeys }),
        ),
      )
      .map(([chosen, dialog]) => ({ ...state, ...chosen, ...dialog }))
  })
