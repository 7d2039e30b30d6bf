/** Metrics over the numbers of a property: exact values, what is left out, and what is refused. */
import { beforeAll, describe, expect, test } from '@jest/globals'
import type { Filter, NumericMetric } from '../../../src/contract/api.js'
import {
  ALL_RELATIONS,
  FACTS,
  type RelationName,
  WITHOUT_PAIRS,
} from '../../../src/model/relations.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { withDatabase } from '../../support/store/database.js'
import { checkRollups, deleteUser } from '../../support/store/loading.js'
import {
  countPairs,
  createWorld,
  newProject,
  NOW,
  runQuery,
  send,
  type PartialRequest,
} from '../../support/world/world.js'

const database = withDatabase()
let project: StoredProject

const purchase = (timestamp: string, country: string, properties: object) => ({
  timestamp,
  name: 'purchase',
  user_id: `${country}${timestamp}`,
  country,
  properties,
})
const NUMBERS = Array.from({ length: 100 }, (_, i) => (i * 37) % 100)

beforeAll(async () => {
  project = await createWorld(database.store, [
    purchase('2026-01-01T10:00:00Z', 'DE', { amount: 0.1, currency: 'EUR', items: 1 }),
    purchase('2026-01-01T11:00:00Z', 'DE', { amount: '0.2', currency: 'EUR', items: 2 }),
    purchase('2026-01-02T10:00:00Z', 'FR', { amount: 19.99, currency: 'EUR', items: 2 }),
    purchase('2026-01-02T11:00:00Z', 'FR', { amount: 'free', currency: 'EUR', items: 0 }),
    purchase('2026-01-03T10:00:00Z', 'US', { amount: 5, currency: 'USD', items: 1 }),
    purchase('2026-01-03T11:00:00Z', 'US', { currency: 'USD' }),
    ...NUMBERS.map((ms, i) => ({
      timestamp: `2026-01-04T10:00:${String(i % 60).padStart(2, '0')}Z`,
      user_id: `u${i}`,
      properties: { ms },
    })),
  ])
})

const of = (metric: NumericMetric['metric'], property = 'amount'): NumericMetric => ({
  metric,
  of: `event:prop:${property}`,
  as: metric,
})
const ask = (asked: Partial<PartialRequest>) =>
  runQuery(database.store, project, { date_range: ['2026-01-01', '2026-01-31'], ...asked })

const IN_EUROS: PartialRequest['filters'] = [
  { type: 'event', properties: [{ property: 'currency', operator: 'eq', value: 'EUR' }] },
]

test('sums are those of decimal numbers, and what is no number is counted', async () => {
  const { data, metadata, query } = await ask({
    metrics: [of('sum'), of('avg'), of('min'), of('max'), of('count'), 'users'],
    group_by: ['country'],
    filters: IN_EUROS,
  })
  expect(data).toEqual([
    {
      group: { country: 'FR' },
      metrics: { sum: 19.99, avg: 19.99, min: 19.99, max: 19.99, count: 1, users: 2 },
    },
    {
      group: { country: 'DE' },
      metrics: { sum: 0.3, avg: 0.15, min: 0.1, max: 0.2, count: 2, users: 2 },
    },
  ])
  expect(metadata).toEqual({ numbers: [{ of: 'event:prop:amount', counted: 3, left_out: 1 }] })
  expect(query.metrics[0]).toEqual(of('sum'))
})

test('percentiles are the values at their nearest rank', async () => {
  const levels = ['median', 'p75', 'p90', 'p95', 'p99'] as const
  const { data } = await ask({ metrics: levels.map((level) => of(level, 'ms')) })
  const sorted = NUMBERS.toSorted((one, other) => one - other)
  expect(data[0]!.metrics).toEqual({
    median: sorted[49],
    p75: sorted[74],
    p90: sorted[89],
    p95: sorted[94],
    p99: sorted[98],
  })
})

test('a property without numbers', async () => {
  const { data, metadata } = await ask({ metrics: [of('sum', 'no'), of('p95', 'no')] })
  expect(data).toEqual([{ group: {}, metrics: { sum: 0, p95: null } }])
  expect(metadata).toEqual({ numbers: [{ of: 'event:prop:no', counted: 0, left_out: 0 }] })
})

test('a page after the last row does not know the numbers of the others', async () => {
  const { metadata } = await ask({
    metrics: [of('count')],
    group_by: ['country'],
    filters: IN_EUROS,
    offset: 9,
  })
  expect(metadata).toEqual({
    numbers: [{ of: 'event:prop:amount', counted: null, left_out: null }],
  })
})

const REFUSED = /metrics\.\d has amounts in several currencies, such as EUR and USD/

test.each<[string, Partial<PartialRequest>]>([
  ['one row', { metrics: [of('sum')] }],
  ['rows that each have one', { metrics: ['users', of('p95')], group_by: ['country'] }],
  ['another page', { metrics: [of('max')], group_by: ['country'], limit: 1 }],
  ['a property of the same events', { metrics: [of('sum', 'items')] }],
  [
    'totals of rows of one currency',
    { metrics: [of('sum')], group_by: ['event:prop:currency'], include: { totals: true } },
  ],
  [
    'another period',
    {
      metrics: [of('sum')],
      date_range: ['2026-01-03', '2026-01-03'],
      compare: ['2026-01-01', '2026-01-01'],
    },
  ],
])('several currencies are refused: %s', async (_what, asked) => {
  await expect(ask(asked)).rejects.toThrow(REFUSED)
})

test('rows by currency, counts, and numbers that are no amounts are not refused', async () => {
  const byCurrency = await ask({ metrics: [of('sum')], group_by: ['event:prop:currency'] })
  expect(byCurrency.data.map(({ metrics }) => metrics)).toEqual([{ sum: 20.29 }, { sum: 5 }])
  const others = await ask({ metrics: [of('count'), { ...of('sum', 'items'), money: false }] })
  expect(others.data[0]!.metrics).toEqual({ count: 4, sum: 6 })
})

describe('numbers that rollups have', () => {
  const METRICS = [
    'sum',
    'avg',
    'min',
    'max',
    'median',
    'p75',
    'p90',
    'p95',
    'p99',
    'count',
  ] as const
  const TEXTS = ['1e3', '-2.50', '0.1234567894', '1000000000000000000', '-0', '01', '.5', ' 1', '']
  const IN_GERMANY: Filter = {
    type: 'location',
    country: { value: ['DE'], operator: 'oneOf' },
  }
  let one: StoredProject
  const buy = (day: number, amount: string, currency: string | undefined, user = `u${amount}`) => ({
    ...{ timestamp: `2026-0${1 + (day % 3)}-0${1 + (day % 9)}T10:00:00Z`, user_id: user },
    ...(day % 4 === 0 ? { name: 'purchase' } : {}),
    country: ['DE', 'FR', 'US'][day % 3]!,
    referrer: day % 2 === 0 ? 'https://www.google.com/' : '',
    properties: { amount, ...(currency === undefined ? {} : { currency }) },
  })
  const all = [
    ...TEXTS.flatMap((text, i) => [buy(i, text, 'EUR'), buy(i + 4, text, undefined)]),
    ...NUMBERS.map((amount, i) => buy(i, String(amount), 'EUR')),
    buy(2, '777', 'EUR', 'gone'),
  ]
  /** An event that comes late gives the events of its session another country. */
  const late = [0, 1, 2, 40, 80].map((i) => ({
    ...all[i]!,
    timestamp: all[i]!.timestamp.replace('T10:00', 'T09:50'),
    country: 'AT',
    properties: {},
  }))
  beforeAll(async () => {
    one = await newProject(database.store)
    await countPairs(database.store, one)
    await send(database.store, one, all)
    await send(database.store, one, late)
    await deleteUser(database.store, one.id, 'gone')
  })
  const askOf = (asked: Partial<PartialRequest>, relations: readonly RelationName[]) =>
    runQuery(
      database.store,
      one,
      {
        date_range: ['2026-01-01', '2026-03-31'],
        metrics: ['events', ...METRICS.map((metric) => of(metric))],
        ...asked,
      },
      NOW,
      undefined,
      relations,
    )

  test.each<[string, Partial<PartialRequest>]>([
    ['in all', {}],
    ['of a part of the months', { date_range: ['2026-01-03', '2026-03-04'] }],
    ['of days of a zone', { time_zone: 'Europe/Vienna', date_range: ['2026-01-03', '2026-03-04'] }],
    ['by day', { group_by: ['interval:day'] }],
    ['by month in a zone', { group_by: ['interval:month'], time_zone: 'America/New_York' }],
    ['by value', { group_by: ['event:prop:amount'] }],
    ['of some values', { filters: [{ property: 'amount', operator: 'contains', value: ['1'] }] }],
    ['and those of another period', { compare: ['2025-12-01', '2026-02-20'] }],
    ['with totals', { group_by: ['interval:week'], include: { totals: true } }],
    ['by country', { group_by: ['country'], include: { totals: true } }],
    ['by channel, in some', { group_by: ['channel'], having: [['sum', 'gt', 1_000]] }],
    ['by name', { group_by: ['event:name'], date_range: ['2026-01-03', '2026-03-04'] }],
    ['of a country', { filters: [IN_GERMANY] }],
    ['by country, of one', { group_by: ['country'], filters: [IN_GERMANY] }],
    ['of a country by month', { group_by: ['interval:month'], filters: [IN_GERMANY] }],
    ['by month and country', { group_by: ['interval:month'], then_by: ['country'] }],
    ['by country, compared', { group_by: ['country'], compare: ['2025-12-01', '2026-01-31'] }],
  ])('are those of the events: %s', async (_what, asked) => {
    const found = await askOf(asked, ALL_RELATIONS)
    expect(found).toEqual(await askOf(asked, FACTS))
    expect(found).toEqual(await askOf(asked, WITHOUT_PAIRS))
    expect(found.metadata?.numbers[0]?.counted).toBeGreaterThan(0)
  })

  test('are counted with each load and deletion', async () => {
    expect(await checkRollups(database.store.writer, { projectId: one.id })).toMatchObject({
      different: 0,
    })
  })

  test('are refused once events of theirs have a second currency', async () => {
    const before = await askOf({}, ALL_RELATIONS)
    await send(database.store, one, [
      { timestamp: '2026-02-01T10:00:00Z', user_id: 'x', properties: { currency: 'USD' } },
      {
        timestamp: '2026-02-01T10:00:00Z',
        user_id: 'x',
        properties: { amount: 'no', currency: 'CHF' },
      },
    ])
    expect((await askOf({}, ALL_RELATIONS)).data).toEqual(before.data)
    await send(database.store, one, [buy(1, '5', 'USD')])
    await expect(askOf({}, ALL_RELATIONS)).rejects.toThrow(REFUSED)
    await expect(askOf({ group_by: ['country'] }, ALL_RELATIONS)).rejects.toThrow(REFUSED)
  })
})
