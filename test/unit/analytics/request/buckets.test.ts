/** The buckets of time zones: they tile the period, and start when a clock in the zone says so. */
import { describe, expect, test } from '@jest/globals'
import { listZonedBuckets } from '../../../../src/analytics/request/buckets.js'
import { resolveRange } from '../../../../src/analytics/request/period.js'
import { formatLocal } from '../../../../src/lib/time-zone.js'
import { FINE_TO_COARSE, type Granularity } from '../../../../src/model/granularities.js'
import { listZoneBuckets, ZONES } from '../../../support/world/zones.js'

type Range = readonly [string, string]

function list(zone: string, size: Granularity, range: Range): readonly string[] {
  const { starts } = listZonedBuckets(size, resolveRange(range, zone), zone)!
  return starts.map((start) => formatLocal(zone, new Date(start * 1_000)))
}

/** The first buckets in a period, with the length of each in hours. */
function measure(zone: string, size: Granularity, range: Range): readonly [string, number][] {
  const period = resolveRange(range, zone)
  const { starts } = listZonedBuckets(size, period, zone)!
  return starts.map((start, i) => [
    formatLocal(zone, new Date(start * 1_000)),
    ((starts[i + 1] ?? period.end.getTime() / 1_000) - start) / 3_600,
  ])
}

test.each(['UTC', 'Etc/UTC', 'Zulu'])('%s has no list: its buckets are numbered', (zone) => {
  expect(listZonedBuckets('day', resolveRange(['2026-01-01', '2026-01-31']), zone)).toBeUndefined()
})

describe('days on which clocks are changed', () => {
  test.each<[string, Range, readonly [string, number][]]>([
    [
      'Africa/Cairo',
      ['2026-04-23', '2026-04-24'],
      [
        ['2026-04-23T00:00:00+02:00', 24],
        ['2026-04-24T01:00:00+03:00', 23],
      ],
    ],
    [
      'America/Santiago',
      ['2026-04-04', '2026-04-05'],
      [
        ['2026-04-04T00:00:00-03:00', 25],
        ['2026-04-05T00:00:00-04:00', 24],
      ],
    ],
    [
      'America/Santiago',
      ['2026-09-05', '2026-09-06'],
      [
        ['2026-09-05T00:00:00-04:00', 24],
        ['2026-09-06T01:00:00-03:00', 23],
      ],
    ],
    [
      'America/Havana',
      ['2026-11-01', '2026-11-02'],
      [
        ['2026-11-01T00:00:00-04:00', 25],
        ['2026-11-02T00:00:00-05:00', 24],
      ],
    ],
    ['Australia/Lord_Howe', ['2026-04-05', '2026-04-05'], [['2026-04-05T00:00:00+11:00', 24.5]]],
    ['Antarctica/Troll', ['2026-03-29', '2026-03-29'], [['2026-03-29T00:00:00+00:00', 22]]],
    [
      'Pacific/Apia',
      ['2011-12-29', '2012-01-01'],
      [
        ['2011-12-29T00:00:00-10:00', 24],
        ['2011-12-31T00:00:00+14:00', 24],
        ['2012-01-01T00:00:00+14:00', 24],
      ],
    ],
    // At 00:01 the clock is set back to 23:01 of the day before.
    [
      'America/St_Johns',
      ['2010-11-06', '2010-11-07'],
      [
        ['2010-11-06T00:00:00-02:30', 24],
        ['2010-11-07T00:00:00-02:30', 25],
      ],
    ],
  ])('%s %p', (zone, range, want) => {
    expect(measure(zone, 'day', range)).toEqual(want)
  })
})

test.each<[Granularity, Range, readonly string[]]>([
  [
    'week',
    ['2026-01-01', '2026-01-05'],
    ['2025-12-29T00:00:00+05:45', '2026-01-05T00:00:00+05:45'],
  ],
  [
    'month',
    ['2026-01-31', '2026-02-01'],
    ['2026-01-01T00:00:00+05:45', '2026-02-01T00:00:00+05:45'],
  ],
  [
    'quarter',
    ['2026-02-10', '2026-04-01'],
    ['2026-01-01T00:00:00+05:45', '2026-04-01T00:00:00+05:45'],
  ],
  [
    'year',
    ['2025-12-31', '2026-01-01'],
    ['2025-01-01T00:00:00+05:45', '2026-01-01T00:00:00+05:45'],
  ],
  // 18:15 is midnight there.
  [
    'day',
    ['2026-01-01T18:14:59Z', '2026-01-01T18:15:00Z'],
    ['2026-01-01T00:00:00+05:45', '2026-01-02T00:00:00+05:45'],
  ],
  ['day', ['2026-01-01T18:15:00Z', '2026-01-01T18:15:00Z'], ['2026-01-02T00:00:00+05:45']],
])('in Kathmandu, %ss of %p', (size, range, want) => {
  expect(list('Asia/Kathmandu', size, range)).toEqual(want)
})

test('a moment in the repeated hour before midnight belongs to the day that has begun', () => {
  const range = ['2010-11-07T03:00:00Z', '2010-11-07T03:10:00Z'] as const
  expect(list('America/St_Johns', 'day', range)).toEqual(['2010-11-07T00:00:00-02:30'])
})

const isOfClock = (size: Granularity): boolean => size === 'hour' || size === '15minutes'

describe.each(ZONES)('in %s', (zone) => {
  const periods: readonly Range[] = [
    ['2024-02-28', '2024-03-12'],
    ['2024-03-09T05:06:07Z', '2024-04-28'],
    ['2024-09-01', '2024-11-05T03:04:05Z'],
    ['2023-11-15T12:00:00Z', '2024-12-31'],
  ]
  const cases = FINE_TO_COARSE.filter((size) => size !== 'minute').flatMap((size) =>
    periods
      .slice(isOfClock(size) ? 0 : 1, isOfClock(size) ? 1 : undefined)
      .map((range) => [size, range] as const),
  )
  test.each(cases)('%ss of %p start when the clock says so', (size, range) => {
    const { start, end } = resolveRange(range, zone)
    const want = listZoneBuckets(zone, size, start.getTime(), end.getTime())
    expect(list(zone, size, range)).toEqual(want.map(({ label }) => label))
  })
})
