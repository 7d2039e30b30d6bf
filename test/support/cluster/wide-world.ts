/** Creates projects that live across several shards, with events, and queries them. */
import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { exportEvents } from '../../../src/analytics/export/export-events.js'
import { describeEvents } from '../../../src/analytics/operations/export.js'
import type { Dependencies } from '../../../src/analytics/operation.js'
import { QUERY } from '../../../src/analytics/operations/query.js'
import { prepare } from '../../../src/analytics/run-operation.js'
import { VALUES } from '../../../src/analytics/operations/values.js'
import {
  MAX_STREAMED_ROWS,
  streamPlan,
  type StreamedResponse,
} from '../../../src/analytics/stream-analytics.js'
import { createQueryRunner, createStreamRunner } from '../../../src/clickhouse/run.js'
import { locate, type Cluster, type Shard } from '../../../src/cluster/cluster.js'
import { createProject } from '../../../src/cluster/directory.js'
import { findEarliest, findStatementGroup, openReader } from '../../../src/cluster/shard-reads.js'
import { chooseShard } from '../../../src/cluster/choose-shard.js'
import type {
  AnalyticsQueryResponse,
  ExportRequest,
  Row,
  ValuesRequest,
  ValuesResponse,
} from '../../../src/contract/api.js'
import { writeNdjson } from '../../../src/http/formats/ndjson.js'
import type { RelationName } from '../../../src/model/relations.js'
import type { ProjectSizes } from '../../../src/model/project-sizes.js'
import type { NewProject, StoredProject } from '../../../src/projects/project.js'
import { findFirstEventTime } from '../../../src/projects/event-times.js'
import {
  answer,
  fillDefaults,
  findRelations,
  NOW,
  send,
  type PartialRequest,
  type SentEvent,
} from '../world/world.js'

/** Creates a project on some shards. */
export const newWideProject = (
  cluster: Cluster,
  shards: readonly Shard[],
  fields: Partial<NewProject> = {},
): Promise<StoredProject> =>
  createProject(
    cluster,
    { id: `w-${randomUUID()}`, name: 'Test', domain: 'example.com', ...fields },
    new Date('2020-01-01T00:00:00Z'),
    shards.map(({ name }) => name),
  )

/** All events have timestamps. */
const ARRIVAL = NOW

/** Imports events of several projects, each into the shard of its sender. An event names its project. */
export async function sendToShards(
  cluster: Cluster,
  projects: readonly StoredProject[],
  events: readonly (SentEvent & { readonly project: string })[],
): Promise<void> {
  await Promise.all(
    cluster.shards.map(async ({ name, store }) => {
      const own = events.filter((event) => {
        const project = projects.find(({ id }) => id === event.project)!
        return project.shards[chooseShard(event, project, ARRIVAL)] === name
      })
      if (own.length > 0) await send(store, { id: '' }, own)
    }),
  )
}

/**
 * Runs a query without HTTP on the shards of a project.
 *
 * @param sizes decide how it is answered
 * @param onPlan is told how
 */
export async function runQuery(
  cluster: Cluster,
  project: StoredProject,
  asked: PartialRequest,
  now: Date = NOW,
  sizes?: ProjectSizes,
  onPlan?: Dependencies['onPlan'],
): Promise<AnalyticsQueryResponse> {
  const stores = locate(cluster, project).map(({ store }) => store)
  const relations = await findRelations(stores, project)
  return answer(QUERY, fillDefaults(asked), project, {
    ...createDependencies(cluster, project, now, sizes),
    listRelations: () => relations,
    onPlan,
  })
}

/** Lists the values of a field without HTTP. @param relations those that may be read; all by default */
export const runValues = (
  cluster: Cluster,
  project: StoredProject,
  request: ValuesRequest,
  relations?: readonly RelationName[],
): Promise<ValuesResponse> =>
  answer(VALUES, request, project, {
    ...createDependencies(cluster, project, NOW),
    ...(relations === undefined ? {} : { listRelations: () => relations }),
  })

function createDependencies(
  cluster: Cluster,
  project: StoredProject,
  now: Date,
  sizes?: ProjectSizes,
): Dependencies {
  const shards = locate(cluster, project)
  const runner = createQueryRunner({ ...shards[0].store, reader: openReader(shards) }, 30_000)
  return {
    group: findStatementGroup(cluster, project),
    readSizes: () => Promise.resolve(sizes),
    run: (statement) => runner(statement),
    firstEventAt: (id) => findEarliest(shards, ({ store }) => findFirstEventTime(store.reader, id)),
    now: () => now,
  }
}

/** Runs a query for all rows as a stream, without HTTP. Returns what the JSON would have. */
export async function streamQuery(
  cluster: Cluster,
  project: StoredProject,
  asked: PartialRequest,
): Promise<Pick<AnalyticsQueryResponse, 'data' | 'totals'> & { readonly total: number }> {
  const shards = locate(cluster, project)
  const stream = createStreamRunner({ ...shards[0].store, reader: openReader(shards) }, 30_000)
  const request = { ...fillDefaults(asked), limit: MAX_STREAMED_ROWS }
  const data: Row[] = []
  let head: Pick<StreamedResponse, 'total' | 'totals'> = { total: -1 }
  const dependencies = { ...createDependencies(cluster, project, NOW), stream }
  const { planned } = await prepare(QUERY, request, project, dependencies)
  await streamPlan(request, planned, dependencies, async ({ total, totals, batches }) => {
    head = { total, ...(totals === undefined ? {} : { totals }) }
    for await (const rows of batches) data.push(...rows)
  })
  return { ...head, data }
}

/** Exports events without HTTP, as NDJSON. @param maxSliceEvents the most events that a statement reads */
export async function exportNdjson(
  cluster: Cluster,
  project: StoredProject,
  request: ExportRequest,
  maxSliceEvents: number,
): Promise<string> {
  const shards = locate(cluster, project)
  const stream = createStreamRunner({ ...shards[0].store, reader: openReader(shards) }, 30_000)
  let written = ''
  const dependencies = { ...createDependencies(cluster, project, NOW), stream, maxSliceEvents }
  await exportEvents(request, project, dependencies, async (events) => {
    written = await text(writeNdjson(describeEvents(events)))
  })
  return written
}
