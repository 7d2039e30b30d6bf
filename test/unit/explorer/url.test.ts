import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { FILTER_OPERATORS } from '../../../src/explorer/state/filters.js'
import { addDays } from '../../../src/explorer/state/periods.js'
import {
  CARD_METRICS,
  COMPARISONS,
  DEFAULT_STATE,
  INTERVALS,
  PRESETS,
  type ExplorerState,
} from '../../../src/explorer/state/state.js'
import { formatState, parseState } from '../../../src/explorer/state/url.js'

const text = fc.string({ unit: 'grapheme', maxLength: 20 })

const range = fc.tuple(fc.nat(20_000), fc.nat(400)).map(([start, days]) => ({
  from: addDays('1990-01-01', start),
  to: addDays('1990-01-01', start + days),
}))

const field = fc.oneof(
  fc.constantFrom('country', 'page:path', 'utm_term', 'event:name', 'device_type'),
  text.map((name) => `event:prop:${name}`),
)

/** Any state that people can get to. */
const state: fc.Arbitrary<ExplorerState> = fc.record(
  {
    period: fc.oneof(fc.constantFrom(...PRESETS), range),
    zone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York'),
    comparison: fc.constantFrom(...COMPARISONS),
    interval: fc.constantFrom(...INTERVALS),
    metric: fc.constantFrom(...CARD_METRICS),
    filters: fc.array(
      fc.record({
        field,
        operator: fc.constantFrom(...FILTER_OPERATORS),
        values: fc.array(text, { minLength: 1, maxLength: 3 }),
      }),
      { maxLength: 10 },
    ),
    join: fc.constantFrom('and', 'or'),
    tabs: fc.dictionary(fc.constantFrom('pages', 'events', 'sources'), text),
    details: fc.record({
      tab: field,
      search: text,
      orderBy: text,
      direction: fc.constantFrom('asc', 'desc'),
      page: fc.nat(1_000_000),
    }),
  },
  {
    requiredKeys: ['period', 'zone', 'comparison', 'interval', 'metric', 'filters', 'join', 'tabs'],
  },
)

test('every state is read from its address again', () => {
  fc.assert(
    fc.property(state, (given) => {
      expect(parseState(formatState(given))).toEqual(given)
    }),
  )
})

test('the default needs no query string', () => {
  expect([formatState(DEFAULT_STATE), parseState('')]).toEqual(['', DEFAULT_STATE])
})

test('any query string is a state', () => {
  const names = ['period', 'zone', 'compare', 'metric', 'filters', 'join', 'tabs', 'details']
  const value = fc.oneof(text, fc.json())
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), value), (params) => {
      const given = parseState(new URLSearchParams(params).toString())
      expect(parseState(formatState(given))).toEqual(given)
    }),
  )
})
