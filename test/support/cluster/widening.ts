/** A project that is widened, its users with and without an id, and what must be the same afterwards. */
import { expect } from '@jest/globals'
import { sql, string } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { locate, type Cluster, type Shard } from '../../../src/cluster/cluster.js'
import { importIntoCluster } from '../../../src/ingest/import/import-into-cluster.js'
import { finishInterruptedWork } from '../../../src/ingest/loader/loader.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { requireProject } from '../../../src/projects/store.js'
import { widenProject } from '../../../src/relocation/relocate.js'
import type { RelocationOptions } from '../../../src/relocation/run.js'
import { checkRollups } from '../../../src/rollups/check.js'
import { splitIntoChunks, toLines } from '../sources/sources.js'
import { expectConsistentFacts, readFacts, select } from '../store/facts.js'
import { ARRIVAL, NOW, type SentEvent } from '../world/world.js'
import { getOptions, QUESTIONS, sampleEvents } from './moving.js'
import { runQuery } from './wide-world.js'
import { getContext } from './wide-projects.js'

/** Makes random events of forty users, of whom every third has no id. Each user has event ids of their own. */
export const sampleMixed = (seed: number, count: number): readonly SentEvent[] =>
  sampleEvents(seed, count).map((event, i) => {
    const user = (i * 7) % 40
    const who =
      user % 3 === 0
        ? { user_id: '', ip: `203.0.113.${user}`, user_agent: `Agent/${user % 4}` }
        : { user_id: `user-${user}` }
    const id = event['event_id']
    return {
      ...event,
      ...who,
      event_id: typeof id === 'string' && id !== '' ? `${user}-${id}` : '',
    }
  })

/** Widens a project without waiting for services. */
export const widen = (
  cluster: Cluster,
  id: string,
  width: number,
  options: Partial<RelocationOptions> = {},
): Promise<readonly string[]> => widenProject({ ...getOptions(cluster), ...options }, id, width)

export const findProject = (cluster: Cluster, id: string): Promise<StoredProject> =>
  requireProject(cluster.home.store.writer, id)

/** Imports events of a project into its shards. */
export const importWide = (
  cluster: Cluster,
  id: string,
  events: readonly object[],
): ReturnType<typeof importIntoCluster> =>
  importIntoCluster(cluster, splitIntoChunks(toLines(events)), {
    projectId: id,
    now: ARRIVAL,
    onRejected: () => undefined,
    getLoader: (shard) => getContext(cluster)(cluster.shards.find(({ name }) => name === shard)!),
  })

/** The answers to all questions about a project, as a service that knows this of it gives them. */
export async function readAnswers(
  cluster: Cluster,
  project: StoredProject,
): Promise<readonly unknown[]> {
  const answers: unknown[] = []
  for (const [asked, sizes] of QUESTIONS) {
    const { data } = await runQuery(cluster, project, asked, NOW, sizes)
    answers.push(data)
  }
  return answers
}

/** What the shards of a project have of it together, without the numbers of users and loads. Each has to be consistent. */
export async function readAllFacts(cluster: Cluster, id: string): Promise<readonly string[]> {
  for (const { store } of locate(cluster, await findProject(cluster, id))) {
    await expectConsistentFacts(store, id)
  }
  return readVisibleFacts(cluster, id)
}

/** What queries see of that: all but the users who have left a shard. */
export async function readVisibleFacts(cluster: Cluster, id: string): Promise<readonly string[]> {
  const facts: string[] = []
  const project = await findProject(cluster, id)
  for (const { store } of locate(cluster, project)) {
    const departed = project.isWidening ? await readDeparted(store, id) : new Set<string>()
    const own = (await readFacts(store, id)).filter(({ user_id: user }) => !departed.has(user))
    facts.push(...own.map((fact) => JSON.stringify(fact)))
  }
  return facts.toSorted()
}

async function readDeparted(store: Store, id: string): Promise<ReadonlySet<string>> {
  const rows = await select<{ user_id: string }>(
    store,
    sql`
SELECT user_id FROM users WHERE project_id = ${string(id)} AND bitmapContains(
  (SELECT groupBitmapMergeState(users) FROM departures WHERE project_id = ${string(id)}), user)`,
  )
  return new Set(rows.map((row) => row.user_id))
}

/** The ids of derived users are others in another project. */
export const withoutDerivedIds = (facts: readonly string[]): readonly string[] =>
  facts.map((fact) => fact.replace(/anonymous-[0-9a-f]{32}/, 'anonymous')).toSorted()

/** Checks that the rollups of a project on a shard are those of its facts there. */
export async function expectRollupsOf(cluster: Cluster, shard: Shard, id: string): Promise<void> {
  const context = getContext(cluster)(shard)
  const report = await checkRollups(shard.store.writer, {
    projectId: id,
    finishInterruptedWork: (fenced) => finishInterruptedWork(fenced, context),
  })
  expect(report.differences).toEqual([])
}
