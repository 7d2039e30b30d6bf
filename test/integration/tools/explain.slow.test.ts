/** `POST /v1/analytics/explain` and those of retention and funnels: how a question is answered, without running it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type {
  ExplainResponse,
  FunnelExplainResponse,
  RetentionExplainResponse,
} from '../../../src/contract/api.js'
import { post, read, startShops, type Shop, type Shops } from './shops.js'

let shops: Shops
beforeAll(async () => {
  shops = await startShops()
})
afterAll(() => shops.stop())

const QUESTION = {
  date_range: ['2026-05-01', '2026-06-02T12:00:00Z'],
  metrics: ['pageviews', 'visits'],
  group_by: ['country'],
  filters: [{ type: 'browser', operator: 'oneOf', value: ["it's secret"] }],
  limit: 7,
} as const

/** Explains a query until the service knows the sizes of the project. */
async function explained<Explanation extends { readonly estimatedRows: number | null }>(
  shop: Shop,
  body: object,
  operation = 'explain',
): Promise<Explanation> {
  for (;;) {
    const response = await post(shops.service, shop, operation, body)
    expect(response.status).toBe(200)
    const explanation = (await response.json()) as Explanation
    if (explanation.estimatedRows !== null) return explanation
  }
}

const explain = (shop: Shop, body: object) => explained<ExplainResponse>(shop, body)

test('it shows the relations, the reasons, the statement and its parameters', async () => {
  const { plan, ...rest } = await explain(shops.narrow, { ...QUESTION, filters: [] })
  expect(rest).toEqual({
    period: { from: '2026-05-01T00:00:00Z', to: '2026-06-02T12:00:00Z' },
    query: { ...QUESTION, order_by: [], offset: 0, filters: [], filtersOperator: 'and' },
    shards: 1,
    state: STATE,
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
    const { statement: planned, plan } = await explain(shop, QUESTION)
    expect(planned.sql).not.toMatch(/secret|narrow|'wide|LIMIT \d/)
    expect(JSON.stringify(plan)).not.toContain('secret')
    const values = Object.values(planned.parameters)
    expect(values).toEqual(expect.arrayContaining([shop.id, ["it's secret"], 7]))
    const other = shop === shops.narrow ? 'wide' : 'narrow'
    expect(JSON.stringify(planned)).not.toContain(`"${other}"`)
  }
})

test('the statement of a project across two shards reads both', async () => {
  const { shards, statement: planned, plan } = await explain(shops.wide, QUESTION)
  expect([shards, planned.isOnly]).toEqual([2, true])
  expect(planned.sql).toMatch(/ FROM cluster\(/)
  expect(plan.considered.every(({ askingMs }) => askingMs !== undefined)).toBe(true)
})

test('the statement is one that the database can run', async () => {
  const asked = { ...QUESTION, date_range: '30days', filters: [] }
  const { statement: planned } = await explain(shops.narrow, asked)
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

const STATE = { version: expect.any(String), hidesRows: false }
const RETENTION = { interval: 'month', date_range: ['2026-04-01', '2026-05-31'], intervals: 3 }
const SECRET = {
  filters: [{ type: 'browser', operator: 'oneOf', value: ["it's secret"] }],
  filtersOperator: 'and',
}
const ANY = { type: 'page', path: { operator: 'notEq', value: '' } }
const FUNNEL = { date_range: '30days', steps: [{ filters: [], filtersOperator: 'and' }, SECRET] }

test('of retention it shows the plans of the cohorts and of what came later', async () => {
  const path = 'retention/explain'
  const { plan, ...rest } = await explained<RetentionExplainResponse>(shops.narrow, RETENTION, path)
  expect(rest).toEqual({
    period: { from: '2026-04-01T00:00:00Z', to: '2026-05-31T23:59:59Z' },
    query: { ...RETENTION, filters: [], filtersOperator: 'and' },
    shards: 1,
    state: STATE,
    estimatedRows: expect.any(Number),
    statement: {
      sql: expect.stringMatching(/^SELECT group_key, counts, /),
      parameters: expect.objectContaining({ p0: 'narrow' }),
      isOnly: true,
    },
  })
  const reads = [expect.objectContaining({ measures: ['users'], filteredBy: null })]
  const earlier = { from: '1970-01-01T00:00:00Z', to: '2026-03-31T23:59:59Z' }
  expect(plan).toMatchObject({
    cohorts: {
      period: rest.period,
      newUsers: { users: { period: rest.period, reads }, earlier: { period: earlier } },
    },
    later: { period: { from: '2026-06-01T00:00:00Z', to: '2026-06-15T12:34:56Z' } },
  })
})

test('for a table that lies ahead nothing is read', async () => {
  const asked = { ...RETENTION, date_range: ['2027-01-01', '2027-01-31'] }
  const path = 'retention/explain'
  expect(await explained<RetentionExplainResponse>(shops.wide, asked, path)).toEqual({
    period: { from: '2027-01-01T00:00:00Z', to: '2027-01-31T23:59:59Z' },
    query: { ...asked, filters: [], filtersOperator: 'and' },
    plan: {},
    shards: 2,
    state: STATE,
    estimatedRows: 0,
  })
})

test('of a funnel it shows that events are read, and why nothing else', async () => {
  const path = 'funnel/explain'
  const { plan, ...rest } = await explained<FunnelExplainResponse>(shops.narrow, FUNNEL, path)
  expect(rest).toEqual({
    period: { from: '2026-05-17T00:00:00Z', to: '2026-06-15T12:34:56Z' },
    query: { ...FUNNEL, within: 'visit', filters: [], filtersOperator: 'and' },
    shards: 1,
    state: STATE,
    estimatedRows: expect.any(Number),
    statement: {
      sql: expect.stringMatching(/^SELECT CAST\(\[count\(\), countIf\(step_2_gap > 0\)\]/),
      parameters: expect.objectContaining({ p0: 'narrow' }),
      isOnly: true,
    },
  })
  expect(plan).toEqual({
    period: rest.period,
    reads: [{ relation: 'events', measures: ['users'], periods: [rest.period], filteredBy: null }],
    rejected: ['users_monthly', 'users_daily', 'whole_sessions'].map((relation) => ({
      relation,
      measures: ['users'],
      reason: 'it does not know the order of events',
    })),
    userCounting: 'all',
    considered: [{ name: 'events', ms: expect.any(Number), isChosen: true }],
  })
})

test.each([
  ['retention', { ...RETENTION, ...SECRET }],
  ['funnel', FUNNEL],
  [
    'journeys',
    { date_range: '30days', from: { filters: [...SECRET.filters, ANY], filtersOperator: 'or' } },
  ],
])('the values of %s are parameters only, and the database can run it', async (name, body) => {
  const { reader } = shops.cluster.home.store
  for (const shop of [shops.narrow, shops.wide]) {
    const path = `${name}/explain`
    const { statement: planned } = await explained<FunnelExplainResponse>(shop, body, path)
    expect(planned.sql).not.toMatch(/secret|narrow|'wide/)
    expect(/\sFROM cluster\(/.test(planned.sql)).toBe(shop === shops.wide)
    const values = Object.values(planned.parameters)
    expect(values).toEqual(expect.arrayContaining([shop.id, ["it's secret"]]))
    if (shop === shops.wide) continue
    const query_params = planned.parameters as Record<string, string>
    const { rows } = await reader.query({ query: planned.sql, query_params })
    expect(rows.length).toBeGreaterThan(0)
  }
})

test.each<[string, string, unknown, string]>([
  ['too many counts', 'retention', { ...RETENTION, intervals: 9_999 }, 'interval'],
  ['another interval', 'retention', { ...RETENTION, interval: 'hour' }, 'interval'],
  ['one step', 'funnel', { ...FUNNEL, steps: [SECRET] }, 'steps'],
  ['no period', 'funnel', { steps: FUNNEL.steps }, 'date_range'],
])('%s is refused as by the operation itself', async (_, name, body, field) => {
  const refused = await read(await post(shops.service, shops.narrow, `${name}/explain`, body))
  const alone = await read(await post(shops.service, shops.narrow, name, body))
  expect(refused).toEqual(alone)
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    400,
    expect.stringContaining(`"field":"${field}"`),
  ])
})
