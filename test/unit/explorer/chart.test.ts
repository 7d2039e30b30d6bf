/** Scales and places of the chart, and the period that a point stands for. */
import { expect, test } from '@jest/globals'
import {
  buildScale,
  chooseTicks,
  drawArea,
  drawLine,
  findNearest,
  place,
  type Box,
} from '../../../src/explorer/chart/layout.js'
import { describeLeftOut, readSeries, zoomInto } from '../../../src/explorer/chart/series.js'
import type { QueryResponse } from '../../../src/explorer/client/contract.js'

test.each([
  [0, {}, [0]],
  [0, { isCount: true }, [0, 1]],
  [3, { isCount: true }, [0, 1, 2, 3]],
  [7, { isCount: true }, [0, 2, 4, 6, 8]],
  [2900, { isCount: true }, [0, 1000, 2000, 3000]],
  [41.2, {}, [0, 20, 40, 60]],
  [0.3, {}, [0, 0.1, 0.2, 0.3]],
  [125, { isDuration: true }, [0, 60, 120, 180]],
  [3000, { isDuration: true }, [0, 900, 1800, 2700, 3600]],
])('up to %d with %j there are the ticks %j', (highest, options, ticks) => {
  const scale = buildScale(highest, options)
  if (highest === 0 && !('isCount' in options)) expect(scale.max).toBeGreaterThan(0)
  else {
    expect(scale.ticks.map((tick) => Math.round(tick * 1e6) / 1e6)).toEqual(ticks)
    expect(scale.max).toBe(scale.ticks.at(-1))
  }
})

const BOX: Box = { left: 10, top: 20, width: 100, height: 50 }

test('places go from left to right, and a higher value lies higher', () => {
  expect(place([0, 10, undefined, 5], 10, { ...BOX, width: 90 })).toEqual([
    [10, 70],
    [40, 20],
    undefined,
    [100, 45],
  ])
  expect(place([10], 10, BOX)).toEqual([[60, 20]])
})

test('a line and its area break where a value is missing', () => {
  const places = [[0, 5], [10, 6], undefined, [30, 7]] as const
  expect(drawLine(places)).toBe('M0 5L10 6M30 7')
  expect(drawArea(places, BOX)).toBe('M0 5L10 6L10 70L0 70ZM30 7L30 70L30 70Z')
})

test.each([
  [0, 11, 0],
  [10, 11, 0],
  [14.9, 11, 0],
  [15.1, 11, 1],
  [500, 11, 10],
  [60, 1, 0],
])('at %d of %d values the nearest is %d', (x, count, nearest) => {
  expect(findNearest(x, count, BOX)).toBe(nearest)
})

test.each([
  [5, 10, [0, 1, 2, 3, 4]],
  [30, 10, [0, 3, 6, 9, 12, 15, 18, 21, 24, 27]],
  [31, 10, [0, 4, 8, 12, 16, 20, 24, 28]],
  [3, 0.4, [0]],
])('of %d labels with room for %d there are %j', (count, room, ticks) => {
  expect(chooseTicks(count, room)).toEqual(ticks)
})

const DAYS = ['2026-03-28T00:00:00+01:00', '2026-03-29T00:00:00+01:00', '2026-03-30T00:00:00+02:00']
const HOURS = ['2026-03-29T01:00:00+01:00', '2026-03-29T03:00:00+02:00']

test.each([
  [DAYS, 1, 'day', { from: '2026-03-29', to: '2026-03-29' }],
  [DAYS, 2, 'day', { from: '2026-03-30', to: '2026-03-30' }],
  [DAYS, 3, 'day', undefined],
  [HOURS, 0, 'hour', { from: '2026-03-29T00:00:00Z', to: '2026-03-29T00:59:59Z' }],
  [HOURS, 1, 'hour', { from: '2026-03-29T01:00:00Z', to: '2026-03-29T01:59:59Z' }],
  [
    ['2026-03-02T00:00:00Z', '2026-03-09T00:00:00Z'],
    0,
    'week',
    { from: '2026-03-02', to: '2026-03-08' },
  ],
  [
    ['2026-03-02T00:00:00Z', '2026-03-09T00:00:00Z'],
    1,
    'week',
    { from: '2026-03-09', to: '2026-03-15' },
  ],
  [
    ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'],
    1,
    'month',
    { from: '2026-02-01', to: '2026-02-28' },
  ],
  [['2026-10-01T00:00:00Z'], 0, 'quarter', { from: '2026-10-01', to: '2026-12-31' }],
  [['2026-01-01T00:00:00Z'], 0, 'year', { from: '2026-01-01', to: '2026-12-31' }],
] as const)('of %j the point %d by %s is the period %j', (labels, index, size, period) => {
  expect(zoomInto(labels, index, size)).toEqual(period)
})

const AFTER = new Date('2027-01-01T00:00:00Z')

/** A response of three buckets that are compared with others. @param from the start of the other period */
const response = (interval: 'hour' | 'day' | 'week' | 'month', from: string): QueryResponse => ({
  period: { from: '2026-04-01T00:00:00+02:00', to: '2026-06-30T23:59:59+02:00' },
  query: {
    date_range: '30days',
    metrics: ['users'],
    group_by: [`interval:${interval}`],
    order_by: [],
    limit: 1000,
    offset: 0,
    filters: [],
    filtersOperator: 'and',
    interval,
  },
  comparison: { period: { from, to: '2026-03-31T23:59:59+02:00' } },
  pagination: { limit: 1000, offset: 0, returned: 3, total: 3 },
  data: [1, 2, 3].map((users) => ({
    group: { date: `2026-04-0${users}T00:00:00+02:00` },
    metrics: { users },
    comparison: { metrics: { users: 1 }, change: { users: 100 } },
  })),
})

test.each([
  ['day', '2026-03-29T00:00:00+01:00', ['2026-03-29', '2026-03-30', '2026-03-31']],
  ['day', '2026-02-27T00:00:00+01:00', ['2026-02-27', '2026-02-28', '2026-03-01']],
  ['month', '2025-11-30T00:00:00+01:00', ['2025-11-01', '2025-12-01', '2026-01-01']],
  ['hour', '2026-03-29T00:00:00+01:00', [undefined, undefined, undefined]],
  ['week', '2026-03-29T00:00:00+01:00', [undefined, undefined, undefined]],
] as const)('buckets of one %s are compared with those from %s', (interval, from, want) => {
  const { points } = readSeries(response(interval, from), false, AFTER)
  expect(points.map(({ comparedLabel }) => comparedLabel?.slice(0, 10))).toEqual(want)
})

test('the last point is the bucket that runs, or a later one that has events', () => {
  const read = (now: string, users = [1, 2, 3]) => {
    const given = response('day', '2026-03-01T00:00:00+01:00')
    const data = given.data.map((row, i) => ({ ...row, metrics: { users: users[i]! } }))
    const { points, isRunning, total } = readSeries({ ...given, data }, false, new Date(now))
    return [points.map(({ value }) => value), isRunning, total]
  }
  expect(read('2026-04-01T10:00:00Z', [1, 0, 0])).toEqual([[1], true, 1])
  expect(read('2026-04-01T10:00:00Z', [1, 0, 3])).toEqual([[1, 0, 3], true, 3])
  expect(read('2026-07-01T10:00:00Z', [1, 0, 0])).toEqual([[1, 0, 0], false, 3])
})

test('a response without room for all buckets is said to have none for them', () => {
  const whole = response('day', '2026-03-01T00:00:00+01:00')
  const part = { ...whole, pagination: { ...whole.pagination, total: 1514 } }
  const [all, some] = [whole, part].map((one) => readSeries(one, true, AFTER))
  expect([all!.isRunning, describeLeftOut(all!)]).toEqual([true, undefined])
  expect([some!.isRunning, describeLeftOut(some!)]).toEqual([
    false,
    'Only the first 3 of 1,514 points are shown. A shorter period has fewer.',
  ])
})
