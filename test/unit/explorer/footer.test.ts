/** What the footer of a part says and saves beside its query. */
import { expect, test } from '@jest/globals'
import type { BatchResult, Plan, Query } from '../../../src/explorer/client/contract.js'
import {
  buildTableRequest,
  describeTiming,
  listRelations,
  nameTable,
} from '../../../src/explorer/code/footer.js'

test.each<[BatchResult['timing'], string]>([
  [undefined, ''],
  [{ milliseconds: 12.4 }, '12 ms'],
  [{ milliseconds: 0.4, cache: 'hit' }, '0.4 ms · from cache'],
  [{ milliseconds: 1234.6, cache: 'miss' }, '1235 ms'],
  [{ milliseconds: 9.9, cache: 'coalesced' }, '9.9 ms · together with an equal query'],
])('the timing %j is %j', (timing, want) => {
  expect(describeTiming(timing)).toBe(want)
})

const plan = (relations: readonly string[], more: object = {}): Plan =>
  ({ reads: relations.map((relation) => ({ relation })), rejected: [], ...more }) as unknown as Plan

test.each<[string, Parameters<typeof listRelations>[0], readonly string[]]>([
  [
    'a relation that is read twice',
    plan(['events', 'users_daily', 'events']),
    ['events', 'users_daily'],
  ],
  [
    'plans within a plan',
    plan(['sessions_daily'], {
      totals: plan(['users_daily']),
      newUsers: { users: plan(['users_monthly']) },
    }),
    ['sessions_daily', 'users_daily', 'users_monthly'],
  ],
  [
    'retention',
    { cohorts: plan(['users_daily']), later: plan(['events']) },
    ['users_daily', 'events'],
  ],
  ['retention of which nothing has begun', {}, []],
])('the relations of %s', (_, given, want) => {
  expect(listRelations(given)).toEqual(want)
})

const PERIOD = '2026-01-01T00:00:00Z/2026-01-31T23:59:59Z'
const DAY = '2026-01-31T00:00:00Z/2026-01-31T23:59:59Z'
const RANGE = { date_range: 'all' } as const

test.each<[Query, string | null, object, string]>([
  [
    {
      id: 'places',
      operation: 'query',
      body: { ...RANGE, group_by: ['country'], limit: 8, offset: 8 },
    },
    PERIOD,
    { ...RANGE, group_by: ['country'], limit: 'all' },
    'country-2026-01-01-to-2026-01-31.csv',
  ],
  [
    { id: 'details', operation: 'query', body: { ...RANGE, group_by: ['country'], limit: 50 } },
    DAY,
    { ...RANGE, group_by: ['country'], limit: 'all' },
    'country-details-2026-01-31.csv',
  ],
  [
    { id: 'cards', operation: 'query', body: { ...RANGE, metrics: ['users'] } },
    DAY,
    { ...RANGE, metrics: ['users'] },
    'totals-2026-01-31.csv',
  ],
  [
    {
      id: 'chart',
      operation: 'query',
      body: { ...RANGE, metrics: ['bounce_rate'], group_by: ['interval:auto'] },
    },
    null,
    { ...RANGE, metrics: ['bounce_rate'], group_by: ['interval:auto'], limit: 'all' },
    'bounce_rate-over-time.csv',
  ],
  [
    { id: 'users', operation: 'retention', body: { ...RANGE, interval: 'week' } },
    PERIOD,
    { ...RANGE, interval: 'week' },
    'retention-by-week-2026-01-01-to-2026-01-31.csv',
  ],
  [
    { id: 'events', operation: 'query', body: { ...RANGE, group_by: ['event:prop:a/b\n Größe'] } },
    null,
    { ...RANGE, group_by: ['event:prop:a/b\n Größe'], limit: 'all' },
    'event-prop-a-b-Größe.csv',
  ],
  [
    { id: 'search', operation: 'values', body: { ...RANGE, field: 'country' } },
    DAY,
    { ...RANGE, field: 'country' },
    'values-of-country-2026-01-31.csv',
  ],
])('the table of %j', (query, period, body, name) => {
  expect(JSON.parse(JSON.stringify(buildTableRequest(query).body))).toEqual(body)
  expect(nameTable(query, period)).toBe(name)
})
