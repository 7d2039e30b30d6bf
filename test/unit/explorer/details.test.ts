import { expect, test } from '@jest/globals'
import { buildDetailsQuestions } from '../../../src/explorer/questions/details.js'
import { DEFAULT_STATE, type ExplorerState } from '../../../src/explorer/state/state.js'

const open = (
  details: Partial<NonNullable<ExplorerState['details']>>,
  state: Partial<ExplorerState> = {},
): ExplorerState => ({
  ...DEFAULT_STATE,
  comparison: 'off',
  ...state,
  details: { tab: 'os', search: '', orderBy: 'users', direction: 'desc', page: 0, ...details },
})

const SESSION_METRICS = [
  'users',
  'new_users',
  'visits',
  'pageviews',
  'events',
  'bounce_rate',
  'visit_duration',
  'views_per_visit',
]

test.each<[string, ExplorerState, object]>([
  [
    'all metrics of the first rows',
    open({ tab: 'page:entry' }),
    {
      date_range: '30days',
      metrics: SESSION_METRICS,
      group_by: ['page:entry'],
      order_by: [['users', 'desc']],
      limit: 50,
      offset: 0,
    },
  ],
  [
    'a later page in another order, with the scope of the page',
    open(
      { tab: 'page:path', orderBy: 'page:path', direction: 'asc', page: 3 },
      {
        zone: 'Europe/Berlin',
        comparison: 'weekdays',
        filters: [{ field: 'country', operator: 'is', values: ['DE'] }],
      },
    ),
    {
      date_range: '30days',
      filters: [{ type: 'location', country: { operator: 'oneOf', value: ['DE'] } }],
      time_zone: 'Europe/Berlin',
      metrics: SESSION_METRICS.slice(0, -1),
      group_by: ['page:path'],
      order_by: [['page:path', 'asc']],
      limit: 50,
      offset: 150,
      compare: 'previous_period',
      compare_align: 'weekday',
    },
  ],
  [
    'no metrics that the rows never have, nor an order by them',
    open({ tab: 'event:name', orderBy: 'bounce_rate', direction: 'asc' }),
    {
      date_range: '30days',
      metrics: ['users', 'new_users', 'events'],
      group_by: ['event:name'],
      order_by: [['events', 'desc']],
      limit: 50,
      offset: 0,
    },
  ],
  [
    'a property',
    open({ tab: 'event:prop:plan', orderBy: 'pageviews' }),
    {
      date_range: '30days',
      metrics: ['users', 'new_users', 'pageviews', 'events'],
      group_by: ['event:prop:plan'],
      order_by: [['pageviews', 'desc']],
      limit: 50,
      offset: 0,
    },
  ],
])('the dialog asks for %s', (_, state, body) => {
  expect(buildDetailsQuestions(state).at(-1)).toEqual({ id: 'details', operation: 'query', body })
})

test.each([
  ['closed', DEFAULT_STATE],
  ['without such a tab', open({ tab: 'nothing' })],
  ['of a view that has no rows', open({ tab: 'retention' })],
])('nothing is asked while the dialog is %s', (_, state) => {
  expect(buildDetailsQuestions(state)).toEqual([])
})
