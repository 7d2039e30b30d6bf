/** Public dashboards over a real store: they answer what a key of the project is answered. */
import { MEDIA_TYPES } from '../../../../src/contract/answer-formats.js'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { updateProject, requireProject } from '../../../../src/projects/store.js'
import { post, startShops, type Shop, type Shops } from '../../tools/shops.js'
import { BATCH, FUNNEL, PERIOD, QUERY, readBytes, view } from './view.js'

const BODIES: readonly (readonly [string, object])[] = [
  ['query', QUERY],
  ['query', { date_range: '7days', group_by: ['interval:auto'] }],
  ['values', { ...PERIOD, field: 'page:path' }],
  ['retention', { ...PERIOD, interval: 'day' }],
  ['funnel', FUNNEL],
  ['batch', BATCH],
  ['explain', QUERY],
  ['retention/explain', { ...PERIOD, interval: 'day' }],
  ['funnel/explain', FUNNEL],
  ['query', { ...PERIOD, metrics: ['nothing'] }],
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
  test.each(BODIES)('%s %j: the bytes that a key gets', async (operation, body) => {
    const shop = getShop()
    const ofKey = await readBytes(await post(shops.service, shop, operation, body))
    expect(await readBytes(await view(shop.id, operation, body, shops.service))).toEqual(ofKey)
    const { token } = await requireProject(shops.cluster.home.store.reader, shop.id)
    expect(await readBytes(await view(token, operation, body, shops.service))).toEqual(ofKey)
  })
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
  const ofWide = await readBytes(await post(shops.service, shops.wide, 'explain', QUERY))
  expect(await readBytes(await view('wide', 'explain', QUERY, shops.service, key))).toEqual(ofWide)
})

test.each(Object.values(MEDIA_TYPES))(
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
