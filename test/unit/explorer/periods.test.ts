/** How one steps from a period to the one before or after it. */
import { expect, test } from '@jest/globals'
import {
  countLastDays,
  dateIn,
  describePeriod,
  resolvePeriod,
  stepPeriod,
  toPreset,
} from '../../../src/explorer/state/periods.js'
import { buildScope } from '../../../src/explorer/queries/scope.js'
import { DEFAULT_STATE, type Range, type ShownPeriod } from '../../../src/explorer/state/state.js'

const TODAY = '2026-03-15'
const range = (from: string, to: string): Range => ({ from, to })

test.each<[ShownPeriod, before: Range | undefined, after: Range | undefined]>([
  ['today', range('2026-03-14', '2026-03-14'), undefined],
  ['yesterday', range('2026-03-13', '2026-03-13'), range('2026-03-15', '2026-03-15')],
  ['7days', range('2026-03-02', '2026-03-08'), undefined],
  ['30days', range('2026-01-15', '2026-02-13'), undefined],
  ['mtd', range('2026-02-01', '2026-02-28'), undefined],
  ['ytd', range('2025-01-01', '2025-12-31'), undefined],
  ['this_week', range('2026-03-02', '2026-03-08'), undefined],
  ['28days', range('2026-01-19', '2026-02-15'), undefined],
  ['last_week', range('2026-02-23', '2026-03-01'), range('2026-03-09', '2026-03-15')],
  ['last_month', range('2026-01-01', '2026-01-31'), range('2026-03-01', '2026-03-31')],
  ['last_quarter', range('2025-07-01', '2025-09-30'), range('2026-01-01', '2026-03-31')],
  ['last_year', range('2024-01-01', '2024-12-31'), range('2026-01-01', '2026-12-31')],
  ['now', undefined, undefined],
  ['12months', range('2024-04-01', '2025-03-31'), undefined],
  ['all', undefined, undefined],
  ['live', undefined, undefined],
  [
    range('2026-01-01', '2026-01-31'),
    range('2025-12-01', '2025-12-31'),
    range('2026-02-01', '2026-02-28'),
  ],
  [
    range('2024-02-01', '2024-02-29'),
    range('2024-01-01', '2024-01-31'),
    range('2024-03-01', '2024-03-31'),
  ],
  [
    range('2025-10-01', '2025-12-31'),
    range('2025-07-01', '2025-09-30'),
    range('2026-01-01', '2026-03-31'),
  ],
  [
    range('2026-01-05', '2026-01-11'),
    range('2025-12-29', '2026-01-04'),
    range('2026-01-12', '2026-01-18'),
  ],
  [
    range('2026-01-01T10:00:00Z', '2026-01-01T10:59:59Z'),
    range('2026-01-01T09:00:00Z', '2026-01-01T09:59:59Z'),
    range('2026-01-01T11:00:00Z', '2026-01-01T11:59:59Z'),
  ],
])('%j steps back to %j and on to %j', (period, before, after) => {
  expect([stepPeriod(period, -1, TODAY), stepPeriod(period, 1, TODAY)]).toEqual([before, after])
})

test.each([
  [range('2026-03-15', '2026-03-15'), 'today'],
  [range('2026-02-14', '2026-03-15'), '30days'],
  [range('2026-03-01', '2026-03-31'), 'mtd'],
  [range('2026-01-01', '2026-12-31'), 'ytd'],
  [range('2026-03-14', '2026-03-15'), range('2026-03-14', '2026-03-15')],
  [range('2026-03-14', '2026-03-14'), range('2026-03-14', '2026-03-14')],
  [range('2026-02-01', '2026-02-28'), range('2026-02-01', '2026-02-28')],
])('%j is the period %j if it is not over', (dates, want) => {
  expect(toPreset(dates, TODAY)).toEqual(want)
})

test.each<[ShownPeriod, number | undefined]>([
  [range('2026-02-10', '2026-03-15'), 34],
  [range('2026-03-15', '2026-03-15'), 1],
  [range('2026-02-10', '2026-03-14'), undefined],
  [range('2026-02-10', '2026-03-31'), undefined],
  [range('2026-02-10T00:00:00Z', '2026-03-15'), undefined],
  [range('2010-01-01', '2026-03-15'), undefined],
  ['30days', undefined],
])('%j has %s days up to today', (period, want) => {
  expect(countLastDays(period, TODAY)).toBe(want)
})

test.each([
  [34, { last: 34, unit: 'day' }],
  [undefined, ['2026-02-10', '2026-03-15']],
])('own dates whose last days are %s are asked for as %j', (lastDays, want) => {
  const state = { ...DEFAULT_STATE, period: range('2026-02-10', '2026-03-15'), lastDays }
  expect(buildScope(state)).toEqual({ date_range: want })
})

test.each([
  ['UTC', '2026-03-15T23:30:00Z', '2026-03-15'],
  ['Asia/Tokyo', '2026-03-15T23:30:00Z', '2026-03-16'],
  ['America/New_York', '2026-03-15T03:30:00Z', '2026-03-14'],
])('in %s it is at %s the %s', (zone, moment, date) => {
  expect(dateIn(zone, new Date(moment))).toBe(date)
})

test.each<[ShownPeriod, string]>([
  ['30days', 'Last 30 days'],
  [range('2026-01-01', '2026-01-31'), '1 Jan 2026 – 31 Jan 2026'],
  [range('2026-01-01', '2026-01-01'), '1 Jan 2026'],
  [range('2026-01-01T10:00:00Z', '2026-01-01T10:59:59Z'), '1 Jan 2026, 11:00 – 11:59'],
  [range('2026-01-01T22:30:00Z', '2026-01-01T23:29:59Z'), '1 Jan 2026, 23:30 – 2 Jan 2026, 00:29'],
])('%j is called %s', (period, name) => {
  expect(describePeriod(period, 'Europe/Berlin')).toBe(name)
})

test('the live period has thirty minutes, of which the last runs; others are asked about as they are', () => {
  const moment = new Date('2026-03-15T10:07:42.500Z')
  expect(resolvePeriod('now', moment)).toEqual(
    range('2026-03-15T09:38:00Z', '2026-03-15T10:07:42Z'),
  )
  expect(resolvePeriod('mtd', moment)).toBe('mtd')
})
