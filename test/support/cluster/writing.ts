/** The ways by which events get into the shards of a project, also with kills, and what is there afterwards. */
import { expect } from '@jest/globals'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { locate, type Cluster, type Shard } from '../../../src/cluster/cluster.js'
import { deleteUsersFromShards } from '../../../src/deletion/delete-users.js'
import { createCollect, type Entrance } from '../../../src/ingest/collect/collect.js'
import { importIntoCluster } from '../../../src/ingest/import/import-into-cluster.js'
import type { ImportReport } from '../../../src/ingest/import/import-options.js'
import { createInboxWriter } from '../../../src/ingest/inbox/inbox-writer.js'
import { pickCounts } from '../../../src/ingest/loader/load-report.js'
import { readExclusions, sumExclusions } from '../../../src/projects/exclusions.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { splitIntoChunks, toLines } from '../sources/sources.js'
import { breakAfter, BrokenError, releaseLease } from '../store/breaking.js'
import { expectConsistentFacts, readFacts } from '../store/facts.js'
import { ARRIVAL, type SentEvent } from '../world/world.js'
import { loadShard } from './moving.js'
import { mapShards } from './shard-databases.js'
import { getContext } from './wide-projects.js'

/** Returns a function that collects events as the service does, and returns once they are in the inboxes. */
export function createCollector(
  cluster: Cluster,
): (project: StoredProject, events: readonly SentEvent[]) => Promise<void> {
  const entrances = new Map(
    cluster.shards.map(({ name, store }): [string, Entrance] => [
      name,
      { write: createInboxWriter(store.writer).write },
    ]),
  )
  const collect = createCollect((project) => {
    const [first, ...others] = locate(cluster, project)
    const find = ({ name }: Shard): Entrance => entrances.get(name)!
    return [find(first), ...others.map(find)]
  })
  const client = { ip: '198.51.100.7', userAgent: 'tests', isPage: false }
  return async (project, events) => {
    await collect({ project, events, client, receivedAt: new Date() })
  }
}

/** Imports lines into the shards of a project. */
export const importIntoShards = (
  cluster: Cluster,
  { id }: StoredProject,
  lines: readonly (object | string)[],
): Promise<ImportReport> =>
  importIntoCluster(cluster, splitIntoChunks(toLines(lines), [10_000]), {
    projectId: id,
    now: ARRIVAL,
    chunkSize: 20_000,
    onRejected: () => undefined,
    getLoader: (name) => getContext(cluster)(cluster.shards.find((one) => one.name === name)!),
  })

/** Loads what waits on each shard. */
export async function loadAll(cluster: Cluster): Promise<void> {
  for (const shard of cluster.shards) await loadShard(cluster, shard)
}

/**
 * Does work again and again, with a connection that ends after a number of statements, as if the process were killed.
 *
 * @returns whether a connection ended before the work did
 */
export async function doTwice(
  cluster: Cluster,
  statements: number,
  work: (cluster: Cluster) => Promise<unknown>,
): Promise<boolean> {
  const kill = (writer: Connection): Connection => breakAfter(writer, statements)
  const killed = mapShards(cluster, (shard) => ({
    ...shard,
    store: { ...shard.store, writer: kill(shard.store.writer) },
  }))
  const isKilled = await work(killed).then(
    () => false,
    (error: unknown) => {
      expect(error).toBeInstanceOf(BrokenError)
      return true
    },
  )
  for (const { store } of cluster.shards) {
    for (const name of ['loader', 'salts'] as const) await releaseLease(store, name)
  }
  await work(cluster)
  return isKilled
}

/** Deletes a user from all shards of a project. */
export const deleteUser = (
  cluster: Cluster,
  project: StoredProject,
  userId: string,
): Promise<object> =>
  deleteUsersFromShards(
    locate(cluster, project).map((shard) => ({ ...shard, loader: getContext(cluster)(shard) })),
    project.id,
    [userId],
    { check: () => Promise.resolve() },
  )

/** The counts of an import, which do not depend on how many shards there are. */
export const pickReport = (report: ImportReport): object => ({
  ...pickCounts(report),
  users: report.users,
  sessions: report.sessions,
})

/** Reads all sessions with their events, and what was excluded, of all shards of a project together. */
export async function readStored(cluster: Cluster, project: StoredProject): Promise<object> {
  const shards = locate(cluster, project)
  const facts: string[] = []
  for (const { store } of shards) {
    await expectConsistentFacts(store, project.id)
    for (const fact of await readFacts(store, project.id)) facts.push(JSON.stringify(fact))
  }
  const excluded = shards.map(({ store }) => readExclusions(store.reader, project.id))
  return {
    // The names of derived users differ between projects.
    facts: facts.map((fact) => fact.replace(/anonymous-[0-9a-f]{32}/, 'anonymous')).sort(),
    exclusions: sumExclusions(await Promise.all(excluded)),
  }
}
