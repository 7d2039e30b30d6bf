/** A service over replicas that is used while something happens to it, and how long it was felt. */
import { setTimeout as sleep } from 'node:timers/promises'
import { readChoice, SPREAD_MS } from '../../src/clickhouse/replicas/choice.js'
import { findLacking } from '../../src/clickhouse/replicas/standby.js'
import { sql, statement, string } from '../../src/clickhouse/sql.js'
import type { Store } from '../../src/clickhouse/store.js'
import { countWaitingRows } from '../../src/ingest/loader/stream.js'
import {
  startReplicas,
  type ReplicaGroup,
  type Replica,
} from '../../test/support/replicas/replicas.js'
import { createServices, type Services } from '../../test/support/replicas/services.js'
import { findLongestGap, visit, type Visitors } from '../../test/support/replicas/visitors.js'
import { until } from '../../test/support/until.js'
import { formatTenths } from '../shared/figures.js'

const PROJECT = 'shop'

export interface UsedReplicas {
  readonly group: ReplicaGroup
  readonly services: Services
  readonly visitors: Visitors
  readonly open: (replica: Replica) => Store
  /** Returns the replica that another one says is active, or itself. */
  readonly findActive: (asked?: Replica) => Promise<Replica>
  readonly getOther: (replica: Replica) => Replica
  /** Waits until both replicas have all that was confirmed. */
  readonly untilAlike: () => Promise<number>
  /** Does something, waits until the service works again, and returns for how long it did not. */
  readonly feel: (happens: () => Promise<unknown>) => Promise<Felt>
  /** Ends the visits. Returns how many events were accepted, and how many of them are lost or count twice. */
  readonly compare: () => Promise<{ accepted: number; lost: number; doubled: number }>
  readonly stop: () => Promise<void>
}

/** The longest seconds without an accepted event, an answered query, and a response with more events. */
export interface Felt {
  readonly collecting: number
  readonly queries: number
  readonly loads: number
}

const RATE = Number(process.env['RATE'] ?? 50)
const SETTLE_MS = 3_000

/** Starts two replicas, services, and visits. @param count how many services */
export async function useReplicas(count = 1): Promise<UsedReplicas> {
  const group = await startReplicas()
  const services = await createServices(group)
  const running = [await services.serve()]
  while (running.length < count) running.push(await services.serve())
  const run = async (...args: readonly string[]): Promise<string> =>
    (await services.run(...args)).stdout
  const made = await run(
    ...['project', 'create', '--id', PROJECT, '--name', PROJECT, '--domain', 'shop.example'],
  )
  const publicToken = /tallypub_\w+/.exec(made)![0]
  const key = (await run('key', 'issue', '--project', PROJECT, '--name', 'bench'))
    .split('\n')
    .find((line) => line.startsWith('ey') || line.startsWith('tally'))!
    .trim()
  const addresses = running.map(({ address }) => address)
  const visitors = visit({ addresses, publicToken, key, rate: RATE })
  await until(() => visitors.loaded.length > 1)
  const stores = new Map(group.replicas.map((one) => [one, services.openReplica(one)]))
  const open = (replica: Replica): Store => stores.get(replica)!
  const getOther = ({ name }: Replica): Replica => group.replicas.find((one) => one.name !== name)!
  const findActive = async (asked?: Replica): Promise<Replica> => {
    if (asked === undefined) {
      // The first that answers.
      return findActive(group.replicas[0]).catch(() => findActive(group.replicas[1]))
    }
    const { rows } = await open(asked).admin.query<{ active: string }>(
      statement(
        sql`SELECT argMax(replica, toUInt32(extract(key, '[0-9]+$'))) AS active FROM leases WHERE startsWith(key, ${string('active/')})`,
      ),
    )
    return group.replicas.find(({ name }) => name === rows[0]?.active)!
  }
  return {
    ...{ group, services, visitors, open, findActive, getOther },
    untilAlike: async () => {
      await until(async () => {
        const looks = [...stores.values()].map(({ admin }) => readChoice(admin))
        return (await Promise.all(looks)).every(({ aloneSeconds }) => aloneSeconds === 0)
      })
      // Until services know that both are there, they store events on one disk only.
      await sleep(2 * SPREAD_MS)
      return until(async () => {
        const lacking = await Promise.all(
          [...stores.values()].map(({ admin }) => findLacking(admin).catch(() => undefined)),
        )
        return lacking.every((one) => one?.size === 0)
      })
    },
    feel: (happens) => feel(visitors, happens),
    compare: async () => {
      await visitors.stop()
      return compare(open(await findActive()), visitors)
    },
    stop: async () => {
      await visitors.stop()
      await services.stop()
      await group.stop()
    },
  }
}

async function feel(visitors: Visitors, happens: () => Promise<unknown>): Promise<Felt> {
  const { accepted, answered, loaded } = visitors
  const from = performance.now()
  await happens()
  const after = performance.now()
  for (const times of [accepted, answered, loaded]) {
    await until(() => (times.at(-1) ?? 0) > after)
  }
  await sleep(SETTLE_MS)
  const to = performance.now()
  const toSeconds = (times: readonly number[]): number => findLongestGap(times, from, to) / 1_000
  return {
    collecting: toSeconds(accepted),
    queries: toSeconds(answered),
    loads: toSeconds(loaded),
  }
}

async function compare(
  { writer }: Store,
  { acknowledged }: Visitors,
): Promise<{ accepted: number; lost: number; doubled: number }> {
  await until(async () => (await countWaitingRows(writer)).rows === 0)
  const { rows } = await writer.query<{ mark: string; times: number }>(
    statement(
      sql`SELECT properties['mark'] AS mark, toUInt32(count()) AS times FROM events GROUP BY mark`,
    ),
  )
  const stored = new Set(rows.map(({ mark }) => mark))
  return {
    accepted: acknowledged.size,
    lost: [...acknowledged].filter((mark) => !stored.has(mark)).length,
    doubled: rows.filter(({ times }) => times !== 1).length,
  }
}

export const formatFelt = ({ collecting, queries, loads }: Felt): readonly string[] =>
  [collecting, queries, loads].map(formatTenths)
