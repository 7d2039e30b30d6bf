/** Creates clusters whose shards are databases of the shared engine. No statement can span them. */
import { randomUUID } from 'node:crypto'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { StoreUnavailableError } from '../../../src/clickhouse/errors.js'
import type { Cluster, Shard } from '../../../src/cluster/cluster.js'
import { createProject } from '../../../src/cluster/directory.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { createDatabase } from '../store/database.js'

export interface TestShards {
  /** The databases of the shards `shard1`, the home, `shard2`, … */
  readonly cluster: Cluster
  /** Returns the cluster with shards that are away. */
  without(...names: readonly string[]): Cluster
  drop(): Promise<void>
}

export async function createShards(count: number): Promise<TestShards> {
  const databases = await Promise.all(Array.from({ length: count }, () => createDatabase()))
  const [home, ...others] = databases.map((database, i): Shard => ({
    ...database,
    name: `shard${i + 1}`,
  }))
  const cluster = toCluster(home!, others)
  return {
    cluster,
    without: (...names) =>
      mapShards(cluster, (shard) => (names.includes(shard.name) ? takeAway(shard) : shard)),
    drop: async () => {
      await Promise.all(databases.map((database) => database.drop()))
    },
  }
}

const toCluster = (home: Shard, others: readonly Shard[]): Cluster => ({
  home,
  shards: [home, ...others],
})

/** Replaces shards of a cluster. */
export function mapShards(cluster: Cluster, map: (shard: Shard) => Shard): Cluster {
  const [home, ...others] = cluster.shards.map(map)
  return toCluster(home!, others)
}

/** Replaces the writer of a shard. */
export const withWriter = (
  cluster: Cluster,
  name: string,
  wrap: (writer: Connection) => Connection,
): Cluster =>
  mapShards(cluster, (shard) =>
    shard.name === name
      ? { ...shard, store: { ...shard.store, writer: wrap(shard.store.writer) } }
      : shard,
  )

const fail = (): Promise<never> => Promise.reject(new StoreUnavailableError('connect ECONNREFUSED'))

/** A shard whose store does not answer. */
function takeAway(shard: Shard): Shard {
  const away = (connection: Connection): Connection => ({
    ...connection,
    query: fail,
    execute: fail,
    upload: fail,
  })
  const { store } = shard
  return {
    ...shard,
    store: {
      ...store,
      reader: away(store.reader),
      lookups: away(store.lookups),
      writer: away(store.writer),
      admin: away(store.admin),
    },
  }
}

/** Creates a project on the shards at these positions. */
export const createOn = (
  cluster: Cluster,
  ...positions: readonly number[]
): Promise<StoredProject> =>
  createProject(
    cluster,
    { id: `t-${randomUUID()}`, name: 'Test', domain: 'example.com' },
    new Date('2020-01-01T00:00:00Z'),
    positions.map((position) => cluster.shards[position]!.name),
  )
