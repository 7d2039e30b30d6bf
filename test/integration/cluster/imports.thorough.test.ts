/** Imports into several stores: each event is once in the store of its sender, whatever happened in between. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql, strings } from '../../../src/clickhouse/sql.js'
import type { Cluster } from '../../../src/cluster/cluster.js'
import { chooseShard, type SenderFields } from '../../../src/cluster/choose-shard.js'
import {
  importIntoCluster,
  type ClusterImportOptions,
} from '../../../src/ingest/import/import-into-cluster.js'
import type { ImportReport } from '../../../src/ingest/import/import-options.js'
import type { Rejection } from '../../../src/ingest/inbox/rejections.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { placeOn } from '../../support/cluster/senders.js'
import {
  createOn,
  createShards,
  withWriter,
  type TestShards,
} from '../../support/cluster/shard-databases.js'
import { sample } from '../../support/effort.js'
import { importLines, splitIntoChunks, toLines } from '../../support/sources/sources.js'
import { createContext } from '../../support/store/loading.js'
import { breakAfter, BrokenError, releaseLease } from '../../support/store/breaking.js'
import { select } from '../../support/store/facts.js'
import { ARRIVAL, newProject } from '../../support/world/world.js'

let databases: TestShards
let cluster: Cluster
beforeAll(async () => {
  databases = await createShards(3)
  cluster = databases.cluster
})
afterAll(() => databases.drop())

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'

/** The nth event. It belongs to one of 13 users; every third user lacks an id. */
interface Event extends SenderFields {
  readonly timestamp: string
  readonly path: string
}
const event = (n: number): Event => ({
  timestamp: new Date(Date.UTC(2026, 0, 31, 10, n % 120)).toISOString(),
  path: `/${String(n).padStart(4, '0')}`,
  ...(n % 3 === 0 ? { ip: `203.0.113.${n % 7}`, user_agent: FIREFOX } : { user_id: `u${n % 13}` }),
})
const events = (count: number, from = 0): readonly Event[] =>
  Array.from({ length: count }, (_, n) => event(from + n))

const sizes = [97, 1_000, 3]
const CHUNK = 3_000

async function importText(
  text: string | AsyncIterable<Buffer>,
  options: Partial<ClusterImportOptions> = {},
): Promise<{ report: ImportReport; rejections: readonly Rejection[] }> {
  const rejections: Rejection[] = []
  const report = await importIntoCluster(
    cluster,
    typeof text === 'string' ? splitIntoChunks(text, sizes) : text,
    {
      now: ARRIVAL,
      getLoader: () => createContext(),
      onRejected: (rows) => void rejections.push(...rows),
      chunkSize: CHUNK,
      ...options,
    },
  )
  return { report, rejections }
}

/** The paths of the events in each store, sorted. */
const readPaths = (...ids: readonly string[]): Promise<readonly (readonly string[])[]> =>
  Promise.all(
    cluster.shards.map(async ({ store }) =>
      (
        await select<{ path: string }>(
          store,
          sql`SELECT path FROM events WHERE project_id IN ${strings(ids)} ORDER BY path`,
        )
      ).map(({ path }) => path),
    ),
  )

/** The paths that each store must have: those of the senders that belong to it. */
const splitPaths = (
  all: readonly Event[],
  { shards }: StoredProject,
): readonly (readonly string[])[] =>
  cluster.shards.map(({ name }) =>
    all
      .filter((one) => shards[chooseShard(one, placeOn(shards.length), ARRIVAL)] === name)
      .map(({ path }) => path)
      .sort(),
  )

describe.each(sample([{ on: [2, 0, 1] }, { on: [0, 1] }, { on: [1] }], 3))(
  'a project on $on',
  ({ on }) => {
    test('reports what a single store reports, and loads nothing again', async () => {
      const project = await createOn(cluster, ...on)
      const other = await newProject(cluster.home.store)
      const all = events(60)
      const rows = [
        ...all.slice(0, 25),
        '',
        'not JSON',
        { timestamp: 'x' },
        ...all.slice(25),
        '[]',
        '\t',
      ]
      const text = toLines(rows)
      const single = await importLines(cluster.home.store, text, { projectId: other.id })
      expect(single.report).toMatchObject({ received: 63, events: 60, rejected: 3 })
      const progress: number[] = []
      const onProgress: ClusterImportOptions['onProgress'] = (soFar) =>
        progress.push(soFar.received)
      expect(await importText(text, { projectId: project.id, onProgress })).toEqual(single)
      expect(progress.at(-1)).toBe(63)
      expect(await readPaths(project.id)).toEqual(splitPaths(all, project))
      const more = toLines([...rows, ...events(20, 60)])
      const again = await importText(more, { projectId: project.id })
      expect(again.report).toMatchObject({ received: 83, events: 20, duplicates: 60, rejected: 3 })
      expect(again.rejections).toEqual(single.rejections)
      expect(await readPaths(project.id)).toEqual(splitPaths(events(80), project))
    })

    test('an interrupted import is run again, and nothing is lost or counted twice', async () => {
      const failure = new Error('interrupted')
      const text = toLines(events(60))
      for (const calls of sample([2, 1, 3], 3)) {
        const project = await createOn(cluster, ...on)
        let left = calls
        const onProgress = (): void => {
          if ((left -= 1) === 0) throw failure
        }
        await expect(importText(text, { projectId: project.id, onProgress })).rejects.toBe(failure)
        const cut = splitIntoChunks(text.slice(0, 5_000), sizes, failure)
        await expect(importText(cut, { projectId: project.id })).rejects.toBe(failure)
        const { report } = await importText(text, { projectId: project.id })
        expect(report).toMatchObject({ received: 60, rejected: 0 })
        expect(report.duplicates).toBeGreaterThan(0)
        expect(await readPaths(project.id)).toEqual(splitPaths(events(60), project))
      }
    })

    test('a dry run reports the same and stores nothing', async () => {
      const project = await createOn(cluster, ...on)
      const text = toLines([...events(50), 'not JSON', ...events(50, 50)])
      const options = { projectId: project.id }
      const dryRun = await importText(text, { ...options, dryRun: true })
      expect(await readPaths(project.id)).toEqual([[], [], []])
      expect(await importText(text, options)).toEqual(dryRun)
    })

    test('a strict import ends at a chunk with a rejected row', async () => {
      const project = await createOn(cluster, ...on)
      const text = toLines([
        ...events(50),
        '{"timestamp":"x","user_id":"u1"}',
        ...events(2_000, 50),
      ])
      const { report, rejections } = await importText(text, { projectId: project.id, strict: true })
      expect(report).toMatchObject({ rejected: 1 })
      expect(report.events).toBeLessThan(1_000)
      expect(rejections.map(({ row }) => row)).toEqual([51])
    })
  },
)

test.each(sample([/INSERT INTO events/, /INSERT INTO inbox/, /SELECT/], 3))(
  'a store that fails after %p ends the import with its error',
  async (statement) => {
    const project = await createOn(cluster, 0, 1, 2)
    const text = toLines(events(60))
    const broken = withWriter(cluster, 'shard2', (writer) => breakAfter(writer, statement))
    const importing = importIntoCluster(broken, splitIntoChunks(text, sizes), {
      now: ARRIVAL,
      getLoader: () => createContext(),
      projectId: project.id,
      chunkSize: CHUNK,
      onRejected: () => undefined,
    })
    await expect(importing).rejects.toThrow(BrokenError)
    await releaseLease(cluster.shards[1]!.store)
    await importText(text, { projectId: project.id })
    expect(await readPaths(project.id)).toEqual(splitPaths(events(60), project))
  },
)

test('rows that name their project go to its stores', async () => {
  const atHome = await newProject(cluster.home.store)
  const elsewhere = await createOn(cluster, 2)
  const wide = await createOn(cluster, 1, 0)
  const projects = [atHome, elsewhere, wide]
  const all = events(90).map((one, n) => ({ ...one, project: projects[n % 3]!.id }))
  const rows = [...all, { ...event(90), project: 'unknown' }, event(91), 'not JSON']
  const { report, rejections } = await importText(toLines(rows))
  expect(report).toMatchObject({ received: 93, events: 90, rejected: 3 })
  expect(rejections).toEqual([
    { row: 91, reason: 'project: there is no project unknown', line: JSON.stringify(rows[90]) },
    {
      row: 92,
      reason: 'project: is required where no project is named for all rows',
      line: JSON.stringify(rows[91]),
    },
    { row: 93, reason: 'is not valid JSON', line: 'not JSON' },
  ])
  for (const project of projects) {
    const own = all.filter((one) => one.project === project.id)
    const want = { ...project, shards: project.shards.length === 0 ? ['shard1'] : project.shards }
    expect(await readPaths(project.id)).toEqual(splitPaths(own, want))
  }
  const again = await importText(toLines(rows))
  expect(again.report).toMatchObject({ received: 93, events: 0, duplicates: 90, rejected: 3 })
})

test('an import of before is recognised by its home', async () => {
  const { id } = await newProject(cluster.home.store)
  const named = events(30).map((one) => ({ ...one, project: id }))
  const text = toLines(named)
  await importLines(cluster.home.store, text, { chunkSize: CHUNK })
  await importLines(cluster.home.store, text, { chunkSize: CHUNK, projectId: id })
  for (const options of [{}, { projectId: id }]) {
    const { report } = await importText(text, options)
    expect(report).toMatchObject({ received: 30, events: 0, duplicates: 30 })
  }
})
