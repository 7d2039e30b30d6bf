/** The period that a query is compared with. */
import { describe, expect, test } from '@jest/globals'
import type { QueriedProject } from '../../../../src/analytics/operation.js'
import { resolveRequest } from '../../../../src/analytics/operations/query.js'
import { resolveComparison } from '../../../../src/analytics/request/comparison.js'
import { formatPeriod, resolvePeriod } from '../../../../src/analytics/request/period.js'
import { ApiError } from '../../../../src/contract/errors.js'
import type { AnalyticsQueryRequest, DateRange } from '../../../../src/contract/api.js'
import { fillDefaults } from '../../../support/world/world.js'

const NOW = '2026-03-31T10:20:30.999Z'

type Given = Pick<AnalyticsQueryRequest, 'compare' | 'compare_align' | 'time_zone'>

function resolve(date_range: DateRange, given: Given, now = NOW) {
  const request = fillDefaults({ date_range, ...given })
  const history = new Date('2026-03-01T12:00:00Z')
  const period = resolvePeriod(date_range, history, new Date(now), given.time_zone)
  const compared = resolveComparison(request, period)
  if (compared === undefined) return undefined
  const { from, to } = formatPeriod(compared)
  return [from, to]
}

test('without compare there is none', () => {
  expect(resolve('today', {})).toBeUndefined()
})

describe('the previous period', () => {
  test.each<[DateRange, string, string]>([
    ['live', '2026-03-31T10:10:31Z', '2026-03-31T10:15:30Z'],
    ['1hr', '2026-03-31T08:20:31Z', '2026-03-31T09:20:30Z'],
    ['24hrs', '2026-03-29T11:00:00Z', '2026-03-30T10:20:30Z'],
    ['today', '2026-03-30T00:00:00Z', '2026-03-30T10:20:30Z'],
    ['yesterday', '2026-03-29T00:00:00Z', '2026-03-29T23:59:59Z'],
    ['7days', '2026-03-18T00:00:00Z', '2026-03-24T10:20:30Z'],
    ['30days', '2026-01-31T00:00:00Z', '2026-03-01T10:20:30Z'],
    ['90days', '2025-10-03T00:00:00Z', '2025-12-31T10:20:30Z'],
    // February has no 31st.
    ['mtd', '2026-02-01T00:00:00Z', '2026-02-28T10:20:30Z'],
    ['ytd', '2025-01-01T00:00:00Z', '2025-03-31T10:20:30Z'],
    ['3months', '2025-10-01T00:00:00Z', '2025-12-31T10:20:30Z'],
    ['6months', '2025-04-01T00:00:00Z', '2025-09-30T10:20:30Z'],
    ['12months', '2024-04-01T00:00:00Z', '2025-03-31T10:20:30Z'],
    ['1year', '2024-04-01T00:00:00Z', '2025-03-31T10:20:30Z'],
    // It is as long as all of the history: 30 days, 10 hours and some.
    ['all', '2026-01-29T13:39:29Z', '2026-02-28T23:59:59Z'],
    [['2026-02-01', '2026-02-28'], '2026-01-04T00:00:00Z', '2026-01-31T23:59:59Z'],
    [['2026-01-01', '2026-01-01'], '2025-12-31T00:00:00Z', '2025-12-31T23:59:59Z'],
    [
      ['2026-01-01T10:00:00Z', '2026-01-01T10:59:59Z'],
      '2026-01-01T09:00:00Z',
      '2026-01-01T09:59:59Z',
    ],
    [['2026-01-01T12:00:00Z', '2026-01-01'], '2026-01-01T00:00:00Z', '2026-01-01T11:59:59Z'],
  ])('of %p', (range, from, to) => {
    expect(resolve(range, { compare: 'previous_period' })).toEqual([from, to])
  })
})

describe('the previous year', () => {
  test.each<[DateRange, string, string, string?]>([
    ['today', '2025-03-31T00:00:00Z', '2025-03-31T10:20:30Z'],
    ['mtd', '2025-03-01T00:00:00Z', '2025-03-31T10:20:30Z'],
    [['2024-02-29', '2024-02-29'], '2023-02-28T00:00:00Z', '2023-02-28T23:59:59Z'],
    [['2025-02-28', '2025-02-28'], '2024-02-28T00:00:00Z', '2024-02-28T23:59:59Z'],
    [['2024-01-01', '2024-12-31'], '2023-01-01T00:00:00Z', '2023-12-31T23:59:59Z'],
    [
      ['2024-02-29T10:00:00Z', '2024-02-29T11:00:00Z'],
      '2023-02-28T10:00:00Z',
      '2023-02-28T11:00:00Z',
    ],
  ])('of %p', (range, from, to) => {
    expect(resolve(range, { compare: 'previous_year' })).toEqual([from, to])
  })
})

describe('the same weekdays', () => {
  test.each<[DateRange, 'previous_period' | 'previous_year', string, string]>([
    ['today', 'previous_period', '2026-03-24T00:00:00Z', '2026-03-24T10:20:30Z'],
    ['live', 'previous_period', '2026-03-24T10:15:31Z', '2026-03-24T10:20:30Z'],
    ['7days', 'previous_period', '2026-03-18T00:00:00Z', '2026-03-24T10:20:30Z'],
    ['30days', 'previous_period', '2026-01-26T00:00:00Z', '2026-02-24T10:20:30Z'],
    ['mtd', 'previous_period', '2026-02-01T00:00:00Z', '2026-03-03T10:20:30Z'],
    ['today', 'previous_year', '2025-04-01T00:00:00Z', '2025-04-01T10:20:30Z'],
    [['2024-02-29', '2024-02-29'], 'previous_year', '2023-03-02T00:00:00Z', '2023-03-02T23:59:59Z'],
  ])('%p with %s', (range, compare, from, to) => {
    expect(resolve(range, { compare, compare_align: 'weekday' })).toEqual([from, to])
  })
})

describe('in a time zone', () => {
  test.each<[string, DateRange, string, string, string]>([
    // The clock was set forward at 02:00: the day before had an hour more.
    [
      'Europe/Berlin',
      'today',
      '2026-03-29T10:00:00Z',
      '2026-03-27T23:00:00Z',
      '2026-03-28T11:00:00Z',
    ],
    [
      'Europe/Berlin',
      'yesterday',
      '2026-03-30T10:00:00Z',
      '2026-03-27T23:00:00Z',
      '2026-03-28T22:59:59Z',
    ],
    // The day starts at 01:00, and the one before at midnight.
    [
      'Africa/Cairo',
      'today',
      '2026-04-24T12:00:00Z',
      '2026-04-22T22:00:00Z',
      '2026-04-23T13:00:00Z',
    ],
    // The day before ended with an hour that was repeated.
    [
      'Africa/Cairo',
      'yesterday',
      '2025-11-01T12:00:00Z',
      '2025-10-29T21:00:00Z',
      '2025-10-30T21:59:59Z',
    ],
    [
      'Asia/Kolkata',
      ['2026-02-01', '2026-02-28'],
      NOW,
      '2026-01-03T18:30:00Z',
      '2026-01-31T18:29:59Z',
    ],
  ])('%s: %p at %s', (time_zone, range, now, from, to) => {
    expect(resolve(range, { compare: 'previous_period', time_zone }, now)).toEqual([from, to])
  })
})

test.each<[AnalyticsQueryRequest['compare'], string, string]>([
  [['2025-01-01', '2025-01-02'], '2024-12-31T18:15:00Z', '2025-01-02T18:14:59Z'],
  [['2025-01-01T00:00:00Z', '2025-01-02'], '2025-01-01T00:00:00Z', '2025-01-02T18:14:59Z'],
])('a given period: %p', (compare, from, to) => {
  expect(resolve('today', { compare: compare!, time_zone: 'Asia/Kathmandu' })).toEqual([from, to])
})

test('no period starts before the year 1', () => {
  expect(() => resolve(['0001-01-01', '0001-12-31'], { compare: 'previous_year' })).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      details: [{ field: 'compare', message: 'must not start before the year 1' }],
    }),
  )
})

test('a clock that is set back in between does not turn a period around', () => {
  const range: DateRange = ['2024-10-27T00:40:00Z', '2024-10-27T01:10:00Z']
  expect(resolve(range, { compare: 'previous_year', time_zone: 'Europe/Berlin' })).toEqual([
    '2023-10-27T00:40:00Z',
    '2023-10-27T01:10:00Z',
  ])
})

test('days that the zone skipped are no period', () => {
  const given: Given = { compare: 'previous_period', time_zone: 'Pacific/Apia' }
  expect(() => resolve(['2011-12-31', '2011-12-31'], given)).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      details: [{ field: 'compare', message: 'must not be a day that Pacific/Apia skipped' }],
    }),
  )
})

test.each<[number, string | undefined, string | undefined]>([
  [60, undefined, undefined],
  [58, 'period of compare', '2026-02-01'],
  [28, 'date range', '2026-03-03'],
])('with %p days of retention, what starts too early is: %p', (retentionDays, what, earliest) => {
  const project: QueriedProject = {
    id: 'p',
    createdAt: new Date('2020-01-01T00:00:00Z'),
    retentionDays,
    keepDays: null,
    hasCutSessions: false,
    shards: [],
    isWidening: false,
  }
  const request = fillDefaults({ date_range: '30days', compare: 'previous_period' })
  const act = () => resolveRequest(request, project, null, new Date(NOW))
  if (what === undefined) expect(act).not.toThrow()
  else {
    const message = `Queries of this project may start on ${earliest} (UTC) at the earliest, and the ${what} starts before that. Choose a later start.`
    expect(act).toThrow(new ApiError('PLAN_LIMIT_EXCEEDED', message))
  }
})
