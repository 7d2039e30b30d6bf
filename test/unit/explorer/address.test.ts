/** The state of the page in its address. */
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  CARD_METRICS,
  COMPARISONS,
  DEFAULT_STATE,
  INTERVALS,
  PRESETS,
  type ExplorerState,
} from '../../../src/explorer/state/state.js'
import { chooseGoal } from '../../../src/explorer/state/changes.js'
import { FILTER_OPERATORS } from '../../../src/explorer/state/filters.js'
import { formatState, parseState } from '../../../src/explorer/state/address.js'

const field = fc.constantFrom('country', 'page:path', 'utm_term', 'event:prop:a=b&c', 'referrer')
const date = fc
  .date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true })
  .map((moment) => moment.toISOString().slice(0, 10))

const state: fc.Arbitrary<ExplorerState> = fc.record({
  period: fc.oneof(
    fc.constantFrom('now', ...PRESETS),
    fc.tuple(date, date).map((pair) => {
      const [from, to] = pair.sort()
      return { from, to }
    }),
  ),
  zone: fc.constantFrom(undefined, 'UTC', 'Europe/Berlin', 'Asia/Tokyo'),
  comparison: fc.oneof(
    fc.constantFrom(...COMPARISONS),
    fc.constant({ from: '2026-01-01', to: '2026-01-31' }),
  ),
  interval: fc.constantFrom(...INTERVALS),
  metric: fc.constantFrom(...CARD_METRICS),
  goal: fc.constantFrom(undefined, 'purchase', 'sign-up.2'),
  filters: fc.array(
    fc.oneof(
      fc.record({
        field,
        operator: fc.constantFrom(...FILTER_OPERATORS),
        values: fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 3 }),
      }),
      fc.constantFrom(
        { field: 'weekday', operator: 'is' as const, values: ['6', '7'] },
        { field: 'hour', operator: 'is_not' as const, values: ['00', '23'] },
        { field: 'segment', operator: 'is' as const, values: ['mobile-de'] },
      ),
    ),
    { maxLength: 4 },
  ),
  join: fc.constantFrom('and', 'or'),
  cohort: fc.constantFrom('day', 'week', 'month'),
  tabs: fc.dictionary(fc.constantFrom('sources', 'pages'), field),
})

const details = fc.record({
  tab: field,
  search: fc.string({ unit: 'grapheme' }),
  view: fc.constantFrom('value', 'difference', 'change'),
  orderBy: fc.constantFrom('users', 'page:path'),
  direction: fc.constantFrom('asc' as const, 'desc' as const),
  page: fc.nat(100),
})

const step = fc.record({
  field: fc.constantFrom('page:path', 'event:name', 'country'),
  operator: fc.constantFrom('is' as const, 'is_not' as const),
  values: fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 2 }),
})
const dialogs = fc.record(
  {
    details,
    funnel: fc.record({
      within: fc.constantFrom('visit' as const, 7),
      steps: fc.array(step, { maxLength: 3 }),
    }),
    journeys: fc.record({
      anchor: step,
      direction: fc.constantFrom('from' as const, 'to' as const),
      steps: fc.constantFrom('pages' as const, 'all' as const),
    }),
  },
  { requiredKeys: [] },
)

test('a state that is written into an address is read out of it', () => {
  fc.assert(
    fc.property(state, dialogs, (given, opened) => {
      const whole = { ...given, ...opened }
      expect(parseState(formatState(whole))).toEqual(whole)
    }),
  )
})

test.each([
  ['?goal=purchase&metric=conversions', 'purchase', 'conversions'],
  ['?goal=purchase&metric=users', 'purchase', 'users'],
  ['?goal=purchase&metric=value', 'purchase', 'value'],
  ['?metric=conversions', undefined, 'users'],
  ['?goal=&metric=conversion_rate', undefined, 'users'],
  ['?goal=-x&metric=visits', undefined, 'visits'],
])('%s: the goal is %s, and the metric of the chart %s', (query, goal, metric) => {
  expect(parseState(query)).toEqual({ ...DEFAULT_STATE, goal, metric })
})

test('without a goal, its metrics leave the chart', () => {
  const chosen = chooseGoal('purchase')({ ...DEFAULT_STATE, metric: 'visits' })
  expect(chosen).toEqual({ ...DEFAULT_STATE, metric: 'visits', goal: 'purchase' })
  const shown = { ...chosen, metric: 'conversion_rate' } as const
  expect(chooseGoal('signup')(shown)).toEqual({ ...shown, goal: 'signup' })
  expect(chooseGoal(undefined)(shown)).toEqual(DEFAULT_STATE)
  // Another goal may have no value.
  expect(chooseGoal('signup')({ ...chosen, metric: 'value' }).metric).toBe('users')
})

test('the default state has the empty address', () => {
  expect(formatState(DEFAULT_STATE)).toBe('')
})

test.each([
  '?period=2026-02-31..2026-03-01',
  '?period=2026-03-02..2026-03-01',
  '?period=next',
  '?zone=Mars/Olympus',
  '?compare=&interval=century&metric=likes&join=xor',
  '?filters=[["password","is","x"]]',
  '?filters=[["country","is"]]',
  '?filters=[["country","is",1]]',
  '?filters=[["weekday","is","8"],["weekday","is"],["weekday","contains","1"]]',
  '?filters=[["hour","is","9"],["hour","is","24"],["segment","is",""],["segment","is","-"]]',
  '?filters={"a":1}',
  '?filters=[',
  '?tabs=7',
  '?details=[1]',
  '?details=["page:path","","users","up",0]',
  '?details=["page:path","","users","asc",-1]',
  '?journeys=["from","pages"]',
  '?journeys=["after","pages","page:path","is","/"]',
  '?journeys=["from","pages","password","is","x"]',
  '?unknown=1',
])('what is not understood is as by default: %s', (query) => {
  expect(parseState(query)).toEqual(DEFAULT_STATE)
})
