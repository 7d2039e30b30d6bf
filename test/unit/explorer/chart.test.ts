/** Scales and places of the chart, and the period that a point stands for. */
import { expect, test } from '@jest/globals'
import {
  buildScale,
  drawArea,
  drawLine,
  findNearest,
  place,
  type Box,
} from '../../../src/explorer/chart/layout.js'
import { chooseTicks, listWeekends } from '../../../src/explorer/chart/ticks.js'
import {
  describeLeftOut,
  listPartial,
  readSeries,
  zoomInto,
} from '../../../src/explorer/chart/series.js'
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

/** The starts of `count` buckets from one on. */
const listLabels = (
  from: string,
  count: number,
  size: '15minutes' | 'hour' | 'day' | 'week' | 'month',
) =>
  Array.from({ length: count }, (_, i) => {
    const date = new Date(from)
    if (size === 'month') date.setUTCMonth(date.getUTCMonth() + i)
    else
      date.setTime(
        date.getTime() + i * { '15minutes': 0.25, hour: 1, day: 24, week: 168 }[size] * 3_600_000,
      )
    return date.toISOString()
  })

test.each([
  ['2026-03-01T00:00:00Z', 5, 'day', 10, ['03-01', '03-02', '03-03', '03-04', '03-05']],
  // Mondays, every other Monday, and firsts of months.
  ['2026-03-01T00:00:00Z', 30, 'day', 10, ['03-02', '03-09', '03-16', '03-23', '03-30']],
  ['2026-03-01T00:00:00Z', 30, 'day', 3, ['03-09', '03-23']],
  ['2026-01-15T00:00:00Z', 90, 'day', 5, ['02-01', '03-01', '04-01']],
  ['2026-03-01T22:00:00Z', 96, '15minutes', 4, ['03-02T00', '03-02T06', '03-02T12', '03-02T18']],
  ['2026-03-01T05:00:00Z', 48, 'hour', 5, ['03-01T12', '03-02T00', '03-02T12', '03-03T00']],
  ['2026-03-01T05:00:00Z', 72, 'hour', 4, ['03-02T00', '03-03T00', '03-04T00']],
  ['2025-12-29T00:00:00Z', 12, 'week', 4, ['01-05', '02-02', '03-02']],
  ['2024-11-01T00:00:00Z', 24, 'month', 3, ['01-01', '01-01']],
  ['2026-03-01T00:00:00Z', 3, 'day', 0.4, ['03-02']],
] as const)(
  'from %s, of %d buckets of one %s with room for %d the axis names %j',
  (from, count, size, room, want) => {
    const labels = listLabels(from, count, size)
    const named = chooseTicks(labels, size, room).map((i) => labels[i]!)
    expect(named.map((label, i) => label.slice(5, 5 + want[i]!.length))).toEqual(want)
  },
)

test.each([
  [
    '2026-03-01T00:00:00Z',
    9,
    'day',
    [
      [0, 0],
      [6, 7],
    ],
  ],
  ['2026-03-06T22:00:00Z', 60, 'hour', [[2, 49]]],
  ['2026-03-06T22:00:00Z', 300, '15minutes', [[8, 199]]],
  ['2026-03-02T00:00:00Z', 3, 'week', []],
] as const)('from %s, of %d buckets of one %s the weekends are %j', (from, count, size, want) => {
  expect(listWeekends(listLabels(from, count, size), size)).toEqual(want)
})

const DAYS = ['2026-03-28T00:00:00+01:00', '2026-03-29T00:00:00+01:00', '2026-03-30T00:00:00+02:00']
const HOURS = ['2026-03-29T01:00:00+01:00', '2026-03-29T03:00:00+02:00']

test.each([
  [DAYS, 1, 'day', { from: '2026-03-29', to: '2026-03-29' }],
  [DAYS, 2, 'day', { from: '2026-03-30', to: '2026-03-30' }],
  [DAYS, 3, 'day', undefined],
  [HOURS, 0, 'hour', { from: '2026-03-29T00:00:00Z', to: '2026-03-29T00:59:59Z' }],
  [HOURS, 1, '15minutes', { from: '2026-03-29T01:00:00Z', to: '2026-03-29T01:14:59Z' }],
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
  expect(zoomInto(labels, size, index)).toEqual(period)
})

test.each([
  [DAYS, 0, 1, 'day', { from: '2026-03-28', to: '2026-03-29' }],
  [DAYS, 0, 2, 'day', { from: '2026-03-28', to: '2026-03-30' }],
  [HOURS, 0, 1, 'hour', { from: '2026-03-29T00:00:00Z', to: '2026-03-29T01:59:59Z' }],
  [
    ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'],
    0,
    1,
    'month',
    { from: '2026-01-01', to: '2026-02-28' },
  ],
] as const)(
  'of %j the points %d to %d by %s are the period %j',
  (labels, first, last, size, period) => {
    expect(zoomInto(labels, size, first, last)).toEqual(period)
  },
)

const AFTER = { endsNow: false, now: new Date('2027-01-01T00:00:00Z'), zone: 'Europe/Berlin' }

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
  ['day', '2026-03-28T23:00:00Z', ['2026-03-29', '2026-03-30', '2026-03-31']],
  ['day', '2026-02-26T23:00:00Z', ['2026-02-27', '2026-02-28', '2026-03-01']],
  ['month', '2025-11-29T23:00:00Z', ['2025-11-01', '2025-12-01', '2026-01-01']],
  ['hour', '2026-03-28T23:00:00Z', [undefined, undefined, undefined]],
  ['week', '2026-03-28T23:00:00Z', [undefined, undefined, undefined]],
] as const)('buckets of one %s are compared with those from %s', (interval, from, want) => {
  const { points } = readSeries(response(interval, from), AFTER)
  expect(points.map(({ comparedLabel }) => comparedLabel?.slice(0, 10))).toEqual(want)
})

test.each([
  // From Wednesday to Tuesday, and from Sunday to Tuesday.
  ['week', '2026-03-29T00:00:00+01:00', [undefined, 100, 100], [true, false, true]],
  ['week', '2026-01-07T00:00:00+01:00', [100, 100, 100], [true, false, true]],
  ['month', '2026-01-01T00:00:00+01:00', [100, 100, 100], [false, false, false]],
  ['month', '2026-01-03T00:00:00+01:00', [undefined, 100, 100], [false, false, false]],
  ['day', '2026-03-29T00:00:00+01:00', [100, 100, 100], [false, false, false]],
] as const)(
  'of three buckets of one %s, compared with those from %s, the changes are %j',
  (interval, from, changes, parts) => {
    const series = readSeries(response(interval, from), AFTER)
    expect(series.points.map(({ change }) => change)).toEqual(changes)
    expect(series.points.map((_, i) => listPartial(series).includes(i))).toEqual(parts)
  },
)

test('what has not begun has no value, unless it has events already', () => {
  const read = (now: string, users = [1, 2, 3]) => {
    const given = response('day', '2026-03-01T00:00:00+01:00')
    const data = given.data.map((row, i) => ({ ...row, metrics: { users: users[i]! } }))
    const series = readSeries({ ...given, data }, { ...AFTER, now: new Date(now) })
    return [series.points.map(({ value }) => value), series.running, series.total]
  }
  expect(read('2026-04-01T10:00:00Z', [1, 0, 0])).toEqual([[1, undefined, undefined], 0, 3])
  expect(read('2026-04-01T10:00:00Z', [1, 0, 3])).toEqual([[1, undefined, 3], 0, 3])
  expect(read('2026-07-01T10:00:00Z', [1, 0, 0])).toEqual([[1, 0, 0], undefined, 3])
})

test('today reaches to its end, whose hours have no value yet', () => {
  const given = response('hour', '2026-03-28T23:00:00Z')
  // The clock of Berlin is set forward at two.
  const data = ['00:00:00+01:00', '01:00:00+01:00'].map((time) => ({
    group: { date: `2026-03-29T${time}` },
    metrics: { users: 1 },
  }))
  const { points, running } = readSeries(
    { ...given, data, pagination: { ...given.pagination, total: 2 } },
    { ...AFTER, endsNow: true, now: new Date('2026-03-29T00:30:00Z'), fillsDay: true },
  )
  expect([points.length, running]).toEqual([23, 1])
  expect(points.slice(2).map(({ value }) => value)).toEqual(Array(21).fill(undefined))
  expect([points[2]!.label, points.at(-1)!.label]).toEqual([
    '2026-03-29T03:00:00+02:00',
    '2026-03-29T23:00:00+02:00',
  ])
})

test('a response without room for all buckets is said to have none for them', () => {
  const whole = response('day', '2026-03-01T00:00:00+01:00')
  const part = { ...whole, pagination: { ...whole.pagination, total: 1514 } }
  const [all, some] = [whole, part].map((one) => readSeries(one, { ...AFTER, endsNow: true }))
  expect([all!.running, describeLeftOut(all!)]).toEqual([2, undefined])
  expect([some!.running, describeLeftOut(some!)]).toEqual([
    undefined,
    'Only the first 3 of 1,514 points are shown. A shorter period has fewer.',
  ])
})
