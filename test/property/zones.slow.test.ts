/** The law of zones: buckets tile the period, sum to the total, and equal the answers about the same moments in UTC. */
import { beforeAll, expect, test } from '@jest/globals'
import type { AnalyticsQueryResponse, Interval, Row } from '../../src/contract/api.js'
import type { StoredProject } from '../../src/projects/project.js'
import { METRICS } from '../support/arbitrary/world.js'
import { sample, scaled } from '../support/effort.js'
import { withDatabase } from '../support/store/database.js'
import {
  createWorld,
  LARGE_SIZES,
  runQuery,
  type PartialRequest,
  type SentEvent,
} from '../support/world/world.js'
import { listZoneBuckets, type BucketSize } from '../support/world/zones.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Zones, each with a moment at which its clock is changed, or a midnight. */
const CHANGES: readonly (readonly [zone: string, moment: string])[] = [
  ['Asia/Kathmandu', '2026-01-31T18:15:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
  ['Australia/Lord_Howe', '2025-10-04T15:30:00Z'],
  ['America/Santiago', '2025-09-07T04:00:00Z'],
  ['America/Santiago', '2026-04-05T03:00:00Z'],
  ['Africa/Cairo', '2026-04-23T22:00:00Z'],
  ['Africa/Cairo', '2025-10-30T21:00:00Z'],
  ['America/Havana', '2025-11-02T05:00:00Z'],
  ['America/Havana', '2026-03-08T05:00:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00:00Z'],
  ['Antarctica/Troll', '2026-03-29T01:00:00Z'],
  ['Antarctica/Troll', '2025-10-26T01:00:00Z'],
  ['Asia/Kolkata', '2025-12-31T18:30:00Z'],
  ['Europe/Berlin', '2026-03-29T01:00:00Z'],
  ['Europe/London', '2025-10-26T01:00:00Z'],
  ['America/New_York', '2026-03-08T07:00:00Z'],
  ['America/St_Johns', '2025-11-02T04:30:00Z'],
  ['Asia/Beirut', '2026-03-28T22:00:00Z'],
  ['Atlantic/Azores', '2026-03-29T01:00:00Z'],
  ['Africa/Casablanca', '2026-02-15T02:00:00Z'],
  ['Pacific/Chatham', '2026-04-04T14:00:00Z'],
  ['Pacific/Kiritimati', '2025-12-31T10:00:00Z'],
  ['Pacific/Pago_Pago', '2026-03-01T11:00:00Z'],
  ['Etc/GMT+12', '2026-03-01T12:00:00Z'],
]

/** Visits of two or three events around each moment: before and at it, and up to three days away. */
const AWAY = [
  -3 * DAY,
  -DAY,
  -DAY / 2,
  -HOUR,
  -30 * MINUTE,
  0,
  30 * MINUTE,
  HOUR,
  DAY / 2,
  DAY,
  2 * DAY,
]

const createVisit = (start: number, n: number): readonly SentEvent[] =>
  Array.from({ length: 1 + (n % 3) }, (_, i) => ({
    timestamp: new Date(start - 1 + i * 20 * MINUTE * (n % 2)).toISOString(),
    user_id: `u${n % 17}`,
    name: i === 2 ? 'signup' : 'pageview',
    path: `/${n % 3}`,
    country: n % 2 === 0 ? 'DE' : 'NP',
  }))

const database = withDatabase()
let project: StoredProject

beforeAll(async () => {
  const starts = CHANGES.flatMap(([, moment]) => AWAY.map((away) => Date.parse(moment) + away))
  project = await createWorld(database.store, starts.flatMap(createVisit))
})

const ask = (asked: PartialRequest): Promise<AnalyticsQueryResponse> =>
  runQuery(database.store, project, asked, undefined, LARGE_SIZES)

const second = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`
const sum = (rows: readonly Row[], metric: 'pageviews' | 'events'): number =>
  rows.reduce((total, { metrics }) => total + (metrics[metric] ?? 0), 0)

const HALF_YEAR = 183 * DAY
const SIZES: readonly (readonly [BucketSize, number])[] = [
  ['15minutes', DAY / 2],
  ['hour', 2 * DAY],
  ['day', 4 * DAY],
  ['week', 40 * DAY],
  ['month', HALF_YEAR],
  ['quarter', HALF_YEAR],
  ['year', HALF_YEAR],
]
/** How many buckets of a series are compared with answers about their moments in UTC: those around the change. */
const COMPARED = 2 * scaled(1)

test.each(sample(CHANGES, 4))('in %s around %s', async (time_zone, moment) => {
  for (const [size, reach] of SIZES) {
    const [from, to] = [Date.parse(moment) - reach, Date.parse(moment) + reach]
    const filters =
      size === 'week'
        ? [{ type: 'location' as const, country: { operator: 'oneOf' as const, value: ['NP'] } }]
        : []
    const asked: PartialRequest = {
      date_range: [second(from), second(to - 1_000)],
      metrics: METRICS,
      filters,
      limit: 1000,
    }
    const group_by: readonly Interval[] = [`interval:${size}`]
    const [series, total] = await Promise.all([
      ask({ ...asked, group_by, time_zone }),
      ask({ ...asked, time_zone }),
    ])
    const buckets = listZoneBuckets(time_zone, size, from, to)
    expect(series.query).toMatchObject({ time_zone, interval: size })
    expect(series.data.map(({ group }) => group['date'])).toEqual(buckets.map(({ label }) => label))
    for (const metric of ['pageviews', 'events'] as const) {
      expect(sum(series.data, metric)).toBe(total.data[0]!.metrics[metric])
    }
    const near = buckets.findLastIndex((bucket) => bucket.from <= Date.parse(moment))
    const first = Math.max(0, near - COMPARED / 2)
    for (const [i, bucket] of buckets.slice(first, first + COMPARED).entries()) {
      const range = [
        second(Math.max(bucket.from, from)),
        second((buckets[first + i + 1]?.from ?? to) - 1_000),
      ] as const
      const twin = await ask({ ...asked, date_range: range })
      expect({ [bucket.label]: twin.data[0]!.metrics }).toEqual({
        [bucket.label]: series.data[first + i]!.metrics,
      })
    }
  }
})

test('a series of 10,000 hours', async () => {
  const range = ['2025-03-01T00:15:00Z', '2026-04-21T16:14:59Z'] as const
  const asked = { date_range: range, time_zone: 'Asia/Kathmandu', metrics: METRICS }
  const [series, total] = await Promise.all([
    ask({ ...asked, group_by: ['interval:hour'], order_by: [['pageviews', 'desc']], limit: 1000 }),
    ask(asked),
  ])
  expect(series.pagination).toEqual({ limit: 1000, offset: 0, returned: 1000, total: 10_000 })
  expect(sum(series.data, 'pageviews')).toBe(total.data[0]!.metrics.pageviews)
})

test('10,000 hours beside 10,000 others', async () => {
  const asked = {
    time_zone: 'Asia/Kathmandu',
    metrics: ['pageviews'] as const,
    group_by: ['interval:hour'] as const,
    limit: 1000,
    offset: 4_000,
  }
  const [range, compare] = [
    ['2026-04-21T16:15:00Z', '2027-06-12T08:14:59Z'] as const,
    ['2025-03-01T00:15:00Z', '2026-04-21T16:14:59Z'] as const,
  ]
  const [compared, other] = await Promise.all([
    ask({ ...asked, date_range: range, compare }),
    ask({ ...asked, date_range: compare }),
  ])
  expect(compared.pagination).toEqual({ limit: 1000, offset: 4_000, returned: 1000, total: 10_000 })
  expect(compared.data.map(({ comparison }) => comparison!.metrics)).toEqual(
    other.data.map(({ metrics }) => metrics),
  )
  expect(sum(other.data, 'pageviews')).toBeGreaterThan(0)
})
