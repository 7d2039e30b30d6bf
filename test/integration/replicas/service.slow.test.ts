/** A service over replicas: servers and Keeper are killed while events are sent, and nothing is lost or doubled. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { toCluster } from '../../../src/cluster/cluster.js'
import { createRandom } from '../../../src/demo/random.js'
import { readRollupState } from '../../../src/rollups/progress.js'
import { IS_THOROUGH, scaled, thoroughTest } from '../../support/effort.js'
import {
  compareMarks,
  expectConsistent,
  listRemainingWork,
  type Marks,
} from '../../support/kills/check.js'
import { startSenders, type Senders } from '../../support/kills/senders.js'
import { describeReplicated } from '../../support/replicas/describe-replicated.js'
import { startReplicas, type ReplicaGroup, type Replica } from '../../support/replicas/replicas.js'
import { createServices, type Service, type Services } from '../../support/replicas/services.js'
import { findActiveName, hashTables, untilAlike } from '../../support/replicas/replicated-store.js'
import { startWork } from '../../support/replicas/work.js'
import { select } from '../../support/store/facts.js'
import { until as wait } from '../../support/until.js'

const KILLS = Number(process.env['KILLS'] ?? scaled(2))
/** How many replicas the service has. */
const COUNTS = IS_THOROUGH ? [2, 3] : [2]
/** For each kill. It only ends a test that would wait forever. */
const PATIENCE_MS = 600_000
/** How much of a log an error has. */
const LINES = 40
const SEED = Number(process.env['KILLS_SEED'] ?? Math.floor(Math.random() * 1e9))

interface Sending {
  readonly project: string
  readonly token: string
  readonly senders: Senders
}

const describeService = (count: number) =>
  describeReplicated(`a service over ${count} replicas`, () => {
    /** Defines a thorough test for so many replicas alone. */
    const testOf = (wanted: number, name: string, run: () => Promise<void>): void => {
      if (count === wanted) thoroughTest(name, run)
    }

    let group: ReplicaGroup
    let services: Services
    let service: Service
    let stores: ReadonlyMap<Replica, Store>
    beforeAll(async () => {
      group = await startReplicas(count)
      services = await createServices(group)
      service = await services.serve()
      stores = new Map(group.replicas.map((replica) => [replica, services.openReplica(replica)]))
    })
    afterAll(async () => {
      await services.stop()
      await group.stop()
    })

    /** Waits until something is so. If it is not in time, the error has what the service logged last beside its requests. */
    const until = (isSo: () => boolean | Promise<boolean>): Promise<number> =>
      wait(isSo).catch((error: unknown) => {
        const lines = service.log().split('\n')
        const own = lines.filter((line) => !line.includes('"requestId"'))
        throw new Error(own.slice(-LINES).join('\n'), { cause: error })
      })

    /** Sends events to a project of its own. */
    const startSending = async (project: string, clients: number): Promise<Sending> => {
      const made = await services.succeed(
        ...['project', 'create', '--name', project, '--id', project, '--domain', 'shop.example'],
      )
      const token = /tallypub_\w+/.exec(made)![0]
      const address = (): string => service.address
      const senders = startSenders({ seed: SEED, address, token, clients })
      await untilAccepted(senders)
      return { project, token, senders }
    }

    /** Waits until more events of the senders are accepted. */
    const untilAccepted = async (senders: Senders): Promise<void> => {
      const before = senders.acknowledged.size
      await until(() => senders.acknowledged.size > before)
    }
    /** Sends an event until it is refused. */
    const untilRefused = async (token: string, mark: string): Promise<void> => {
      const body = JSON.stringify({ user_id: 'nobody', path: '/', properties: { mark } })
      await until(async () => {
        const { status } = await fetch(`${service.address}/v1/events`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
          body,
        })
        return status === 503
      })
    }
    const readActive = (of: Replica): Promise<string> => findActiveName(stores.get(of)!)
    const getOther = ({ name }: Replica): Replica =>
      group.replicas.find((one) => one.name !== name)!
    const findActive = async (asked = group.replicas[0]): Promise<Replica> => {
      const name = await readActive(asked)
      return group.replicas.find((one) => one.name === name)!
    }
    const countEvents = async (store: Store): Promise<number> => {
      const [row] = await select<{ n: number }>(store, sql`SELECT count() AS n FROM events`)
      return row!.n
    }
    /** Waits until all that was accepted is loaded, and compares what all senders have sent. */
    const expectExact = async (project: string, senders: Marks): Promise<void> => {
      const store = stores.get(await findActive())!
      const cluster = toCluster(store)
      await until(async () => (await listRemainingWork(cluster)).length === 0)
      // A takeover may have abandoned the rollups: the service builds them anew.
      await until(async () => (await readRollupState(store.writer)) === 'current')
      expect(await compareMarks(cluster, project, senders)).toMatchObject({
        lost: [],
        doubled: [],
        unknown: [],
      })
      await expectConsistent(cluster, project)
      await untilAlike([...stores.values()])
      const [first, ...others] = await Promise.all([...stores.values()].map(hashTables))
      expect(others).toEqual(others.map(() => first))
    }

    thoroughTest('hands over to the other replica when an operator says so', async () => {
      const { project, senders } = await startSending('handed', 3)
      const next = getOther(await findActive())
      const activated = await services.run('cluster', 'activate', 'shard1', next.name)
      expect(activated).toMatchObject({ code: 0, stdout: `Replica ${next.name} is active now.\n` })
      expect(await readActive(next)).toBe(next.name)
      await untilAccepted(senders)
      const status = await services.run('cluster', 'status')
      expect(status).toMatchObject({ code: 0 })
      expect(status.stdout).toMatch(new RegExp(`shard1 +${next.name} +active .* 2\n`))
      await senders.stop()
      await expectExact(project, senders)
    })

    thoroughTest(
      'refuses events while Keeper is away, and takes them when it is back',
      async () => {
        const { project, token, senders } = await startSending('refused', 3)
        await group.keeper.kill()
        await untilRefused(token, 'refused')
        const away = await services.run('cluster', 'status')
        expect(away.code).toBe(1)
        expect(away.stdout).toContain('replica a is away')
        await group.keeper.start()
        await untilAccepted(senders)
        await senders.stop()
        await expectExact(project, { ...senders, sent: new Set([...senders.sent, 'refused']) })
      },
    )

    testOf(3, 'refuses events while one replica of three is left', async () => {
      const { project, token, senders } = await startSending('left', 3)
      const active = await findActive()
      const standby = getOther(active)
      await Promise.all([active.kill(), standby.kill()])
      await untilRefused(token, 'left')
      await standby.start()
      await untilAccepted(senders)
      await active.start()
      await senders.stop()
      await expectExact(project, { ...senders, sent: new Set([...senders.sent, 'left']) })
    })

    testOf(2, 'says that events are on one disk until the other one has fetched them', async () => {
      const { project, senders } = await startSending('alone', 3)
      const standby = getOther(await findActive())
      const run = (query: string) => stores.get(standby)!.admin.execute({ query, query_params: {} })
      const findStatus = async (wanted: RegExp): Promise<number> => {
        let code = -1
        await until(async () => {
          const status = await services.run('cluster', 'status')
          code = status.code
          return wanted.test(status.stdout)
        })
        return code
      }
      await run('SYSTEM STOP FETCHES')
      standby.suspend()
      expect(await findStatus(/on one disk only/)).toBe(1)
      await untilAccepted(senders)
      await senders.stop()
      standby.resume()
      // Both reach Keeper again, so inserts wait for both, but one of them has not fetched what it lacks.
      expect(await findStatus(/ standby .* 2\n/)).toBe(1)
      for (let n = 0; n < 5; n += 1) expect(await findStatus(/on one disk only/)).toBe(1)
      await run('SYSTEM START FETCHES')
      await until(async () => (await services.run('cluster', 'status')).code === 0)
      await expectExact(project, senders)
    })

    test(
      `goes on when ${KILLS} times a replica is killed, mostly the active one (seed ${SEED})`,
      async () => {
        const random = createRandom(SEED)
        const { project, senders } = await startSending('killed', 6)
        const work = IS_THOROUGH ? await startWork(services) : undefined
        for (let n = 0; n < KILLS; n += 1) {
          const active = await findActive()
          const killed = random.below(4) === 0 ? getOther(active) : active
          const left = getOther(killed)
          work?.begin(n)
          await sleep(random.below(3_000))
          await killed.kill()
          await untilAccepted(senders)
          await until(async () => (await readActive(left)) !== killed.name)
          const store = stores.get(await findActive(left))!
          const before = await countEvents(store)
          await until(async () => (await countEvents(store)) > before)
          const status = await services.run('cluster', 'status')
          expect(status.code).toBe(1)
          expect(status.stdout).toContain(
            count === 2
              ? 'events have been stored on one disk only for'
              : `replica ${killed.name} is away`,
          )
          await killed.start()
          await untilAlike([...stores.values()])
        }
        await senders.stop()
        await work?.finish()
        await expectExact(project, senders)
        const store = stores.get(await findActive())!
        expect(await work?.compare(store)).toEqual(work === undefined ? undefined : [])
      },
      KILLS * PATIENCE_MS,
    )
  })

COUNTS.forEach(describeService)
