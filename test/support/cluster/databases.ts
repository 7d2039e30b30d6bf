/** A cluster whose stores are databases on the shared engine. Statements across its shards do not work on it. */
import { identifier, sql, statement, string } from '../../../src/clickhouse/sql.js'
import type { Cluster, Shard } from '../../../src/cluster/cluster.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { createProject } from '../../../src/projects/store.js'
import { randomUUID } from 'node:crypto'
import { createDatabase } from '../store/database.js'

export interface DatabaseCluster extends Cluster {
  /** Creates a project on these shards, named by their positions. */
  createProject(...positions: readonly number[]): Promise<StoredProject>
  drop(): Promise<void>
}

/** Creates a cluster of `shard1` to `shard<count>`. */
export async function createDatabaseCluster(count: number): Promise<DatabaseCluster> {
  const databases = await Promise.all(Array.from({ length: count }, createDatabase))
  const [home, ...others] = databases.map(({ store, endpoint }, i): Shard => ({
    name: `shard${i + 1}`,
    store,
    endpoint,
  }))
  const shards = [home!, ...others] as const
  return {
    home: home!,
    shards,
    createProject: async (...positions) => {
      const own = positions.map((position) => shards[position]!)
      const project = await createProject(
        home!.store,
        { id: `t-${randomUUID()}`, name: 'Test', domain: 'example.com' },
        new Date('2020-01-01T00:00:00Z'),
        own.map(({ name }) => name),
      )
      for (const { store } of own.filter((shard) => shard !== home)) {
        await store.admin.execute(
          statement(
            sql`INSERT INTO projects SELECT * FROM ${identifier(home!.endpoint.database)}.projects WHERE id = ${string(project.id)}`,
          ),
        )
      }
      return project
    },
    drop: async () => {
      await Promise.all(databases.map((database) => database.drop()))
    },
  }
}
