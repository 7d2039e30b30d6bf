/** A project moves from a single server to replicas, of which the active one is then killed, and loses and doubles no event. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createAddresses } from '../../../src/clickhouse/embedded/member.js'
import { toCluster } from '../../../src/cluster/cluster.js'
import { readRollupState } from '../../../src/rollups/progress.js'
import { startServer, type Server } from '../../support/engine/server.js'
import { compareMarks, expectConsistent, listRemainingWork } from '../../support/kills/check.js'
import { startSenders } from '../../support/kills/senders.js'
import { describeReplicated } from '../../support/replicas/describe-replicated.js'
import { findActiveName, hashTables, untilAlike } from '../../support/replicas/replicated-store.js'
import { startReplicas, type ReplicaGroup } from '../../support/replicas/replicas.js'
import { createServices, type Service, type Services } from '../../support/replicas/services.js'
import { until } from '../../support/until.js'

const SEED = Number(process.env['KILLS_SEED'] ?? Math.floor(Math.random() * 1e9))
const TIMEOUT_MS = 600_000

describeReplicated('a shard with replicas', () => {
  let group: ReplicaGroup
  let home: Server
  let services: Services
  let service: Service
  beforeAll(async () => {
    group = await startReplicas()
    const [address] = await createAddresses(1)
    const { accounts } = group.replicas[0].endpoint
    const { nativePort } = address!
    const endpoint = { ...address!.endpoint, accounts }
    home = await startServer(undefined, undefined, { endpoint, nativePort, files: [] })
    services = await createServices(group, { name: 'home', endpoint, nativePort })
    service = await services.serve()
  })
  afterAll(async () => {
    await services.stop()
    await home.stop()
    await group.stop()
  })

  test(
    `gets a project from a single server, and survives a kill (seed ${SEED})`,
    async () => {
      const [a, b] = group.replicas
      const stores = new Map([a, b].map((one) => [one, services.openReplica(one)]))
      const made = await services.succeed(
        ...['project', 'create', '--name', 'shop', '--id', 'shop', '--domain', 'shop.example'],
        ...['--shard', 'home'],
      )
      const senders = startSenders({
        ...{ seed: SEED, clients: 3, address: () => service.address },
        token: /tallypub_\w+/.exec(made)![0],
      })
      const untilAccepted = async (): Promise<void> => {
        const before = senders.acknowledged.size
        await until(() => senders.acknowledged.size > before + 100)
      }
      await untilAccepted()
      await services.succeed('project', 'move', 'shop', '--to', 'shard1')
      await untilAccepted()

      const isFirst = (await findActiveName(stores.get(a)!)) === a.name
      const [killed, left] = isFirst ? [a, b] : [b, a]
      const store = stores.get(left)!
      await killed.kill()
      await until(async () => (await findActiveName(store)) === left.name)
      await untilAccepted()
      await killed.start()
      await senders.stop()

      const cluster = toCluster(store)
      await until(async () => (await listRemainingWork(cluster)).length === 0)
      await until(async () => (await readRollupState(store.writer)) === 'current')
      expect(await compareMarks(cluster, 'shop', senders)).toMatchObject({
        lost: [],
        doubled: [],
        unknown: [],
      })
      await expectConsistent(cluster, 'shop')
      expect((await compareMarks(toCluster(home.store), 'shop', senders)).stored).toBe(0)
      await untilAlike([...stores.values()])
      expect(await hashTables(stores.get(a)!)).toEqual(await hashTables(stores.get(b)!))
    },
    TIMEOUT_MS,
  )
})
