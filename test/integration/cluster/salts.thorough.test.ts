/** The salts of days in a cluster: users without an id are the same on every shard. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Cluster, Shard } from '../../../src/cluster/cluster.js'
import { createSaltMaking, createSaltSharing, type ShareSalts } from '../../../src/cluster/salts.js'
import { StoreUnavailableError } from '../../../src/clickhouse/errors.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import { createProject } from '../../../src/cluster/directory.js'
import { loadWaiting } from '../../../src/ingest/loader/loader.js'
import { withLoaderLease } from '../../../src/ingest/loader/with-loader-lease.js'
import { createShards, type TestShards } from '../../support/cluster/shard-databases.js'
import { select } from '../../support/store/facts.js'
import { createContext } from '../../support/store/loading.js'
import { feed } from '../../support/store/stream.js'

const ALL = ['shard1', 'shard2', 'shard3']

let shards: TestShards
let cluster: Cluster

beforeAll(async () => {
  shards = await createShards(3)
  cluster = shards.cluster
  await createProject(
    cluster,
    { id: 'shop', name: 'Shop', domain: 'shop.example' },
    new Date('2026-01-01T00:00:00Z'),
    ALL,
  )
})
afterAll(() => shards.drop())

const event = (day: string, user_id?: string, time = '10:00'): object => ({
  timestamp: `${day}T${time}:00Z`,
  name: 'pageview',
  url: 'https://shop.example/',
  ip: '192.0.2.1',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
  ...(user_id === undefined ? {} : { user_id }),
})

const share = (home: Shard, shard: Shard): ShareSalts =>
  (shard.name === home.name ? createSaltMaking : createSaltSharing)(home.store.writer)

const load = ({ store: { writer } }: Shard, shareSalts: ShareSalts): Promise<void> =>
  withLoaderLease(writer, (fenced) => loadWaiting(fenced, { ...createContext(), shareSalts }))

const readUsers = async ({ store }: Shard): Promise<readonly string[]> =>
  (
    await select<{ user_id: string }>(
      store,
      sql`SELECT user_id FROM users WHERE project_id = 'shop' ORDER BY user_id`,
    )
  ).map((row) => row.user_id)

const readSalts = (shard: Shard): Promise<readonly object[]> =>
  select(
    shard.store,
    sql`SELECT toString(day) AS name, salt, toString(created_at) AS at FROM salts ORDER BY day`,
  )

test('a derived user is the same on every shard, whichever loads first', async () => {
  const days = ['2026-03-01', '2026-03-02']
  for (const { store } of cluster.shards)
    await feed(
      store,
      'shop',
      days.map((day) => event(day)),
    )
  // At the same moment.
  await Promise.all(cluster.shards.map((shard) => load(shard, share(cluster.home, shard))))
  const [home, ...others] = await Promise.all(cluster.shards.map(readUsers))
  expect(home).toHaveLength(2)
  expect(others).toEqual([home, home])
  const [salts, ...copies] = await Promise.all(cluster.shards.map(readSalts))
  expect(salts).toHaveLength(2)
  expect(copies).toEqual([salts, salts])
})

test('while the home is away, loads wait that need a new salt', async () => {
  const [, shard] = cluster.shards
  const { home } = shards.without('shard1')
  if (shard === undefined) throw new Error('no shard')
  const shareNone = createSaltSharing(home.store.writer)
  await feed(shard.store, 'shop', [event('2026-03-01'), event('2026-03-03', 'named')])
  await load(shard, shareNone)
  const before = await readUsers(shard)
  expect(before).toContain('named')

  await feed(shard.store, 'shop', [event('2026-03-03')])
  await expect(load(shard, shareNone)).rejects.toThrow(StoreUnavailableError)
  await expect(load(shard, shareNone)).rejects.toThrow(StoreUnavailableError)
  expect(await readUsers(shard)).toEqual(before)
  await load(shard, share(cluster.home, shard))
  expect(await readUsers(shard)).toHaveLength(before.length + 1)
  expect(await select(shard.store, sql`SELECT count() AS n FROM rejections`)).toEqual([{ n: 0 }])
})

test('a visit goes on after midnight on a shard that did not need the salt of yesterday', async () => {
  const [, shard] = cluster.shards
  if (shard === undefined) throw new Error('no shard')
  const shareSalts = share(cluster.home, shard)
  await feed(shard.store, 'shop', [event('2026-03-05', undefined, '23:58')])
  await load(shard, shareSalts)
  const before = await readUsers(shard)
  // As if the visit had begun on another shard, from which the project has moved.
  await shard.store.writer.execute(statement(sql`TRUNCATE TABLE salts`))
  await feed(shard.store, 'shop', [event('2026-03-06', undefined, '00:02')])
  await load(shard, shareSalts)
  expect(await readUsers(shard)).toEqual(before)
  await feed(shard.store, 'shop', [event('2026-03-06', undefined, '00:33')])
  await load(shard, shareSalts)
  expect(await readUsers(shard)).toHaveLength(before.length + 1)
  // No salts are made for days that have no events.
  expect(
    await select(cluster.home.store, sql`SELECT day FROM salts WHERE day > '2026-03-06'`),
  ).toEqual([])
})

test('a salt that is about to expire is followed by another of the home', async () => {
  const day = '2026-03-04'
  for (const { store } of cluster.shards) {
    await store.writer.execute(
      statement(sql`
INSERT INTO salts (day, salt, created_at) SELECT toDate('2026-03-04'), 'old', now() - INTERVAL 2850 MINUTE`),
    )
  }
  const [home, shard] = cluster.shards
  expect(await share(home, home)([day])).toEqual([])
  const salts = shard === undefined ? [] : await share(home, shard)([day])
  expect(salts).toEqual([
    { day, salt: expect.stringMatching(/^[0-9a-f]{32}$/), created_at: expect.any(String) },
  ])
})
