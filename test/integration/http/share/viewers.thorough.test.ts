/** Public dashboards in several processes: they end everywhere, and many viewers cost the store what one does. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { RunningService } from '../../../../src/bootstrap/serving/start-service.js'
import type { Connection } from '../../../../src/clickhouse/connection.js'
import type { Cluster, Shard } from '../../../../src/cluster/cluster.js'
import { requireProject, updateProject } from '../../../../src/projects/store.js'
import { startTestService } from '../../../support/world/service.js'
import { NOW } from '../../../support/world/world.js'
import { startShops, type Shops } from '../../tools/shops.js'
import { BATCH, QUERY, readBytes, view } from './view.js'
import { until } from '../../../support/until.js'

let shops: Shops
beforeAll(async () => {
  shops = await startShops()
  await share('narrow', true)
  await share('wide', true)
})
afterAll(() => shops.stop())

const share = (id: string, hasPublicDashboard: boolean) =>
  updateProject(shops.cluster.home.store, id, { hasPublicDashboard })

test('turned off, it is gone within five seconds in every process, like a project that never was', async () => {
  const { cluster, service } = shops
  const second = await shops.start()
  const services = [service, second]
  const ask = (name: string, one: RunningService) => view(name, 'query', QUERY, one)
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

/** Responses that are computed again because the service was too busy to learn in time that the data had not changed. */
const FEW = 20

/**
 * Starts a service, and lets many viewers send the same queries at once: first when no response is kept, then when all are. Returns the
 * different answers, and the statements of both times.
 */
async function countForViewers(viewers: number) {
  const { cluster, countQueries } = countReads(shops.cluster)
  const store = cluster.home.store
  const service = await startTestService({ store, cluster, now: () => NOW })
  const ask = async () => (await view('narrow', 'batch', BATCH, service)).text()
  const askAll = () => Promise.all(Array.from({ length: viewers }, ask))
  const texts = await askAll()
  const unknown = countQueries()
  for (const { operation, body } of BATCH.queries.slice(0, 2)) {
    const find = async () => (await view('narrow', operation, body, service)).headers
    while ((await find()).get('tally-cache') !== 'hit');
  }
  const before = countQueries()
  texts.push(...(await askAll()))
  const known = countQueries() - before
  await service.stop()
  return { texts: [...new Set(texts)], unknown, known }
}

test('two hundred viewers cost the store little more than one does', async () => {
  const one = await countForViewers(1)
  expect([one.texts.length, one.unknown > 0]).toEqual([1, true])
  // On a busy machine the store may say too late that nothing changed: then most of them are answered, or refused, again.
  await until(async () => {
    const { texts, unknown, known } = await countForViewers(200)
    const isCheap = unknown - one.unknown < FEW && known < FEW
    return isCheap && isDeepStrictEqual(texts, one.texts)
  })
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
