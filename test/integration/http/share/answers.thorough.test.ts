/** Public dashboards over a real store: they answer what a key of the project is answered. */
import { MEDIA_TYPES } from '../../../../src/contract/response-formats.js'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { ExplainResponse } from '../../../../src/contract/api.js'
import { isAnswered, OPERATIONS } from '../../../../src/analytics/operations/list.js'
import { updateProject, requireProject } from '../../../../src/projects/store.js'
import { getExampleBody } from '../../../contract/document.js'
import { sample } from '../../../support/effort.js'
import { post, startShops, type Shop, type Shops } from '../../tools/shops.js'
import { BATCH, PERIOD, QUERY, readBytes, view } from './view.js'

const ANSWERED = OPERATIONS.filter(isAnswered)
/** The name of a path below that of the dashboard. */
const cut = (path: string): string => path.replace('/v1/analytics/', '')
const getBody = (path: string): object => ({ ...getExampleBody(path), ...PERIOD })

const BODIES: readonly (readonly [string, object])[] = [
  ...ANSWERED.map(({ path }) => [cut(path), getBody(path)] as const),
  ['query', QUERY],
  ['query', { date_range: '7days', group_by: ['interval:auto'] }],
  ['batch', BATCH],
  ['query', { ...PERIOD, metrics: ['nothing'] }],
]

/** Requests whose plans have others in them. */
const EXPLAINED: readonly (readonly [string, object])[] = [
  ['explain', { ...QUERY, compare: 'previous_period', include: { totals: true } }],
  ...ANSWERED.flatMap(({ path, explained }) =>
    explained === undefined ? [] : [[cut(explained.path), getBody(path)] as const],
  ),
]

let shops: Shops
beforeAll(async () => {
  shops = await startShops()
  await share('narrow', true)
  await share('wide', true)
})
afterAll(() => shops.stop())

const share = (id: string, hasPublicDashboard: boolean) =>
  updateProject(shops.cluster.home.store, id, { hasPublicDashboard })

describe.each<[string, () => Shop]>([
  ['a project on one shard', () => shops.narrow],
  ['a project on two shards', () => shops.wide],
])('%s', (_place, getShop) => {
  test.each(sample(BODIES, 1))('%s %j: the bytes that a key gets', async (operation, body) => {
    const shop = getShop()
    const ofKey = await readBytes(await post(shops.service, shop, operation, body))
    expect(await readBytes(await view(shop.id, operation, body, shops.service))).toEqual(ofKey)
    const { token } = await requireProject(shops.cluster.home.store.reader, shop.id)
    expect(await readBytes(await view(token, operation, body, shops.service))).toEqual(ofKey)
  })

  test.each(sample(EXPLAINED, 1))(
    '%s: the plan in words, without SQL and sizes',
    async (operation, body) => {
      const shop = getShop()
      const read = async (response: Response) => (await response.json()) as ExplainResponse
      const ofKey = await read(await post(shops.service, shop, operation, body))
      expect(JSON.stringify(ofKey.plan)).toMatch(/"considered":\[\{/)
      const text = JSON.stringify(ofKey.plan, (name, value: unknown) =>
        name === 'considered' ? [] : value,
      )
      const ofViewer = await read(await view(shop.id, operation, body, shops.service))
      expect(ofViewer).toEqual({
        ...ofKey,
        plan: JSON.parse(text) as unknown,
        estimatedRows: null,
        statement: { sql: '', parameters: {}, isOnly: ofKey.statement.isOnly },
      })
      expect(JSON.stringify(ofViewer)).not.toContain(shop.id)
    },
  )
})

test('what a key gets for a period before the retention, viewers get as well', async () => {
  const store = shops.cluster.home.store
  await updateProject(store, 'narrow', { retentionDays: 5 })
  const service = await shops.start()
  for (const body of [
    QUERY,
    { ...QUERY, date_range: '7days' },
    { ...QUERY, date_range: 'today' },
  ]) {
    const ofKey = await readBytes(await post(service, shops.narrow, 'query', body))
    expect(await readBytes(await view('narrow', 'query', body, service))).toEqual(ofKey)
    expect(ofKey.status).toBe(body.date_range === 'today' ? 200 : 403)
  }
  await service.stop()
  await updateProject(store, 'narrow', { retentionDays: null })
})

test('a dashboard answers of its own project, whichever key is sent with it', async () => {
  const key = { Authorization: `Bearer ${shops.narrow.key}` }
  const ofWide = await readBytes(await post(shops.service, shops.wide, 'query', QUERY))
  expect(await readBytes(await view('wide', 'query', QUERY, shops.service, key))).toEqual(ofWide)
})

test.each(sample(Object.values(MEDIA_TYPES), 1))(
  '%s: the bytes that a key gets, also streamed',
  async (type) => {
    const { address } = shops.service
    const headers = { 'Content-Type': 'application/json', Accept: type }
    const ask = async (base: string, body: object, more: Record<string, string> = {}) => {
      const init = { method: 'POST', body: JSON.stringify(body), headers: { ...headers, ...more } }
      return readBytes(await fetch(`${address}${base}/v1/analytics/query`, init))
    }
    for (const body of [QUERY, { ...QUERY, limit: 'all' }]) {
      const ofKey = await ask('', body, { Authorization: `Bearer ${shops.wide.key}` })
      expect(await ask('/share/wide', body)).toEqual(ofKey)
      expect(ofKey.status).toBe(type === MEDIA_TYPES.json && 'limit' in body ? 400 : 200)
    }
  },
)
