/** Creates projects with events, and queries them. */
import { randomUUID } from 'node:crypto'
import type {
  DatedRequest,
  Dependencies,
  Operation,
  QueriedProject,
  StoredResponse,
} from '../../../src/analytics/operation.js'
import { QUERY } from '../../../src/analytics/operations/query.js'
import { buildResponse, prepare, runPlanned } from '../../../src/analytics/run-operation.js'
import { VALUES } from '../../../src/analytics/operations/values.js'
import type {
  AnalyticsQueryRequest,
  AnalyticsQueryResponse,
  ValuesRequest,
  ValuesResponse,
} from '../../../src/contract/api.js'
import { createQueryRunner } from '../../../src/clickhouse/run.js'
import { sql, statement, string } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'
import type { ProjectSizes } from '../../../src/model/project-sizes.js'
import { ALL_RELATIONS, WITHOUT_PAIRS, type RelationName } from '../../../src/model/relations.js'
import type { Rejection } from '../../../src/ingest/inbox/rejections.js'
import type { LoadReport } from '../../../src/ingest/loader/load-report.js'
import { findFirstEventTime } from '../../../src/projects/event-times.js'
import type { NewProject, StoredProject } from '../../../src/projects/project.js'
import { createProject } from '../../../src/projects/store.js'
import { beginPairs, isPaired } from '../../../src/rollups/paired-projects.js'
import { importEvents } from '../store/loading.js'

/** An event as sent, in the form of a line of NDJSON. */
export type SentEvent = Readonly<Record<string, unknown>> & { readonly timestamp: string }

/** A request without the members that have defaults. */
export type PartialRequest = Pick<AnalyticsQueryRequest, 'date_range'> &
  Partial<AnalyticsQueryRequest>

/** The time at which all events of tests arrive: later than any of their timestamps. */
export const ARRIVAL = new Date('2099-12-31T00:00:00Z')

export const NOW = new Date('2026-06-15T12:34:56.789Z')

/** Sizes of a project with so many facts that all else is read instead, where that is possible. @param month the first of its months, from 0 */
export const createLargeSizes = (year: number, month: number, months: number): ProjectSizes => ({
  readAt: NOW,
  months: Array.from({ length: months }, (_, i) => ({
    month: new Date(Date.UTC(year, month + i)),
    events: 1e9,
    visits: 1e8,
  })),
  values: new Map(),
})

/** Those of a project that is large up to now, so that its queries about session attributes are answered from sessions. */
export const LARGE_SIZES = createLargeSizes(2025, 9, 9)

/** Fills in the defaults of a request, as the validator does. */
export const fillDefaults = (asked: PartialRequest): AnalyticsQueryRequest => ({
  metrics: ['users', 'pageviews', 'events'],
  group_by: [],
  order_by: [],
  limit: 100,
  offset: 0,
  filters: [],
  filtersOperator: 'and',
  ...asked,
})

export const newProject = (
  store: Store,
  fields: Partial<NewProject> = {},
): Promise<StoredProject> =>
  createProject(
    store,
    { id: `t-${randomUUID()}`, name: 'Test', domain: 'example.com', ...fields },
    new Date('2020-01-01T00:00:00Z'),
  )

/** Lets a project without events have rollups of pairs from the start. The service counts those of large projects only. */
export async function countPairs(store: Store, { id }: Pick<StoredProject, 'id'>): Promise<void> {
  await beginPairs(store, [id])
  await store.writer.execute(
    statement(
      sql`INSERT INTO paired_projects (project_id, is_complete) SELECT ${string(id)}, true`,
    ),
  )
}

export interface Loaded {
  readonly report: LoadReport
  readonly rejections: readonly Rejection[]
}

/** Imports events as one NDJSON file. Takes about 0.6 s of CPU time even for one event. */
export function send(
  store: Store,
  project: Pick<StoredProject, 'id'>,
  events: readonly SentEvent[],
): Promise<Loaded> {
  return sendText(store, project, events.map((event) => JSON.stringify(event)).join('\n'))
}

export async function sendText(
  store: Store,
  { id }: Pick<StoredProject, 'id'>,
  text: string,
): Promise<Loaded> {
  const rejections: Rejection[] = []
  const report = await importEvents(store, toSource(Buffer.from(text)), {
    now: ARRIVAL,
    // A new identity, so that importing the same text twice adds its events twice.
    identity: randomUUID(),
    projectId: id,
    onRejected: (rows) => void rejections.push(...rows),
  })
  return { report, rejections }
}

async function* toSource(bytes: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(bytes)
}

/** Creates a project with these events. */
export async function createWorld(
  store: Store,
  events: readonly SentEvent[],
  fields: Partial<NewProject> = {},
): Promise<StoredProject> {
  const project = await newProject(store, fields)
  if (events.length > 0) await send(store, project, events)
  return project
}

/** Answers a request without HTTP and without the cache. Returns the body of the response. */
export async function answer<Body extends DatedRequest, Resolved, Planned, Response extends object>(
  operation: Operation<Body, Resolved, Planned, StoredResponse, Response>,
  request: Body,
  project: QueriedProject,
  dependencies: Dependencies,
): Promise<Response> {
  const prepared = await prepare(operation, request, project, dependencies)
  const result = await runPlanned(operation, request, project, prepared, dependencies)
  return buildResponse(operation, request, result) as Response
}

/** Runs a query without HTTP. @param sizes decide how it is answered @param allowed what may be read */
export async function runQuery(
  store: Store,
  project: StoredProject,
  asked: PartialRequest,
  now: Date = NOW,
  sizes?: ProjectSizes,
  allowed?: readonly RelationName[],
): Promise<AnalyticsQueryResponse> {
  const relations = allowed ?? (await findRelations([store], project))
  return answer(QUERY, fillDefaults(asked), project, {
    ...createDependencies(store, now, sizes),
    listRelations: () => relations,
  })
}

/** Finds which relations queries may read: pairs only where all stores of a project have them. */
export async function findRelations(
  stores: readonly Pick<Store, 'reader'>[],
  { id }: Pick<StoredProject, 'id'>,
): Promise<readonly RelationName[]> {
  const paired = await Promise.all(stores.map(({ reader }) => isPaired(reader, id)))
  return paired.includes(false) ? WITHOUT_PAIRS : ALL_RELATIONS
}

/** Lists the values of a field without HTTP. */
export const runValues = (
  store: Store,
  project: StoredProject,
  request: ValuesRequest,
): Promise<ValuesResponse> => answer(VALUES, request, project, createDependencies(store, NOW))

const createDependencies = (store: Store, now: Date, sizes?: ProjectSizes): Dependencies => ({
  readSizes: () => Promise.resolve(sizes),
  run: (statement) => createQueryRunner(store, 30_000)(statement),
  firstEventAt: (id) => findFirstEventTime(store.reader, id),
  now: () => now,
})
