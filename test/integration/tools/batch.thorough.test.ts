/** The law of batches: each result is the answer that the query gets alone. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { mapWithLimit } from '../../../src/http/batch/post-batch.js'
import { question } from '../../support/arbitrary/questions.js'
import { post, read, startShops, type Shops } from './shops.js'

let shops: Shops
beforeAll(async () => {
  shops = await startShops()
})
afterAll(() => shops.stop())

interface Asked {
  readonly operation?: 'query' | 'values' | 'retention' | 'funnel'
  readonly body: unknown
}

const SIGNUP = { filters: [{ type: 'event', name: { operator: 'eq', value: 'signup' } }] }

/** Every kind of answer and of refusal that a query may get. */
const FIXED: readonly Asked[] = [
  { body: { date_range: 'all', metrics: ['users', 'visits'], group_by: ['country'] } },
  { body: { date_range: 'today' } },
  { body: { date_range: '30days', group_by: ['interval:auto'], include: { totals: true } } },
  { operation: 'values', body: { field: 'country', date_range: '30days' } },
  { operation: 'values', body: { field: 'interval:day', date_range: '30days' } },
  { operation: 'values', body: {} },
  { operation: 'retention', body: { interval: 'day', date_range: '30days', intervals: 3 } },
  { operation: 'retention', body: { interval: 'hour', date_range: '30days' } },
  { operation: 'funnel', body: { date_range: '30days', steps: [{ filters: [] }, SIGNUP] } },
  { operation: 'funnel', body: { date_range: 'all', steps: [{ filters: [] }], within: 0 } },
  { body: { date_range: 'someday', limit: 0, filters: [{ type: 'os' }] } },
  { body: { date_range: ['2026-01-02', '2026-01-01'] } },
  { body: {} },
  { body: [] },
  { body: null },
  { body: 'today' },
  { body: 7 },
]

const SEED = Number(process.env['LAWS_SEED'] ?? 20_260_615)
const RANDOM = fc
  .sample(question, { seed: SEED, numRuns: 12 })
  .map(({ asked }): Asked => ({ body: asked }))

test.each<[string, readonly Asked[]]>([
  ['answers and refusals', FIXED],
  ['random queries', RANDOM],
])('each result is the answer alone, on one shard and across two: %s', async (_, asked) => {
  for (const shop of [shops.narrow, shops.wide]) {
    const queries = asked.map((one, i) => ({ id: `q${i}`, ...one }))
    const batch = await read(await post(shops.service, shop, 'batch', { queries }))
    // No more at once than a key may have.
    const alone = await mapWithLimit(queries, 4, async ({ id, operation = 'query', body }) => ({
      id,
      ...(await read(await post(shops.service, shop, operation, JSON.stringify(body)))),
    }))
    expect(batch).toEqual({ status: 200, body: { results: alone } })
    expect(JSON.stringify(batch.body)).toBe(JSON.stringify({ results: alone }))
  }
})

interface Timed {
  readonly results: readonly {
    readonly timing?: { readonly milliseconds: number; readonly cache: string }
  }[]
}

test('each answer says how long it took and how it was found, if the batch asks for it', async () => {
  const filters = [{ type: 'browser', operator: 'oneOf', value: ['Timed'] }]
  const queries = [
    { id: 'query', body: { date_range: ['2026-06-01', '2026-06-04'], filters } },
    {
      id: 'values',
      operation: 'values',
      body: { field: 'os', date_range: ['2026-06-01', '2026-06-04'], filters },
    },
    { id: 'wrong', body: {} },
  ]
  for (const shop of [shops.narrow, shops.wide]) {
    const ask = async (body: object) => {
      const answer = await read(await post(shops.service, shop, 'batch', { queries, ...body }))
      return answer.body as Timed
    }
    // An answer is kept soon after it was given.
    const askUntilHit = async (): Promise<Timed> => {
      const answer = await ask({ include: { timing: true } })
      return answer.results.some(({ timing }) => timing?.cache === 'miss') ? askUntilHit() : answer
    }
    const timed = [await ask({ include: { timing: true } }), await askUntilHit()]
    const milliseconds: unknown = expect.any(Number)
    expect(timed.map(({ results }) => results.map(({ timing }) => timing))).toEqual([
      [{ milliseconds, cache: 'miss' }, { milliseconds, cache: 'miss' }, undefined],
      [{ milliseconds, cache: 'hit' }, { milliseconds, cache: 'hit' }, undefined],
    ])
    const plain = JSON.stringify(await ask({}))
    expect(JSON.stringify(await ask({ include: {} }))).toBe(plain)
    expect(JSON.stringify(await ask({ include: { timing: false } }))).toBe(plain)
    const stripped = timed.map(({ results }) => ({
      results: results.map((result) => ({ ...result, timing: undefined })),
    }))
    expect(stripped.map((one) => JSON.stringify(one))).toEqual([plain, plain])
  }
})

test('what a batch cannot include is refused by its name', async () => {
  const queries = [{ id: 'a', body: { date_range: 'today' } }]
  const body = { queries, include: { totals: true, timing: 1 } }
  expect(await read(await post(shops.service, shops.narrow, 'batch', body))).toMatchObject({
    status: 400,
    body: {
      error: {
        code: 'VALIDATION_ERROR',
        details: expect.arrayContaining([
          { field: 'include.timing', message: expect.any(String) },
          { field: 'include.totals', message: 'is not a known property' },
        ]),
        docs: '/docs/errors#validation_error',
      },
    },
  })
})

test('a batch is refused as a whole without a key, with another form, and beyond its size', async () => {
  const { service, narrow } = shops
  const queries = [{ id: 'a', body: { date_range: 'today' } }]
  const status = async (body: unknown, key = narrow.key) =>
    (await post(service, { key }, 'batch', body)).status
  expect(await status({ queries })).toBe(200)
  expect(await status({ queries }, 'th_none')).toBe(401)
  expect(await status({ queries: [...queries, ...queries] })).toBe(400)
  expect(await status({ queries: [{ id: 'a', body: { text: 'x'.repeat(65_536) } }] })).toBe(413)
  expect(await status('{')).toBe(400)
})
