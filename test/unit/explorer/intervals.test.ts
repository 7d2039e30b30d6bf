/** The intervals that the chart offers for a period. */
import { describe, expect, test } from '@jest/globals'
import { chooseLineInterval, divide } from '../../../src/explorer/state/intervals.js'
import {
  DEFAULT_STATE,
  type ExplorerState,
  type ShownInterval,
} from '../../../src/explorer/state/state.js'

const NOW = new Date('2026-03-15T22:30:00Z')
const ALL_TIME = { from: '2025-11-03T00:00:00Z', to: '2026-03-15T22:30:00Z' }

const dates = (from: string, to = from) => ({ from, to })

/** A period, the intervals that divide it into 2 to 1,000 buckets, and those that do in a zone where it is the next day. */
const TABLE: readonly [ExplorerState['period'], ShownInterval[], inTokyo?: ShownInterval[]][] = [
  ['live', ['minute', '15minutes']],
  ['1hr', ['minute', '15minutes', 'hour']],
  // 15 March is a Sunday: in Tokyo a week has begun.
  ['24hrs', ['15minutes', 'hour', 'day'], ['15minutes', 'hour', 'day', 'week']],
  ['now', ['minute', '15minutes']],
  ['last_month', ['hour', 'day', 'week']],
  ['this_week', ['15minutes', 'hour', 'day'], ['minute', '15minutes', 'hour']],
  ['today', ['15minutes', 'hour'], ['minute', '15minutes', 'hour']],
  ['yesterday', ['15minutes', 'hour']],
  ['7days', ['15minutes', 'hour', 'day'], ['15minutes', 'hour', 'day', 'week']],
  ['30days', ['hour', 'day', 'week', 'month']],
  ['90days', ['day', 'week', 'month']],
  ['mtd', ['hour', 'day', 'week']],
  ['ytd', ['day', 'week', 'month']],
  ['12months', ['day', 'week', 'month']],
  ['all', ['day', 'week', 'month']],
  [dates('2026-02-01', '2026-02-28'), ['hour', 'day', 'week']],
  [dates('2026-01-01', '2026-02-10'), ['hour', 'day', 'week', 'month']],
  [dates('2026-01-01', '2026-02-11'), ['day', 'week', 'month']],
  [dates('2020-01-01', '2022-09-26'), ['day', 'week', 'month']],
  [dates('2020-01-01', '2022-09-27'), ['week', 'month']],
  [dates('2026-02-28'), ['15minutes', 'hour']],
  [dates('2026-02-19', '2026-02-28'), ['15minutes', 'hour', 'day', 'week']],
  [dates('2026-02-18', '2026-02-28'), ['hour', 'day', 'week']],
  [dates('2026-02-28T10:00:00Z', '2026-02-28T10:59:59Z'), ['minute', '15minutes']],
  [
    dates('2026-02-28T14:30:00Z', '2026-02-28T15:29:59Z'),
    ['minute', '15minutes', 'hour'],
    ['minute', '15minutes', 'hour', 'day', 'month'],
  ],
  [dates('1900-01-01', '2026-02-28'), []],
]

describe.each(TABLE)('%j', (period, intervals, inTokyo = intervals) => {
  test.each([
    ['UTC', intervals],
    ['Asia/Tokyo', inTokyo],
  ])('in %s', (zone, want) => {
    const { options } = divide({ ...DEFAULT_STATE, period }, zone, NOW, ALL_TIME)
    expect(options).toEqual(['auto', ...want])
  })
})

test('for all time each interval fits until its start is known', () => {
  const state: ExplorerState = { ...DEFAULT_STATE, period: 'all', interval: 'hour' }
  const options = ['auto', 'hour', 'day', 'week', 'month']
  expect(divide(state, 'UTC', NOW, undefined)).toEqual({
    interval: 'hour',
    asked: 'hour',
    options,
    reason: undefined,
  })
})

test.each<[Partial<ExplorerState>, ShownInterval, string | undefined]>([
  [{ period: '30days', interval: 'hour' }, 'hour', undefined],
  [
    { period: '90days', interval: 'hour' },
    'auto',
    'By hour there would be 2,159 points, more than the 1,000 that the chart shows: the interval is automatic.',
  ],
  [
    { period: '30days', interval: '15minutes' },
    'auto',
    'By 15 minutes there would be 2,875 points, more than the 1,000 that the chart shows: the interval is automatic.',
  ],
  [
    { period: 'today', interval: 'day' },
    'auto',
    'By day there would be one point: the interval is automatic.',
  ],
])('%j is shown by %s, and the page says: %s', (members, interval, reason) => {
  expect(divide({ ...DEFAULT_STATE, ...members }, 'UTC', NOW, ALL_TIME)).toMatchObject({
    interval,
    reason,
  })
})

test.each([
  ['live', 'minute'],
  ['now', 'minute'],
  ['1hr', 'minute'],
  ['today', 'auto'],
  ['24hrs', 'auto'],
  [dates('2026-02-28T10:00:00Z', '2026-02-28T11:59:59Z'), 'minute'],
  [dates('2026-02-28T10:00:00Z', '2026-02-28T12:00:59Z'), 'auto'],
] as const)('the automatic interval of %j is asked for as %s', (period, asked) => {
  const state = { ...DEFAULT_STATE, period }
  expect(divide(state, 'UTC', NOW, ALL_TIME)).toMatchObject({ interval: 'auto', asked })
})

test.each<[ExplorerState['period'], ReturnType<typeof chooseLineInterval>]>([
  ['live', undefined],
  ['today', undefined],
  ['yesterday', undefined],
  ['24hrs', 'day'],
  ['7days', 'day'],
  ['90days', 'day'],
  [dates('2026-01-01', '2026-04-10'), 'day'],
  [dates('2026-01-01', '2026-04-11'), 'week'],
  ['12months', 'week'],
  [dates('2020-01-01', '2026-01-01'), 'month'],
  ['all', 'month'],
])('the line of %j is by %j', (period, interval) => {
  expect(chooseLineInterval(period, 'UTC', NOW)).toBe(interval)
})
