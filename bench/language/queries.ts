/** Questions to the query operation, beside simpler ones and the statements by hand. */
import { sql } from '../../src/clickhouse/sql.js'
import type { AnalyticsQueryRequest } from '../../src/contract/api.js'
import { MONTH, YEAR, type BenchPeriod } from '../reads/periods.js'
import type { Shape } from '../reads/queries.js'
import type { Pair } from './pair.js'
import { byHand, checkRows, query, type Asked } from './questions.js'
import { selectFirstEvents, selectPairs, VISITS_TO_PAGE } from './statements.js'

const ZONE = 'Europe/Berlin'
/** The months of YEAR in a zone. */
const ZONED_YEAR: BenchPeriod = {
  ...YEAR,
  start: new Date('2024-12-31T23:00:00Z'),
  end: new Date('2025-12-31T23:00:00Z'),
  bucket: (moment) => sql`toStartOfMonth(${moment}, 'Europe/Berlin')`,
}
const BY_MONTH_BY_HAND: Shape = {
  name: 'by month',
  request: {},
  event: ({ bucket }) => bucket(sql`timestamp`),
  visit: ({ bucket }) => bucket(sql`start_at`),
  isEvent: sql`true`,
  isVisit: sql`true`,
  order: sql`ORDER BY key`,
}

const BY_MONTH: Asked = { group_by: ['interval:month'] }
const BY_DAY: Asked = { group_by: ['interval:day'] }
const BY_COUNTRY: Asked = { group_by: ['country'] }
const COMPARED: Asked = { compare: 'previous_period' }
const ZONED: Asked = { time_zone: ZONE }

const ZONES: readonly Pair[] = [
  {
    name: '30 days, total, Berlin',
    request: query(MONTH, ZONED),
    beside: { name: 'in UTC', request: query(MONTH, {}) },
    target: { times: 1.3 },
  },
  {
    name: '12 months by month, Berlin',
    request: query(YEAR, { ...BY_MONTH, ...ZONED }),
    beside: { name: 'in UTC', request: query(YEAR, BY_MONTH) },
    target: { times: 3 },
  },
  {
    name: '12 months by month, Berlin',
    request: query(YEAR, { ...BY_MONTH, ...ZONED }),
    beside: byHand(ZONED_YEAR, BY_MONTH_BY_HAND),
    target: { times: 1 },
  },
]

const COMPARISONS: readonly Pair[] = Object.entries({
  total: {},
  'by country': BY_COUNTRY,
  'by day': BY_DAY,
}).map(([name, asked]) => ({
  name: `30 days, ${name}, compared`,
  request: query(MONTH, { ...asked, ...COMPARED }),
  beside: { name: 'not compared', request: query(MONTH, asked) },
  target: { times: 2.2 },
}))

const NESTED: AnalyticsQueryRequest['filters'] = [
  {
    type: 'group',
    operator: 'or',
    filters: [
      { type: 'location', country: { operator: 'oneOf', value: ['BA'] } },
      {
        type: 'group',
        operator: 'not',
        filters: [{ type: 'browser', operator: 'oneOf', value: ['Chrome', 'Safari'] }],
      },
    ],
  },
]
const IN_NESTED = sql`(country = 'BA' OR NOT browser IN ('Chrome', 'Safari'))`
const SAW_PAGE: AnalyticsQueryRequest['filters'] = [
  {
    type: 'visit',
    filters: [{ type: 'page', path: { operator: 'eq', value: '/section/7' } }],
  },
]
const BY_PATH_BY_HAND: Shape = {
  name: 'by path',
  request: {},
  event: () => sql`path`,
  visit: () => sql`entry_path`,
  isEvent: sql`path != '' AND ${IN_NESTED}`,
  isVisit: sql`entry_path != '' AND ${IN_NESTED}`,
}

const FILTERS: readonly Pair[] = [
  {
    name: '30 days, by path, nested filters',
    request: query(MONTH, { group_by: ['page:path'], filters: NESTED }),
    beside: byHand(MONTH, BY_PATH_BY_HAND),
  },
  {
    name: '30 days, total of the visits that saw a page',
    request: query(MONTH, { filters: SAW_PAGE }),
    beside: byHand(MONTH, {
      name: 'visits',
      request: {},
      isEvent: VISITS_TO_PAGE,
      isVisit: VISITS_TO_PAGE,
    }),
  },
]

const ON_EVENTS = ['users', 'pageviews', 'events'] as const
const GROUPINGS: readonly Pair[] = [
  {
    name: '30 days, by day, then country',
    request: query(MONTH, { ...BY_DAY, then_by: ['country'] }),
    beside: { name: 'by day', request: query(MONTH, BY_DAY) },
    target: { times: 3 },
  },
  {
    name: '30 days, by country, then browser',
    request: query(MONTH, { ...BY_COUNTRY, then_by: ['browser'], metrics: ON_EVENTS }),
    beside: { name: 'by hand', ways: selectPairs(), check: checkRows },
  },
  {
    name: '30 days, by channel',
    request: query(MONTH, { group_by: ['channel'] }),
    beside: { name: 'by country', request: query(MONTH, BY_COUNTRY) },
  },
  {
    name: '30 days, by country, with totals',
    request: query(MONTH, { ...BY_COUNTRY, include: { totals: true } }),
    beside: { name: 'without', request: query(MONTH, BY_COUNTRY) },
  },
  {
    name: '30 days, new users by day',
    request: query(MONTH, { ...BY_DAY, metrics: ['new_users'] }),
    beside: { name: 'by hand', ways: [selectFirstEvents()], check: checkRows },
  },
]

const FORMATS: readonly Pair[] = [
  ['CSV', 'text/csv'],
  ['NDJSON', 'application/x-ndjson'],
  ['Arrow', 'application/vnd.apache.arrow.stream'],
  ['Parquet', 'application/vnd.apache.parquet'],
].map(([name = '', accept]) => {
  const asked: Asked = { group_by: ['page:path'], limit: 1_000 }
  return {
    name: `30 days, by path, 1,000 rows as ${name}`,
    request: query(MONTH, asked, accept),
    beside: { name: 'as JSON', request: query(MONTH, asked) },
  }
})

export const QUERY_PAIRS: readonly Pair[] = [
  ...ZONES,
  ...COMPARISONS,
  ...GROUPINGS,
  ...FILTERS,
  ...FORMATS,
]
