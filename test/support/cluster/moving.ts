/** A project with all kinds of data, its move from one shard to another, and what must be the same afterwards. */
import fc from 'fast-check'
import { locate, type Cluster, type Shard } from '../../../src/cluster/cluster.js'
import { createProject } from '../../../src/cluster/directory.js'
import { sql, string } from '../../../src/clickhouse/sql.js'
import { importEvents } from '../../../src/ingest/import/import-events.js'
import type { ImportReport } from '../../../src/ingest/import/import-options.js'
import { loadWaiting } from '../../../src/ingest/loader/loader.js'
import { withLoaderLease } from '../../../src/ingest/loader/with-loader-lease.js'
import { readExclusions } from '../../../src/projects/exclusions.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { requireProject } from '../../../src/projects/store.js'
import { moveProject } from '../../../src/relocation/relocate.js'
import type { RelocationOptions } from '../../../src/relocation/run.js'
import { attributeRequest, rollupEvent, rollupRequest } from '../arbitrary/rollups.js'
import { splitIntoChunks, toLines } from '../sources/sources.js'
import { expectConsistentFacts, readFacts, select } from '../store/facts.js'
import { readRollups } from '../store/rollups.js'
import { ARRIVAL, LARGE_SIZES, NOW, type PartialRequest, type SentEvent } from '../world/world.js'
import { runQuery } from './wide-world.js'
import { getContext } from './wide-projects.js'

const CREATED = new Date('2020-01-01T00:00:00Z')

/** Creates a project on the home, or on the shard with this name. */
export const createOn = (cluster: Cluster, id: string, shard: string): Promise<StoredProject> =>
  createProject(
    cluster,
    { id, name: 'Moved', domain: 'example.com', excludedIps: ['192.0.2.9'] },
    CREATED,
    shard === cluster.home.name ? [] : [shard],
  )

/** Makes random events, the same for the same seed. */
export const sampleEvents = (seed: number, count: number): readonly SentEvent[] =>
  fc.sample(rollupEvent, { seed, numRuns: count })

/** Finds the only shard of a project. */
export async function findShardOf(cluster: Cluster, id: string): Promise<Shard> {
  const [shard] = locate(cluster, await requireProject(cluster.home.store.writer, id))
  return shard
}

/** Imports events as a file into the shard of the project. */
export async function importInto(
  cluster: Cluster,
  id: string,
  events: readonly object[],
  shard?: Shard,
): Promise<ImportReport> {
  const into = shard ?? (await findShardOf(cluster, id))
  return importEvents(into.store, splitIntoChunks(toLines(events)), {
    projectId: id,
    now: ARRIVAL,
    onRejected: () => undefined,
    loader: getContext(cluster)(into),
  })
}

/** Loads what waits on a shard, as its loader does. */
export const loadShard = (cluster: Cluster, shard: Shard): Promise<void> =>
  withLoaderLease(shard.store.writer, (fenced) => loadWaiting(fenced, getContext(cluster)(shard)))

/** The options of a relocation that does not wait for services. */
export const getOptions = (cluster: Cluster): RelocationOptions => ({
  cluster,
  getContext: getContext(cluster),
  now: () => NOW,
  settleMs: 0,
})

/** Moves a project without waiting for services. */
export const move = (cluster: Cluster, id: string, to: string): Promise<void> =>
  moveProject(getOptions(cluster), id, to)

export const QUESTIONS: readonly (readonly [PartialRequest, typeof LARGE_SIZES | undefined])[] = [
  ...fc.sample(rollupRequest, { seed: 7, numRuns: 6 }).map((asked) => [asked, undefined] as const),
  ...fc
    .sample(attributeRequest, { seed: 8, numRuns: 3 })
    .map((asked) => [asked, LARGE_SIZES] as const),
]

/** The responses to queries about a project, and the rows that its store has, without the numbers of loads. */
export async function readAll(cluster: Cluster, id: string): Promise<object> {
  const { store } = await findShardOf(cluster, id)
  const project = await requireProject(cluster.home.store.writer, id)
  await expectConsistentFacts(store, id)
  const answers: unknown[] = []
  for (const [asked, sizes] of QUESTIONS) {
    answers.push(await runQuery(cluster, project, asked, NOW, sizes))
  }
  return {
    answers,
    facts: await readFacts(store, id),
    rollups: await readRollups(store, id),
    exclusions: await readExclusions(store.reader, id),
  }
}

/** Counts what a shard has of a project, in all tables. */
export const countRows = async ({ store }: Shard, id: string): Promise<number> =>
  (
    await select<{ rows: number }>(
      store,
      sql`
SELECT
  (SELECT count() FROM events WHERE project_id = ${string(id)})
  + (SELECT count() FROM sessions WHERE project_id = ${string(id)})
  + (SELECT count() FROM users_daily WHERE project_id = ${string(id)})
  + (SELECT count() FROM sessions_monthly WHERE project_id = ${string(id)})
  + (SELECT count() FROM users WHERE project_id = ${string(id)})
  + (SELECT count() FROM event_ids WHERE project_id = ${string(id)})
  + (SELECT count() FROM forwards WHERE project = ${string(id)}) AS rows`,
    )
  )[0]?.rows ?? 0
