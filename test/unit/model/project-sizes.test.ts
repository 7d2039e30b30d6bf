/** The sizes of one shard of a project, from those of several. */
import { expect, test } from '@jest/globals'
import { averageSizes, type ProjectSizes } from '../../../src/model/project-sizes.js'

const [JANUARY, FEBRUARY] = [new Date('2026-01-01'), new Date('2026-02-01')]
const [EARLY, LATE] = [new Date('2026-02-15T10:00:00Z'), new Date('2026-02-15T10:01:00Z')]

const build = (
  readAt: Date,
  months: readonly (readonly [Date, number, number])[],
  values: Readonly<Record<string, number>>,
): ProjectSizes => ({
  readAt,
  months: months.map(([month, events, visits]) => ({ month, events, visits })),
  values: new Map(Object.entries(values)),
})

const FIRST = build(LATE, [[JANUARY, 100, 10]], { 'page:path': 30, 'event:prop:plan': 3 })
const SECOND = build(
  EARLY,
  [
    [FEBRUARY, 50, 4],
    [JANUARY, 200, 30],
  ],
  { 'page:path': 50 },
)

test.each<[string, readonly [ProjectSizes, ...ProjectSizes[]], ProjectSizes]>([
  ['one shard', [SECOND], SECOND],
  [
    'two: a month that one does not have is empty there, and values that one does not list are those of the other',
    [FIRST, SECOND],
    build(
      EARLY,
      [
        [JANUARY, 150, 20],
        [FEBRUARY, 25, 2],
      ],
      { 'page:path': 40, 'event:prop:plan': 3 },
    ),
  ],
  [
    'a shard without events',
    [FIRST, build(EARLY, [], {})],
    build(EARLY, [[JANUARY, 50, 5]], { 'page:path': 30, 'event:prop:plan': 3 }),
  ],
])('%s', (_what, sizes, want) => {
  expect(averageSizes(sizes)).toEqual(want)
})
