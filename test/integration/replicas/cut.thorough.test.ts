/** Services that lose an engine, Keeper, or their own time, and go on later: no response is old, and no event counts twice. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../../src/clickhouse/store.js'
import { toCluster } from '../../../src/cluster/cluster.js'
import { startByteProxy, type ByteProxy } from '../../support/faults/byte-proxy.js'
import { compareMarks, expectConsistent, listRemainingWork } from '../../support/kills/check.js'
import { describeReplicated } from '../../support/replicas/describe-replicated.js'
import { findActiveName, hashTables, untilAlike } from '../../support/replicas/replicated-store.js'
import { startReplicas, type ReplicaGroup, type Replica } from '../../support/replicas/replicas.js'
import { createServices, type Service, type Services } from '../../support/replicas/services.js'
import { visit, type Visitors } from '../../support/replicas/visitors.js'
import { until } from '../../support/until.js'

const PROJECT = 'visited'
/** Longer than a replica is trusted (8 s), and than a lease lasts (10 s). */
const CUT_MS = 15_000
const KEEPER_AWAY_MS = 60_000

describeReplicated('two services over replicas', () => {
  let group: ReplicaGroup
  let services: Services
  let stores: ReadonlyMap<Replica, Store>
  /** Between the second service and replica a. */
  let proxy: ByteProxy
  let first: Service
  let second: Service
  let tokens: { readonly publicToken: string; readonly key: string }
  const all = { acknowledged: new Set<string>(), sent: new Set<string>() }

  beforeAll(async () => {
    group = await startReplicas()
    services = await createServices(group)
    const [a] = group.replicas
    const port = new URL(a.endpoint.url).port
    proxy = await startByteProxy(Number(port))
    const text = await readFile(services.env['CLUSTER']!, 'utf8')
    const file = path.join(services.env['DATA_DIR']!, 'behind-proxy.yaml')
    await writeFile(
      file,
      text.replace(a.endpoint.url, a.endpoint.url.replace(port, String(proxy.port))),
    )
    first = await services.serve()
    second = await services.serve({ CLUSTER: file })
    stores = new Map(group.replicas.map((one) => [one, services.openReplica(one)]))
    const made = await services.succeed(
      ...['project', 'create', '--id', PROJECT, '--name', PROJECT, '--domain', 'shop.example'],
    )
    const issued = await services.succeed('key', 'issue', '--project', PROJECT, '--name', 'test')
    tokens = {
      publicToken: /tallypub_\w+/.exec(made)![0],
      key: /^tallykey_\S+/m.exec(issued)![0],
    }
  })
  afterAll(async () => {
    await services.stop()
    await proxy.stop()
    await group.stop()
  })

  const findActive = async (asked = group.replicas[0]): Promise<Replica> => {
    const name = await findActiveName(stores.get(asked)!)
    return group.replicas.find((one) => one.name === name)!
  }
  const activate = async (name: string): Promise<void> => {
    expect(await services.run('cluster', 'activate', 'shard1', name)).toMatchObject({ code: 0 })
  }
  /** Waits until both services accept events and answer queries with more events. */
  const untilUsed = async (visitors: Visitors): Promise<void> => {
    const { length } = visitors.loaded
    const [accepted, answered] = [visitors.accepted.length, visitors.answered.length]
    await until(
      () =>
        visitors.loaded.length > length + 1 &&
        visitors.accepted.length > accepted + 10 &&
        visitors.answered.length > answered + 3,
    )
  }
  /** Lets something happen while both services are visited. */
  const whileVisited = async (happen: (visitors: Visitors) => Promise<void>): Promise<Visitors> => {
    const addresses = [first.address, second.address]
    const name = `v${all.sent.size}-`
    const visitors = visit({ addresses, ...tokens, rate: 20, name })
    await untilUsed(visitors)
    await happen(visitors)
    await untilUsed(visitors)
    await visitors.stop()
    for (const mark of visitors.acknowledged) all.acknowledged.add(mark)
    for (const mark of visitors.sent) all.sent.add(mark)
    expect(visitors).toMatchObject({ older: [], withoutAdvice: [] })
    await untilAlike([...stores.values()])
    const cluster = toCluster(stores.get(await findActive())!)
    await until(async () => (await listRemainingWork(cluster)).length === 0)
    const exact = { lost: [], doubled: [], unknown: [] }
    expect(await compareMarks(cluster, PROJECT, all)).toMatchObject(exact)
    await expectConsistent(cluster, PROJECT)
    await untilAlike([...stores.values()])
    const [one, other] = await Promise.all([...stores.values()].map((store) => hashTables(store)))
    expect(other).toEqual(one)
    return visitors
  }

  test('stops answering in a service that is cut off from the active replica', async () => {
    await activate('a')
    await whileVisited(async ({ outcomes }) => {
      proxy.set({ harm: 'hang', direction: 'request', after: 0 })
      await sleep(CUT_MS)
      expect(outcomes['query 503']).toBeGreaterThan(0)
      proxy.set()
      proxy.closeAll('reset')
    })
  })

  test('goes on when the active replica is suspended', async () => {
    await whileVisited(async () => {
      const suspended = await findActive()
      suspended.suspend()
      await sleep(CUT_MS)
      suspended.resume()
    })
  })

  test.each([{ victim: 'first' }, { victim: 'second' }])(
    'goes on when the $victim service is suspended while the other hands over',
    async ({ victim }) => {
      await whileVisited(async () => {
        const { pid } = victim === 'first' ? first : second
        const active = await findActive()
        process.kill(pid, 'SIGSTOP')
        await activate(active.name === 'a' ? 'b' : 'a')
        await sleep(CUT_MS)
        process.kill(pid, 'SIGCONT')
      })
    },
  )

  test('says 503 while Keeper is away for a minute, and loses nothing', async () => {
    const { outcomes } = await whileVisited(async () => {
      await group.keeper.kill()
      await sleep(KEEPER_AWAY_MS)
      await group.keeper.start()
    })
    expect(outcomes['503']).toBeGreaterThan(0)
    expect(outcomes['query 503']).toBeGreaterThan(0)
  })
})
