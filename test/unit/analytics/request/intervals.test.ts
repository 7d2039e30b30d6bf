/** Intervals: the bucket size that each means, and how many buckets a series may have. */
import { describe, expect, test } from '@jest/globals'
import {
  checkBucketCount,
  chooseGranularity,
  isInterval,
  requireFewBuckets,
  resolveGranularity,
} from '../../../../src/analytics/request/intervals.js'
import { resolvePeriod, resolveRange } from '../../../../src/analytics/request/period.js'
import { MAX_BUCKETS } from '../../../../src/analytics/request/buckets.js'
import type { DateRange, GroupBy, Interval } from '../../../../src/contract/api.js'
import { listEnumValues, readSpec } from '../../../../src/contract/spec.js'
import { FINE_TO_COARSE } from '../../../../src/model/granularities.js'
import { fillDefaults } from '../../../support/world/world.js'

const NOW = '2026-03-31T10:20:30.999Z'
const HISTORY = '2025-12-24T18:00:00.123Z'

const { document } = readSpec('openapi')
const YEAR = resolveRange(['2026-01-01', '2026-12-31'])

test('the intervals of the contract are auto and one for each bucket size', () => {
  expect(listEnumValues(document, 'Interval')).toEqual(
    ['auto', ...FINE_TO_COARSE].map((size) => `interval:${size}`),
  )
  expect(listEnumValues(document, 'BucketSize')).toEqual(FINE_TO_COARSE)
})

test.each(FINE_TO_COARSE)('interval:%s means what it says', (size) => {
  expect(resolveGranularity(`interval:${size}`, YEAR)).toBe(size)
})

test.each<[GroupBy, boolean]>([
  ['interval:auto', true],
  ['interval:quarter', true],
  ['country', false],
  ['event:prop:interval:day', false],
  ['constructor' as GroupBy, false],
])('%s is an interval: %p', (token, want) => {
  expect(isInterval(token)).toBe(want)
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

describe('the number of buckets', () => {
  const ask = (token: GroupBy | undefined, range: readonly [string, string], zone = 'UTC') =>
    checkBucketCount(token, resolveRange(range, zone), zone)
  const tooMany = (choose: string) => [
    {
      field: 'group_by.0',
      message: `divides the period into more than ${MAX_BUCKETS} buckets: choose ${choose}`,
    },
  ]

  test.each<{ token?: GroupBy; range: readonly [string, string]; zone?: string }>([
    { range: ['0001-01-01', '9999-12-31'] },
    { token: 'country', range: ['0001-01-01', '9999-12-31'] },
    { token: 'country', range: ['0001-01-01', '9999-12-31'], zone: 'Asia/Tokyo' },
    { token: 'interval:auto', range: ['0001-01-01', '9999-12-31'] },
    { token: 'interval:year', range: ['0001-01-01', '9999-12-31'] },
    { token: 'interval:hour', range: ['2025-01-01T00:00:00Z', '2026-02-21T15:59:59Z'] },
    {
      token: 'interval:hour',
      range: ['2025-01-01T00:00:00Z', '2026-02-21T15:59:59Z'],
      zone: 'Asia/Tokyo',
    },
    { token: 'interval:minute', range: ['2026-01-01', '2026-01-01'] },
    { token: 'interval:15minutes', range: ['2026-01-01', '2026-01-15'] },
    // The clock is set back: an hour more.
    { token: 'interval:15minutes', range: ['2026-10-18', '2026-11-01'], zone: 'Europe/Berlin' },
    { token: 'interval:day', range: ['1990-01-01', '2017-05-18'] },
    { token: 'interval:day', range: ['1990-01-01', '2017-05-18'], zone: 'Europe/Berlin' },
    // Of 10,001 days in the calendar it skipped one.
    { token: 'interval:day', range: ['1990-01-01', '2017-05-19'], zone: 'Pacific/Apia' },
  ])('$token in $range is fine (zone $zone)', ({ token, range, zone }) => {
    expect(ask(token, range, zone)).toEqual([])
  })

  test.each<{
    token: Interval
    range: readonly [string, string]
    fitting: string
    zone?: string
  }>([
    {
      token: 'interval:hour',
      range: ['2025-01-01T00:00:00Z', '2026-02-21T16:00:00Z'],
      fitting: 'interval:day',
    },
    {
      token: 'interval:hour',
      range: ['2025-01-01T00:00:00Z', '2026-02-21T15:59:59Z'],
      fitting: 'interval:day',
      zone: 'Asia/Kolkata',
    },
    {
      token: 'interval:hour',
      range: ['0001-01-01', '9999-12-31'],
      fitting: 'interval:year',
      zone: 'Asia/Kolkata',
    },
    { token: 'interval:day', range: ['1990-01-01', '2017-05-19'], fitting: 'interval:week' },
    {
      token: 'interval:day',
      range: ['1990-01-01', '2017-05-19'],
      fitting: 'interval:week',
      zone: 'Europe/Berlin',
    },
    { token: 'interval:quarter', range: ['0001-01-01', '9999-12-31'], fitting: 'interval:year' },
    {
      token: 'interval:auto',
      range: ['0001-01-01', '9999-12-31'],
      fitting: 'interval:year',
      zone: 'Asia/Kolkata',
    },
  ])(
    '$token in $range is too many: $fitting would fit (zone $zone)',
    ({ token, range, fitting, zone }) => {
      expect(ask(token, range, zone)).toEqual(tooMany(`${fitting} or a shorter date_range`))
    },
  )

  test('of the period that a series is compared with', () => {
    const [token, zone] = ['interval:hour' as const, 'Europe/Berlin']
    const period = resolveRange(['2026-01-01', '2026-01-31'], zone)
    const request = fillDefaults({
      date_range: '7days',
      group_by: [token],
      time_zone: zone,
    })
    const check = (from: string) => {
      requireFewBuckets(request, period, resolveRange([from, '2025-12-31'], zone))
    }
    check('2024-11-11')
    expect(() => {
      check('0001-01-01')
    }).toThrow(
      expect.objectContaining({
        code: 'VALIDATION_ERROR',
        details: [
          {
            field: 'compare',
            message:
              'has more than 10000 buckets of the size of this series (hour): choose a larger interval or a shorter period',
          },
        ],
      }),
    )
  })

  test('of a preset: the query is refused with the same error', () => {
    const period = resolvePeriod('all', new Date('2024-01-01'), new Date('2026-01-01'))
    const request = fillDefaults({ date_range: 'all', group_by: ['interval:hour'] })
    expect(() => {
      requireFewBuckets(request, period)
    }).toThrow(
      expect.objectContaining({
        code: 'VALIDATION_ERROR',
        details: tooMany('interval:day or a shorter date_range'),
      }),
    )
  })
})
