/** Periods: the half-open bounds of presets and ranges. */
import { describe, expect, test } from '@jest/globals'
import {
  formatMoment,
  getInclusiveEnd,
  resolvePeriod,
} from '../../../../src/analytics/request/period.js'
import type { DateRange } from '../../../../src/contract/api.js'

const NOW = '2026-03-31T10:20:30.999Z'
const HISTORY = '2025-12-24T18:00:00.123Z'

const resolve = (
  range: DateRange,
  now = NOW,
  history = HISTORY,
  zone?: string,
): [string, string] => {
  const period = resolvePeriod(range, new Date(history), new Date(now), zone)
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
    ['1year', '2025-04-01T00:00:00Z', '2026-03-31T10:20:30Z'],
    ['6months', '2025-10-01T00:00:00Z', '2026-03-31T10:20:30Z'],
    ['3months', '2026-01-01T00:00:00Z', '2026-03-31T10:20:30Z'],
    ['24hrs', '2026-03-30T11:00:00Z', '2026-03-31T10:20:30Z'],
    ['1hr', '2026-03-31T09:20:31Z', '2026-03-31T10:20:30Z'],
    ['live', '2026-03-31T10:15:31Z', '2026-03-31T10:20:30Z'],
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
    ['2026-01-31T00:00:00Z', '3months', '2025-11-01T00:00:00Z'],
    ['2026-01-01T00:00:00Z', '24hrs', '2025-12-31T01:00:00Z'],
    ['2026-01-01T00:59:59.999Z', '24hrs', '2025-12-31T01:00:00Z'],
    ['2026-01-01T00:00:00Z', 'live', '2025-12-31T23:55:01Z'],
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

describe('resolvePeriod in a time zone', () => {
  // There it is the 1st of April already, 00:05:30.
  const KATHMANDU = '2026-03-31T18:20:30.999Z'

  test.each<[DateRange, string, string]>([
    ['today', '2026-03-31T18:15:00Z', '2026-03-31T18:20:30Z'],
    ['yesterday', '2026-03-30T18:15:00Z', '2026-03-31T18:14:59Z'],
    ['7days', '2026-03-25T18:15:00Z', '2026-03-31T18:20:30Z'],
    ['mtd', '2026-03-31T18:15:00Z', '2026-03-31T18:20:30Z'],
    ['ytd', '2025-12-31T18:15:00Z', '2026-03-31T18:20:30Z'],
    ['3months', '2026-01-31T18:15:00Z', '2026-03-31T18:20:30Z'],
    ['12months', '2025-04-30T18:15:00Z', '2026-03-31T18:20:30Z'],
    ['24hrs', '2026-03-30T19:15:00Z', '2026-03-31T18:20:30Z'],
    ['1hr', '2026-03-31T17:20:31Z', '2026-03-31T18:20:30Z'],
    // The first event was on the 25th there.
    ['all', '2025-12-24T18:15:00Z', '2026-03-31T18:20:30Z'],
    [['2026-01-01', '2026-01-31'], '2025-12-31T18:15:00Z', '2026-01-31T18:14:59Z'],
    [['2026-01-01T00:00:00Z', '2026-01-31'], '2026-01-01T00:00:00Z', '2026-01-31T18:14:59Z'],
    [['2026-01-01', '2026-01-31T00:00:00Z'], '2025-12-31T18:15:00Z', '2026-01-31T00:00:00Z'],
  ])('%p in Kathmandu', (range, from, to) => {
    expect(resolve(range, KATHMANDU, '2025-12-24T18:20:00Z', 'Asia/Kathmandu')).toEqual([from, to])
  })

  test.each<[string, DateRange, string, string, string]>([
    [
      'Europe/Berlin',
      'today',
      '2026-03-29T10:00:00Z',
      '2026-03-28T23:00:00Z',
      '2026-03-29T10:00:00Z',
    ],
    [
      'Europe/Berlin',
      'yesterday',
      '2026-03-30T10:00:00Z',
      '2026-03-28T23:00:00Z',
      '2026-03-29T21:59:59Z',
    ],
    [
      'Europe/Berlin',
      '24hrs',
      '2026-03-29T10:30:00Z',
      '2026-03-28T11:00:00Z',
      '2026-03-29T10:30:00Z',
    ],
    [
      'America/Havana',
      'today',
      '2026-11-01T12:00:00Z',
      '2026-11-01T04:00:00Z',
      '2026-11-01T12:00:00Z',
    ],
    [
      'Africa/Cairo',
      'today',
      '2026-04-24T12:00:00Z',
      '2026-04-23T22:00:00Z',
      '2026-04-24T12:00:00Z',
    ],
    // It skipped the 30th.
    [
      'Pacific/Apia',
      'yesterday',
      '2011-12-31T00:00:00Z',
      '2011-12-29T10:00:00Z',
      '2011-12-30T09:59:59Z',
    ],
  ])('%s: %p at %s', (zone, range, now, from, to) => {
    expect(resolve(range, now, HISTORY, zone)).toEqual([from, to])
  })
})
