import { describe, expect, it } from '@jest/globals'
import {
  addDays,
  formatDuration,
  HOUR_MS,
  MINUTE_MS,
  startOfDay,
  startOfMonth,
  startOfSecond,
  startOfYear,
} from '../../../src/lib/time.js'

const at = (text: string): Date => new Date(text)

describe('the calendar', () => {
  it('starts seconds, days, months and years in UTC', () => {
    const moment = at('2026-03-31T23:59:59.999Z')
    expect(startOfSecond(moment)).toEqual(at('2026-03-31T23:59:59Z'))
    expect(startOfDay(moment)).toEqual(at('2026-03-31T00:00:00Z'))
    expect(startOfMonth(moment)).toEqual(at('2026-03-01T00:00:00Z'))
    expect(startOfYear(moment)).toEqual(at('2026-01-01T00:00:00Z'))
  })

  it('starts months before and after, over the turn of a year and from a longer month', () => {
    const moment = at('2026-01-31T12:00:00Z')
    expect(startOfMonth(moment, 1)).toEqual(at('2026-02-01T00:00:00Z'))
    expect(startOfMonth(moment, -11)).toEqual(at('2025-02-01T00:00:00Z'))
  })

  it('counts before 1970, and in the first century', () => {
    expect(startOfDay(at('1969-12-31T00:00:00.001Z'))).toEqual(at('1969-12-31T00:00:00Z'))
    expect(startOfMonth(at('0042-05-06T07:08:09Z'))).toEqual(at('0042-05-01T00:00:00Z'))
    expect(startOfYear(at('0042-05-06T07:08:09Z'))).toEqual(at('0042-01-01T00:00:00Z'))
  })

  it('adds days', () => {
    expect(addDays(at('2026-02-28T06:00:00Z'), 1)).toEqual(at('2026-03-01T06:00:00Z'))
    expect(addDays(at('2026-03-01T06:00:00Z'), -1)).toEqual(at('2026-02-28T06:00:00Z'))
  })
})

it.each([
  [0, '0 s'],
  [1, '1 s'],
  [2 * MINUTE_MS - 1, '120 s'],
  [2 * MINUTE_MS, '2 min'],
  [2 * MINUTE_MS + 1, '3 min'],
  [2 * HOUR_MS - 1, '120 min'],
  [2 * HOUR_MS, '2 h'],
])('a duration of %j ms is written as %j', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})
