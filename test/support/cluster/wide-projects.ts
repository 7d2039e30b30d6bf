/** Projects across the shards of a test cluster, and their deletion. */
import { expect } from '@jest/globals'
import type { Cluster, Shard } from '../../../src/cluster/cluster.js'
import { createProject } from '../../../src/cluster/directory.js'
import { sql, string } from '../../../src/clickhouse/sql.js'
import { deleteProjectFromShards } from '../../../src/deletion/delete-from-shards.js'
import type { ProjectHoldings } from '../../../src/deletion/holdings.js'
import { createShardContext } from '../../../src/deletion/shard-context.js'
import { finishInterruptedWork } from '../../../src/ingest/loader/loader.js'
import type { LoaderContext } from '../../../src/ingest/loader/loader-context.js'
import { withLoaderLease } from '../../../src/ingest/loader/with-loader-lease.js'
import { findProject } from '../../../src/projects/store.js'
import { select } from '../store/facts.js'
import { createContext } from '../store/loading.js'
import { send, type SentEvent } from '../world/world.js'

const CREATED = new Date('2020-01-01T00:00:00Z')
export const NAMES = ['shard1', 'shard2', 'shard3']

export const getContext =
  (within: Cluster) =>
  (shard: Shard): LoaderContext =>
    createShardContext(within, shard, createContext())

const event = (user_id: string, timestamp = '2026-01-30T10:00:00Z'): SentEvent => ({
  timestamp,
  user_id,
  path: '/',
})

/** Creates a project with the users `u1`, `u2` and `u3`, one on each of its shards, and one that all but the first have. */
export async function createWide(
  cluster: Cluster,
  id: string,
  names: readonly string[] = NAMES,
  keepDays: number | null = null,
): Promise<void> {
  const fields = { id, name: 'Wide', domain: 'wide.example', keepDays }
  const project = await createProject(cluster, fields, CREATED, names)
  const own = cluster.shards.filter(({ name }) => names.includes(name))
  for (const [i, { store }] of own.entries()) {
    const events = [event(`u${i + 1}`), event('both', '2025-06-01T10:00:00Z')]
    await send(store, project, events.slice(0, i + 1))
  }
}

/** What such a project across three shards has. */
export const HOLDINGS: ProjectHoldings = { events: 5, users: 5, keys: 0 }

/** Counts the users of a project by shard; null for a shard without its row. */
export const countUsers = (cluster: Cluster, id: string): Promise<readonly (number | null)[]> =>
  Promise.all(
    cluster.shards.map(async ({ store }) => {
      const [row] = await select<{ users: number; events: number }>(
        store,
        sql`
SELECT
  (SELECT count() FROM users WHERE project_id = ${string(id)}) AS users,
  (SELECT uniqExact(user) FROM events WHERE project_id = ${string(id)}) AS events`,
      )
      expect(row?.events).toBe(row?.users)
      const isThere = (await findProject(store.writer, id)) !== undefined
      return isThere ? (row?.users ?? 0) : null
    }),
  )

export const remove = (cluster: Cluster, id: string): Promise<ProjectHoldings> =>
  deleteProjectFromShards(cluster, id, getContext(cluster), 0)

/** Finishes what was interrupted on a shard, as its loader does. */
export const finish = (shard: Shard, within: Cluster): Promise<void> =>
  withLoaderLease(shard.store.writer, (fenced) =>
    finishInterruptedWork(fenced, getContext(within)(shard)),
  )
