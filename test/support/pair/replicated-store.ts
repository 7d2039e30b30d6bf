/** A store on the two replicas of a pair, as its services would set it up. */
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import { ensureDatabase, migrate } from '../../../src/clickhouse/migrations/migrate.js'
import { alignStandby } from '../../../src/clickhouse/replicas/standby.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { ensureRollups } from '../store/loading.js'
import type { Pair, Replica } from './pair.js'

export interface ReplicaStore {
  readonly replica: Replica
  readonly endpoint: Endpoint
  readonly store: Store
}

export interface ReplicatedStore {
  /** By the order of the pair: the first is active at the start. */
  readonly stores: readonly [ReplicaStore, ReplicaStore]
  /** Sets how many replicas must have an insert. */
  setQuorum(quorum: number): void
  close(): Promise<void>
}

const PATH = '/tallyhouse/test/shard1'

/** Migrates the first replica, and makes the second one like it. */
export async function createReplicatedStore({ replicas }: Pair): Promise<ReplicatedStore> {
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
  await alignStandby(active.store.admin, standby.store.admin)
  quorum = 2
  return {
    stores,
    setQuorum: (wanted) => (quorum = wanted),
    close: async () => {
      await Promise.all(stores.map(({ store }) => store.close()))
    },
  }
}
