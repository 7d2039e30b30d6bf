/** The query about the numbers of a property: only while its tab is open, of the events that the filters leave. */
import { expect, test } from '@jest/globals'
import { buildQueries } from '../../../src/explorer/queries/build-queries.js'
import { NUMBERS } from '../../../src/explorer/queries/numbers.js'
import { DEFAULT_STATE, type AskedState } from '../../../src/explorer/state/state.js'

const PERIOD = { from: '2026-02-01', to: '2026-02-28' }
const STATE: AskedState = { ...DEFAULT_STATE, period: PERIOD, interval: 'day' }

const findBody = (state: AskedState) => buildQueries(state).find(({ id }) => id === NUMBERS)?.body

test.each([
  ['no property', {}],
  ['events', { events: 'event:name' }],
])('%s: none', (_tab, tabs) => {
  expect(findBody({ ...STATE, tabs })).toBeUndefined()
})

test('a property, filtered by an event', () => {
  const of = 'event:prop:amount'
  const filters = [{ field: 'event:name', operator: 'is', values: ['purchase'] }] as const
  expect(findBody({ ...STATE, tabs: { events: of }, filters })).toEqual({
    date_range: ['2026-02-01', '2026-02-28'],
    compare: 'previous_period',
    filters: [{ field: 'event:name', operator: 'is', value: ['purchase'] }],
    metrics: ['sum', 'avg', 'median', 'p75', 'p95'].map((metric) => ({ metric, of, as: metric })),
  })
})
