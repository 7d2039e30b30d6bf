/** A store on two replicas, as its services would set it up. */
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import { ensureDatabase } from '../../../src/clickhouse/ensure-database.js'
import { migrate } from '../../../src/clickhouse/migrations/migrate.js'
import { alignStandby, findLacking, listShared } from '../../../src/clickhouse/replicas/standby.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { sql } from '../../../src/clickhouse/sql.js'
import { select } from '../store/facts.js'
import { ensureRollups } from '../store/loading.js'
import { until } from '../until.js'
import type { ReplicaGroup, Replica } from './replicas.js'

export interface ReplicaStore {
  readonly replica: Replica
  readonly endpoint: Endpoint
  readonly store: Store
}

export interface ReplicatedStore {
  /** In the order of the group: the first is active at the start. */
  readonly stores: readonly [ReplicaStore, ReplicaStore]
  /** Sets how many replicas must have an insert. */
  setQuorum(quorum: number): void
  close(): Promise<void>
}

/** The path of the store in Keeper. */
export const PATH = '/tallyhouse/test/shard1'

/** Migrates the first replica, and makes the second one like it. */
export async function createReplicatedStore({ replicas }: ReplicaGroup): Promise<ReplicatedStore> {
  let quorum = 2
  const open = (replica: Replica): ReplicaStore => {
    const endpoint: Endpoint = {
      ...replica.endpoint,
      replica: { name: replica.name, path: PATH, getQuorum: () => quorum },
    }
    return { replica, endpoint, store: connectStore(endpoint) }
  }
  const stores = [open(replicas[0]), open(replicas[1])] as const
  const [active, standby] = stores
  // Nothing of the second one exists yet, so no insert can reach it.
  quorum = 1
  await migrate(active.endpoint)
  await ensureRollups(active.store)
  await ensureDatabase(standby.endpoint)
  await alignStandby(await listShared(active.store.admin), standby.store.admin)
  quorum = 2
  return {
    stores,
    setQuorum: (wanted) => (quorum = wanted),
    close: async () => {
      await Promise.all(stores.map(({ store }) => store.close()))
    },
  }
}

/** Reads all tables with rows, each as a hash of its rows. */
export async function hashTables(store: Store): Promise<Readonly<Record<string, string>>> {
  const tables = await select<{ name: string }>(
    store,
    sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE 'Replicated%' ORDER BY name`,
  )
  const hashes: Record<string, string> = {}
  for (const { name } of tables) {
    const { rows } = await store.admin.query<{ hash: string }>({
      query: `SELECT concat(toString(count()), ' ', hex(groupBitXor(sipHash64(*)))) AS hash FROM ${name}`,
      query_params: {},
    })
    hashes[name] = rows[0]!.hash
  }
  return hashes
}

/** Reads which replica is active, as one of them says. */
export async function findActiveName(asked: Store): Promise<string> {
  const [row] = await select<{ active: string }>(
    asked,
    sql`SELECT argMax(replica, toUInt32(extract(key, '[0-9]+$'))) AS active FROM leases WHERE startsWith(key, 'active/')`,
  )
  return row!.active
}

/** Waits until all replicas have all that was confirmed. */
export const untilAlike = (stores: readonly Store[]): Promise<number> =>
  until(async () => {
    const lacking = await Promise.all(
      stores.map(({ admin }) => findLacking(admin).catch(() => undefined)),
    )
    return lacking.every((one) => one?.size === 0)
  })
