/** Intervals: the bucket size that each means, and how many buckets a series may have. */
import { describe, expect, test } from '@jest/globals'
import {
  checkBucketCount,
  chooseGranularity,
  isInterval,
  MAX_BUCKETS,
  requireFewBuckets,
  resolveGranularity,
} from '../../../../src/analytics/request/intervals.js'
import { resolvePeriod, resolveRange } from '../../../../src/analytics/request/period.js'
import type { DateRange, GroupBy, Interval } from '../../../../src/contract/api.js'
import { listEnumValues, readSpec } from '../../../../src/contract/spec.js'
import { FINE_TO_COARSE } from '../../../../src/model/granularities.js'

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
  const ask = (token: GroupBy | undefined, range: readonly [string, string]) =>
    checkBucketCount(token, resolveRange(range))
  const tooMany = (count: number, choose: string) => [
    {
      field: 'group_by.0',
      message: `divides the period into ${count} buckets, and at most ${MAX_BUCKETS} are allowed: choose ${choose}`,
    },
  ]

  test.each<[GroupBy | undefined, readonly [string, string]]>([
    [undefined, ['0001-01-01', '9999-12-31']],
    ['country', ['0001-01-01', '9999-12-31']],
    ['interval:auto', ['0001-01-01', '9999-12-31']],
    ['interval:year', ['0001-01-01', '9999-12-31']],
    ['interval:hour', ['2025-01-01T00:00:00Z', '2026-02-21T15:59:59Z']],
    ['interval:day', ['1990-01-01', '2017-05-18']],
  ])('%s in %p is fine', (token, range) => {
    expect(ask(token, range)).toEqual([])
  })

  test.each<[Interval, readonly [string, string], number, string]>([
    [
      'interval:hour',
      ['2025-01-01T00:00:00Z', '2026-02-21T16:00:00Z'],
      10_001,
      'interval:day or a shorter date_range',
    ],
    ['interval:day', ['1990-01-01', '2017-05-19'], 10_001, 'interval:week or a shorter date_range'],
    [
      'interval:quarter',
      ['0001-01-01', '9999-12-31'],
      39_996,
      'interval:year or a shorter date_range',
    ],
  ])('%s in %p is too many', (token, range, count, choose) => {
    expect(ask(token, range)).toEqual(tooMany(count, choose))
  })

  test('of a preset: the query is refused with the same error', () => {
    const period = resolvePeriod('all', new Date('2024-01-01'), new Date('2026-01-01'))
    expect(() => {
      requireFewBuckets({ group_by: ['interval:hour'] }, period)
    }).toThrow(
      expect.objectContaining({
        code: 'VALIDATION_ERROR',
        details: tooMany(17_545, 'interval:day or a shorter date_range'),
      }),
    )
  })
})
