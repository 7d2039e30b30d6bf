/** Retention: how far back a project's plan allows a period to start. */
import { describe, expect, test } from '@jest/globals'
import { checkRetention } from '../../../../src/analytics/request/allowed-period.js'
import { ApiError } from '../../../../src/contract/errors.js'

const NOW = new Date('2026-03-31T10:20:30Z')
const check = (start: string, days: number | null): void => {
  checkRetention({ start: new Date(start), end: NOW }, days, NOW)
}

describe('checkRetention', () => {
  test.each([
    ['2025-12-31T00:00:00Z', 90],
    ['2026-03-31T00:00:00Z', 0],
    ['0001-01-01T00:00:00Z', null],
    ['2030-01-01T00:00:00Z', 90],
  ])('a period from %s is within %p days', (start, days) => {
    expect(() => check(start, days)).not.toThrow()
  })

  test.each([
    ['2025-12-30T23:59:59Z', 90, '2025-12-31'],
    ['2026-03-30T23:59:59Z', 0, '2026-03-31'],
  ])('a period from %s is not within %p days', (start, days, earliest) => {
    const message = `Queries of this project may start on ${earliest} (UTC) at the earliest, and the date range starts before that. Choose a later start.`
    expect(() => check(start, days)).toThrow(new ApiError('PLAN_LIMIT_EXCEEDED', message))
  })

  test('the message names the period of the comparison', () => {
    const period = { start: new Date('2025-12-30'), end: NOW }
    expect(() => {
      checkRetention(period, 90, NOW, 'period of compare')
    }).toThrow('and the period of compare starts before that')
  })
})
