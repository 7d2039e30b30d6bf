/** Public dashboards over a real store: they answer what a key of the project is answered, as long as the project is public. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RunningService } from '../../../../src/bootstrap/serving/start-service.js'
import { updateProject, requireProject } from '../../../../src/projects/store.js'
import { post, startShops, type Shop, type Shops } from '../../tools/shops.js'

const PERIOD = { date_range: ['2026-06-01', '2026-06-14'] }
const STEPS = [
  { type: 'page', path: { operator: 'is', value: '/' } },
  { type: 'event', name: 'signup' },
]
const FUNNEL = { ...PERIOD, steps: STEPS }
const QUERY = { ...PERIOD, metrics: ['users', 'visits', 'bounce_rate'], group_by: ['country'] }
const BATCH = {
  queries: [
    { id: 'a', operation: 'query', body: QUERY },
    { id: 'b', operation: 'values', body: { ...PERIOD, field: 'page:path' } },
    { id: 'c', operation: 'funnel', body: FUNNEL },
    { id: 'd', operation: 'query', body: { date_range: 'never' } },
  ],
}
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

const view = (
  name: string,
  operation: string,
  body: unknown,
  headers: Record<string, string> = {},
  { address }: Pick<RunningService, 'address'> = shops.service,
): Promise<Response> =>
  fetch(`${address}/share/${name}/v1/analytics/${operation}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

const readBytes = async (response: Response) => ({
  status: response.status,
  type: response.headers.get('content-type'),
  etag: response.headers.get('etag'),
  bytes: Buffer.from(await response.arrayBuffer()).toString('latin1'),
})

describe.each<[string, () => Shop]>([
  ['a project on one shard', () => shops.narrow],
  ['a project on two shards', () => shops.wide],
])('%s', (_place, getShop) => {
  test.each(BODIES)('%s %j: the bytes that a key gets', async (operation, body) => {
    const shop = getShop()
    const ofKey = await readBytes(await post(shops.service, shop, operation, body))
    expect(await readBytes(await view(shop.id, operation, body))).toEqual(ofKey)
    const { token } = await requireProject(shops.cluster.home.store.reader, shop.id)
    expect(await readBytes(await view(token, operation, body))).toEqual(ofKey)
  })
})
