/** Public dashboards over a real store: they answer what a key of the project is answered, as long as the project is public. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RunningService } from '../../../../src/bootstrap/serving/start-service.js'
import { updateProject, requireProject } from '../../../../src/projects/store.js'
import type { Connection } from '../../../../src/clickhouse/connection.js'
import type { Cluster, Shard } from '../../../../src/cluster/cluster.js'
import { startTestService } from '../../../support/world/service.js'
import { NOW } from '../../../support/world/world.js'
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
    expect(await readBytes(await view('narrow', 'query', body, {}, service))).toEqual(ofKey)
    expect(ofKey.status).toBe(body.date_range === 'today' ? 200 : 403)
  }
  await service.stop()
  await updateProject(store, 'narrow', { retentionDays: null })
})

test('a dashboard answers of its own project, whichever key is sent with it', async () => {
  const key = { Authorization: `Bearer ${shops.narrow.key}` }
  const ofWide = await readBytes(await post(shops.service, shops.wide, 'explain', QUERY))
  expect(await readBytes(await view('wide', 'explain', QUERY, key))).toEqual(ofWide)
})

test('turned off, it is gone within five seconds in every process, like a project that never was', async () => {
  const { cluster, service } = shops
  const second = await shops.start()
  const services = [service, second]
  const ask = (name: string, one: RunningService) => view(name, 'query', QUERY, {}, one)
  const { token } = await requireProject(cluster.home.store.reader, 'wide')
  for (const one of services) expect((await ask('wide', one)).status).toBe(200)
  await share('wide', false)
  await sleep(4_500)
  for (const one of services) {
    const never = await readBytes(await ask('never', one))
    expect(never).toMatchObject({ status: 404, etag: null })
    expect(await readBytes(await ask('wide', one))).toEqual(never)
    expect(await readBytes(await ask(token, one))).toEqual(never)
    const pages = await Promise.all(
      ['wide', token, 'never'].map((name) => fetch(`${one.address}/share/${name}`)),
    )
    expect(pages.map(({ status }) => status)).toEqual([404, 404, 404])
    expect(new Set(await Promise.all(pages.map((page) => page.text()))).size).toBe(1)
    expect((await ask('narrow', one)).status).toBe(200)
  }
  await second.stop()
})

test('two hundred viewers cost the store what one does', async () => {
  const runs: number[] = []
  for (const viewers of [1, 200]) {
    const { cluster, countQueries } = countReads(shops.cluster)
    const store = cluster.home.store
    const service = await startTestService({ store, cluster, now: () => NOW })
    const queries = BATCH.queries.filter(({ operation }) => operation !== 'values')
    const ask = async () => (await view('narrow', 'batch', { queries }, {}, service)).text()
    const texts = await Promise.all(Array.from({ length: viewers }, ask))
    expect(new Set(texts).size).toBe(1)
    runs.push(countQueries())
    await service.stop()
  }
  expect(runs[0]).toBeGreaterThan(0)
  expect(runs[1]).toBe(runs[0])
})

/** Counts the statements that a service runs for questions, apart from its lookups. */
function countReads({ home, shards }: Cluster) {
  let queries = 0
  const count = (shard: Shard): Shard => {
    const { reader } = shard.store
    const query: Connection['query'] = (...args) => {
      queries++
      return reader.query(...args)
    }
    return { ...shard, store: { ...shard.store, reader: { ...reader, query } } }
  }
  const counted = new Map(shards.map((shard) => [shard.name, count(shard)]))
  const [first, ...others] = shards.map(({ name }) => counted.get(name)!)
  const cluster: Cluster = { home: counted.get(home.name)!, shards: [first!, ...others] }
  return { cluster, countQueries: () => queries }
}
