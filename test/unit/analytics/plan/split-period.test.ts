/** Splitting periods: the whole months or days of a period, and the rest before and after. */
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  condense,
  splitByGrain,
  type SplitPeriods,
} from '../../../../src/analytics/plan/divide-period.js'
import { DAY_MS } from '../../../../src/lib/time.js'
import type { Grain } from '../../../../src/model/relations.js'
import type { Period } from '../../../../src/analytics/request/period.js'

type Bounds = readonly [start: string, end: string]

const period = ([start, end]: Bounds): Period => ({ start: new Date(start), end: new Date(end) })
const split = (inside: readonly Bounds[], outside: readonly Bounds[]): SplitPeriods => ({
  inside: inside.map(period),
  outside: outside.map(period),
})

interface Case {
  readonly given: readonly Bounds[]
  readonly inside: readonly Bounds[]
  readonly outside: readonly Bounds[]
}

const CASES: readonly (readonly [why: string, grain: Grain, Case])[] = [
  [
    'a whole month is inside',
    'month',
    { given: [['2026-01-01', '2026-02-01']], inside: [['2026-01-01', '2026-02-01']], outside: [] },
  ],
  [
    'months of all lengths follow each other',
    'month',
    { given: [['2023-12-01', '2025-01-01']], inside: [['2023-12-01', '2025-01-01']], outside: [] },
  ],
  [
    'a month with rests before and after',
    'month',
    {
      given: [['2024-01-31T23:59:59Z', '2024-03-01T00:00:01Z']],
      inside: [['2024-02-01', '2024-03-01']],
      outside: [
        ['2024-01-31T23:59:59Z', '2024-02-01'],
        ['2024-03-01', '2024-03-01T00:00:01Z'],
      ],
    },
  ],
  [
    'a rest at the start only',
    'month',
    {
      given: [['2026-01-02', '2026-03-01']],
      inside: [['2026-02-01', '2026-03-01']],
      outside: [['2026-01-02', '2026-02-01']],
    },
  ],
  [
    'a rest at the end only',
    'month',
    {
      given: [['2026-01-01', '2026-02-28']],
      inside: [['2026-01-01', '2026-02-01']],
      outside: [['2026-02-01', '2026-02-28']],
    },
  ],
  [
    'parts of two months are not a month',
    'month',
    { given: [['2026-01-02', '2026-02-28']], inside: [], outside: [['2026-01-02', '2026-02-28']] },
  ],
  [
    'a February without its leap day is not a month',
    'month',
    { given: [['2024-02-01', '2024-02-29']], inside: [], outside: [['2024-02-01', '2024-02-29']] },
  ],
  [
    'a whole day is inside',
    'day',
    { given: [['2024-02-29', '2024-03-01']], inside: [['2024-02-29', '2024-03-01']], outside: [] },
  ],
  [
    'a day with rests of one second before and after',
    'day',
    {
      given: [['2023-12-31T23:59:59Z', '2024-01-02T00:00:01Z']],
      inside: [['2024-01-01', '2024-01-02']],
      outside: [
        ['2023-12-31T23:59:59Z', '2024-01-01'],
        ['2024-01-02', '2024-01-02T00:00:01Z'],
      ],
    },
  ],
  [
    'part of a day is not a day',
    'day',
    {
      given: [['2026-01-01T00:00:01Z', '2026-01-02']],
      inside: [],
      outside: [['2026-01-01T00:00:01Z', '2026-01-02']],
    },
  ],
  [
    '24 hours across midnight are not a day',
    'day',
    {
      given: [['2026-01-01T12:00:00Z', '2026-01-02T12:00:00Z']],
      inside: [],
      outside: [['2026-01-01T12:00:00Z', '2026-01-02T12:00:00Z']],
    },
  ],
  [
    'moments are the finest grain: everything is inside',
    'moment',
    {
      given: [['2026-01-01T12:00:00Z', '2026-01-01T12:00:01Z']],
      inside: [['2026-01-01T12:00:00Z', '2026-01-01T12:00:01Z']],
      outside: [],
    },
  ],
  [
    'each period is split separately',
    'day',
    {
      given: [
        ['2026-01-30T12:00:00Z', '2026-02-01'],
        ['2026-03-01', '2026-03-01T12:00:00Z'],
      ],
      inside: [['2026-01-31', '2026-02-01']],
      outside: [
        ['2026-01-30T12:00:00Z', '2026-01-31'],
        ['2026-03-01', '2026-03-01T12:00:00Z'],
      ],
    },
  ],
  ['no periods', 'day', { given: [], inside: [], outside: [] }],
  [
    'days start at midnight before 1970, too',
    'day',
    {
      given: [['1969-12-30T01:00:00Z', '1970-01-01']],
      inside: [['1969-12-31', '1970-01-01']],
      outside: [['1969-12-30T01:00:00Z', '1969-12-31']],
    },
  ],
  [
    'the last year of four digits ends with a whole month',
    'month',
    {
      given: [['9999-11-30', '+010000-01-01T00:00:00Z']],
      inside: [['9999-12-01', '+010000-01-01T00:00:00Z']],
      outside: [['9999-11-30', '9999-12-01']],
    },
  ],
]

describe('splitByGrain', () => {
  test.each(CASES)('%s', (_why, grain, { given, inside, outside }) => {
    expect(splitByGrain(given.map(period), grain)).toEqual(split(inside, outside))
  })

  test.each<Grain>(['month', 'day'])(
    '%s: the parts cover the period without gaps or overlaps',
    (grain) => {
      const moment = fc.date({
        min: new Date('0001-01-01'),
        max: new Date('9999-12-31'),
        noInvalidDate: true,
      })
      const bounds = fc.tuple(moment, moment).filter(([a, b]) => a < b)
      fc.assert(
        fc.property(bounds, ([start, end]) => {
          const { inside, outside } = splitByGrain([{ start, end }], grain)
          const parts = [...inside, ...outside].sort(
            (a, b) => a.start.getTime() - b.start.getTime(),
          )
          const inner = parts.slice(1).map((part) => part.start)
          expect(parts.map((part) => part.start)).toEqual([start, ...inner])
          expect(parts.map((part) => part.end)).toEqual([...inner, end])
          for (const bound of inside.flatMap((part) => [part.start, part.end])) {
            const text = bound.toISOString()
            expect(text.endsWith(grain === 'month' ? '-01T00:00:00.000Z' : 'T00:00:00.000Z')).toBe(
              true,
            )
          }
          // A rest is shorter than one unit of the grain; without any whole unit, shorter than two.
          const longest = (grain === 'month' ? 31 : 1) * DAY_MS * (inside.length === 0 ? 2 : 1)
          for (const part of outside) {
            expect(part.end.getTime() - part.start.getTime()).toBeLessThan(longest)
          }
        }),
      )
    },
  )
})

const days = (count: boolean, ...starts: readonly string[]) => ({
  count,
  starts: starts.map((start) => new Date(start)),
})

const CONDENSED: readonly (readonly [
  why: string,
  given: readonly Bounds[],
  want: readonly { readonly period: Bounds; readonly days?: ReturnType<typeof days> }[],
])[] = [
  ['no period', [], []],
  ['one period', [['2026-01-01', '2026-02-01']], [{ period: ['2026-01-01', '2026-02-01'] }]],
  [
    'days far apart are listed; the first and the last are cut',
    [
      ['2026-01-31T23:00Z', '2026-02-01'],
      ['2026-02-28', '2026-03-01'],
      ['2026-03-31', '2026-03-31T23:00Z'],
    ],
    [
      {
        period: ['2026-01-31T23:00Z', '2026-03-31T23:00Z'],
        days: days(true, '2026-01-31', '2026-02-28', '2026-03-31'),
      },
    ],
  ],
  [
    'the days between long periods are left out',
    [
      ['2026-01-01', '2026-01-31'],
      ['2026-02-01', '2026-02-28'],
    ],
    [{ period: ['2026-01-01', '2026-02-28'], days: days(false, '2026-01-31') }],
  ],
  [
    'less than a day lies between',
    [
      ['2026-01-01', '2026-01-31'],
      ['2026-01-31T01:00Z', '2026-02-28'],
    ],
    [{ period: ['2026-01-01', '2026-01-31'] }, { period: ['2026-01-31T01:00Z', '2026-02-28'] }],
  ],
  [
    'a day lies between, but is not a whole one',
    [
      ['2026-01-01', '2026-01-30T12:00Z'],
      ['2026-01-31T12:00Z', '2026-02-28'],
    ],
    [
      { period: ['2026-01-01', '2026-01-30T12:00Z'] },
      { period: ['2026-01-31T12:00Z', '2026-02-28'] },
    ],
  ],
]

describe('condense', () => {
  test.each(CONDENSED)('%s', (_why, given, want) => {
    expect(condense(given.map(period))).toEqual(
      want.map((one) => ({ ...one, period: period(one.period) })),
    )
  })
})
