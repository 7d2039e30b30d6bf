/** `POST /v1/analytics/explain`: how a query is answered, without running it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { ExplainResponse } from '../../../src/contract/api.js'
import { post, read, startShops, type Shop, type Shops } from './shops.js'

let shops: Shops
beforeAll(async () => {
  shops = await startShops()
}, 120_000)
afterAll(() => shops.stop())

const QUESTION = {
  date_range: ['2026-05-01', '2026-06-02T12:00:00Z'],
  metrics: ['pageviews', 'visits'],
  group_by: ['country'],
  filters: [{ type: 'browser', operator: 'oneOf', value: ["it's secret"] }],
  limit: 7,
} as const

const explain = (shop: Shop, body: object) => post(shops.service, shop, 'explain', body)

/** Explains a query until the service knows the sizes of the project. */
async function explained(shop: Shop, body: object): Promise<ExplainResponse> {
  for (;;) {
    const response = await explain(shop, body)
    expect(response.status).toBe(200)
    const explanation = (await response.json()) as ExplainResponse
    if (explanation.estimatedRows !== null) return explanation
  }
}

test('it shows the relations, the reasons, the statement and its parameters', async () => {
  const { plan, ...rest } = await explained(shops.narrow, { ...QUESTION, filters: [] })
  expect(rest).toEqual({
    period: { from: '2026-05-01T00:00:00Z', to: '2026-06-02T12:00:00Z' },
    query: { ...QUESTION, order_by: [], offset: 0, filters: [], filtersOperator: 'and' },
    shards: 1,
    estimatedRows: expect.any(Number),
    statement: {
      sql: expect.stringMatching(/^SELECT group_key, .* LIMIT \{p\d+:UInt32\} OFFSET /),
      parameters: expect.objectContaining({ p0: 'narrow' }),
      isOnly: true,
    },
  })
  expect(plan).toEqual({
    period: rest.period,
    reads: expect.arrayContaining([
      {
        relation: expect.any(String),
        measures: expect.arrayContaining(['visits']),
        periods: expect.any(Array),
        filteredBy: null,
      },
    ]),
    rejected: expect.any(Array),
    userCounting: 'all',
    considered: expect.arrayContaining([
      { name: expect.any(String), ms: expect.any(Number), isChosen: true },
    ]),
  })
})

test('values are parameters only, and none is of another project', async () => {
  for (const shop of [shops.narrow, shops.wide]) {
    const { statement: planned, plan } = await explained(shop, QUESTION)
    expect(planned.sql).not.toMatch(/secret|narrow|'wide|LIMIT \d/)
    expect(JSON.stringify(plan)).not.toContain('secret')
    const values = Object.values(planned.parameters)
    expect(values).toEqual(expect.arrayContaining([shop.id, ["it's secret"], 7]))
    const other = shop === shops.narrow ? 'wide' : 'narrow'
    expect(JSON.stringify(planned)).not.toContain(`"${other}"`)
  }
})

test('the statement of a project across two shards reads both', async () => {
  const { shards, statement: planned, plan } = await explained(shops.wide, QUESTION)
  expect([shards, planned.isOnly]).toEqual([2, true])
  expect(planned.sql).toMatch(/ FROM cluster\(/)
  expect(plan.considered.every(({ askingMs }) => askingMs !== undefined)).toBe(true)
})

test('the statement is one that the database can run', async () => {
  const asked = { ...QUESTION, date_range: '30days', filters: [] }
  const { statement: planned } = await explained(shops.narrow, asked)
  const { rows } = await shops.cluster.home.store.reader.query<{ group_key: string }>({
    query: planned.sql,
    query_params: planned.parameters as Record<string, string>,
  })
  const answer = await read(await post(shops.service, shops.narrow, 'query', asked))
  const { data } = answer.body as { data: { group: { country: string } }[] }
  expect(rows.map(({ group_key }) => group_key)).toEqual(data.map(({ group }) => group.country))
  expect(rows.length).toBeGreaterThan(1)
})

test.each<[string, unknown, number, string]>([
  ['an unknown period', { date_range: 'someday' }, 400, 'date_range'],
  ['a start after the end', { date_range: ['2026-01-02', '2026-01-01'] }, 400, 'date_range'],
  [
    'too many buckets',
    { date_range: ['2000-01-01', '2026-01-01'], group_by: ['interval:hour'] },
    400,
    'group_by.0',
  ],
])('%s is refused as for a query', async (_, body, status, field) => {
  const refused = await read(await post(shops.service, shops.narrow, 'explain', body))
  const alone = await read(await post(shops.service, shops.narrow, 'query', body))
  expect(refused).toEqual(alone)
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    status,
    expect.stringContaining(`"field":"${field}"`),
  ])
})
