/** Periods: the half-open bounds of presets and ranges, and the bucket size that follows from them. */
import { describe, expect, test } from '@jest/globals'
import {
  formatMoment,
  chooseGranularity,
  getInclusiveEnd,
  resolvePeriod,
} from '../../../../src/analytics/request/period.js'
import type { DateRange } from '../../../../src/contract/api.js'

const NOW = '2026-03-31T10:20:30.999Z'
const HISTORY = '2025-12-24T18:00:00.123Z'

const resolve = (range: DateRange, now = NOW, history = HISTORY): [string, string] => {
  const period = resolvePeriod(range, new Date(history), new Date(now))
  return [formatMoment(period.start), formatMoment(getInclusiveEnd(period))]
}

describe('resolvePeriod', () => {
  test.each<[DateRange, string, string]>([
    ['today', '2026-03-31T00:00:00Z', '2026-03-31T10:20:30Z'],
    ['yesterday', '2026-03-30T00:00:00Z', '2026-03-30T23:59:59Z'],
    ['7days', '2026-03-25T00:00:00Z', '2026-03-31T10:20:30Z'],
    ['30days', '2026-03-02T00:00:00Z', '2026-03-31T10:20:30Z'],
    ['90days', '2026-01-01T00:00:00Z', '2026-03-31T10:20:30Z'],
    ['12months', '2025-04-01T00:00:00Z', '2026-03-31T10:20:30Z'],
    ['mtd', '2026-03-01T00:00:00Z', '2026-03-31T10:20:30Z'],
    ['ytd', '2026-01-01T00:00:00Z', '2026-03-31T10:20:30Z'],
    ['all', '2025-12-24T00:00:00Z', '2026-03-31T10:20:30Z'],
    [['2026-01-01', '2026-01-31'], '2026-01-01T00:00:00Z', '2026-01-31T23:59:59Z'],
    [
      ['2026-01-01T10:00:00Z', '2026-01-31T10:00:00Z'],
      '2026-01-01T10:00:00Z',
      '2026-01-31T10:00:00Z',
    ],
    [['2026-01-01', '2026-01-01T00:00:00Z'], '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
    [['2026-01-01T05:06:07Z', '2026-01-02'], '2026-01-01T05:06:07Z', '2026-01-02T23:59:59Z'],
    [['0001-01-01', '9999-12-31'], '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'],
  ])('%p', (range, from, to) => {
    expect(resolve(range)).toEqual([from, to])
  })

  test.each<[string, DateRange, string]>([
    ['2024-02-29T12:00:00Z', '12months', '2023-03-01T00:00:00Z'],
    ['2026-01-01T00:00:00Z', '7days', '2025-12-26T00:00:00Z'],
    ['2026-01-01T00:00:00Z', 'yesterday', '2025-12-31T00:00:00Z'],
    ['2024-03-01T00:00:00Z', 'yesterday', '2024-02-29T00:00:00Z'],
    ['2026-12-31T23:59:59.999Z', 'ytd', '2026-01-01T00:00:00Z'],
  ])('at %s %p starts %s', (now, range, from) => {
    expect(resolve(range, now)[0]).toBe(from)
  })

  test('a period is half-open: its end is the first second that is not in it', () => {
    const { end } = resolvePeriod(['2026-01-01', '2026-01-31'], new Date(0), new Date(0))
    expect(end).toEqual(new Date('2026-02-01T00:00:00Z'))
  })

  test('all starts today at the latest, even if the first event is in the future', () => {
    expect(resolve('all', '2026-03-31T10:00:00Z', '2026-04-01T10:00:00Z')).toEqual([
      '2026-03-31T00:00:00Z',
      '2026-03-31T10:00:00Z',
    ])
  })
})

describe('chooseGranularity', () => {
  test.each<[DateRange, string]>([
    ['today', 'hour'],
    ['yesterday', 'hour'],
    ['7days', 'day'],
    ['90days', 'day'],
    ['12months', 'month'],
    [['2026-01-01', '2026-01-02'], 'hour'],
    [['2026-01-01T00:00:00Z', '2026-01-03T00:00:00Z'], 'hour'],
    [['2026-01-01T00:00:00Z', '2026-01-03T00:00:01Z'], 'day'],
    [['2026-01-01', '2026-01-03'], 'day'],
    [['2026-01-01', '2026-04-02'], 'day'],
    [['2026-01-01', '2026-04-03'], 'week'],
    [['2026-01-01T00:00:00Z', '2026-04-03T00:00:00Z'], 'day'],
    [['2026-01-01', '2026-07-03'], 'week'],
    [['2026-01-01', '2026-07-04'], 'month'],
  ])('%p has buckets of one %s', (range, want) => {
    expect(chooseGranularity(resolvePeriod(range, new Date(HISTORY), new Date(NOW)))).toBe(want)
  })
})
