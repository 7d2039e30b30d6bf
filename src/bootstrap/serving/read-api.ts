/** Creates the query API over the stores of a cluster. */
import { createResponseCache, type ResponseCache } from '../../analytics/cache/responses.js'
import type { StreamDependencies } from '../../analytics/operation.js'
import { createAuthenticator } from '../../auth/authenticate.js'
import { openKeyring } from '../../auth/keyring.js'
import { createPublicReaders } from '../../auth/public-readers.js'
import type { ShardsData } from '../../analytics/across/read-projects.js'
import {
  atOneMoment,
  joinMoments,
  nameMoment,
  StillPublishingError,
  waitForMoment,
  type Moment,
  type Moments,
} from '../../changes/moment.js'
import type { Statement } from '../../clickhouse/sql.js'
import { readBriefly } from '../../clickhouse/brief-read.js'
import type { DataState } from '../../contract/api.js'
import { ApiError } from '../../contract/errors.js'
import type { ConsumeRows } from '../../clickhouse/stream-rows.js'
import { StoreUnavailableError, toStoreError } from '../../clickhouse/errors.js'
import { locate, type Cluster } from '../../cluster/cluster.js'
import { findEarliest } from '../../cluster/shard-reads.js'
import { LEAST_PACE } from '../../http/formats/reader-pace.js'
import type { RunningRequest } from '../../http/query/context.js'
import { logPlan } from '../../http/query/plan-log.js'
import { createQueryQueue, type PlaceLimits } from '../../http/query/queue/query-queue.js'
import type { ShareDependencies } from '../../http/share/read-share.js'
import { withoutWholeSessions } from '../../analytics/plan/planner.js'
import type { MarkedRow } from '../../model/origin.js'
import { ALL_RELATIONS, FACTS, type RelationName, WITHOUT_PAIRS } from '../../model/relations.js'
import { withDeadline } from '../../lib/signals.js'
import { listDefinitions } from '../../projects/definitions.js'
import { findFirstEventTimeOfAny } from '../../projects/event-times.js'
import type { StoredProject } from '../../projects/project.js'
import type { QueryUsage } from '../../usage/query-usage.js'
import type { ApiDependencies, OpenShards } from './api-routes.js'
import { countChecks } from './count-checks.js'
import {
  createFindData,
  type FindData,
  type ProjectData,
  type ReadStore,
  type ShardMoments,
} from './read-stores.js'
import type { ServiceOptions } from './service-options.js'

/** Creates the query API. Every query has a deadline and ends when its client disconnects. */
export function createApi(
  options: ServiceOptions,
  stores: ReadonlyMap<string, ReadStore>,
  usage: Pick<QueryUsage, 'count'>,
): ApiDependencies {
  const { cluster, config, now, instruments } = options
  const findData = createFindData(cluster, stores)
  const authenticator = createAuthenticator({
    store: { reader: cluster.home.store.lookups },
    keyring: openKeyring(cluster.home.store.lookups, now),
    now,
  })
  const queue = createQueryQueue({
    perKey: config.queriesPerKey,
    inAll: config.queries,
    waiting: MAX_WAITING,
    timeoutMs: config.queryTimeoutMs,
  })
  instruments?.http.watchQueries(() => queue.count())
  return {
    authenticate: countChecks(
      authenticator.authenticate,
      'key',
      instruments?.store(cluster.home.name),
    ),
    recall: authenticator.recall,
    readData: (project, request, read) => {
      const data = findData(project)
      return readInTime(request, data.createMoments, (at, running, signal) =>
        read(openData(data, now, running, at, signal)),
      )
    },
    readAcross: (request, read) => readAcross(cluster, findData, request, read),
    responses: openResponseCache(options, findData),
    readDefinitions: (projectId) =>
      readBriefly(
        (brief) => listDefinitions(cluster.home.store.lookups, projectId, brief),
        createDefinitionsUnavailableError,
      ),
    presentExplanation: (explanation) => explanation,
    countQuery: (projectId, source) => {
      usage.count(projectId)
      if (source !== undefined) instruments?.http.onResponse(source)
    },
    queue,
    streams: createQueryQueue({ ...STREAMS, timeoutMs: config.queryTimeoutMs }),
    exports: createQueryQueue({ ...EXPORTS, timeoutMs: config.queryTimeoutMs }),
    now,
    rateLimit: config.rateLimit,
    shares: createShares(options),
  }
}

const createDefinitionsUnavailableError = (cause: unknown): ApiError =>
  new ApiError(
    'SERVICE_UNAVAILABLE',
    'Goals and segments cannot be read right now. Try again in a moment.',
    { cause },
  )

/** Reads at one moment, within the time of a request. @throws ApiError SERVICE_UNAVAILABLE if it waits for longer than that */
function readInTime<One, Result>(
  request: RunningRequest,
  createMoments: (signal: AbortSignal) => Moments<One>,
  read: (at: One, running: RunningRequest, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const begun = performance.now()
  return withDeadline(request.timeoutMs, request.signal, (signal) => {
    const work = (at: One): Promise<Result> => {
      const timeoutMs = request.timeoutMs - (performance.now() - begun)
      return read(at, { ...request, timeoutMs }, signal)
    }
    return atOneMoment(createMoments(signal), work, signal)
  }).catch((error: unknown) => {
    throw error instanceof StillPublishingError
      ? toStoreError(new StoreUnavailableError(error.message))
      : error
  })
}

/** Lists the relations that may be read. Rollups count what is hidden, and sessions may be hidden without their later events. */
function listRelations(
  { areRollupsTrusted, arePaired }: ProjectData,
  moments: ShardMoments,
): readonly RelationName[] {
  if (joinMoments(moments).isHiding) return withoutWholeSessions(FACTS)
  if (!areRollupsTrusted()) return FACTS
  return arePaired(moments) ? ALL_RELATIONS : WITHOUT_PAIRS
}

function openData(
  data: ProjectData,
  now: () => Date,
  request: RunningRequest,
  at: ShardMoments,
  signal: AbortSignal,
): StreamDependencies {
  const reader = data.createReader(request, at)
  const stream = data.createStreamer(request, at)
  const requireStill = async (): Promise<void> => {
    if (!data.isGuarded(at)) await data.requireStill(at, signal)
  }
  return {
    group: data.group,
    run: async <Row extends object>(statement: Statement) => {
      const result = await reader.query<Row & MarkedRow>(statement)
      await requireStill()
      return result
    },
    stream: <Stored>(statement: Statement, consume: ConsumeRows<Stored>) =>
      stream<Stored>(statement, async (rows) => {
        await requireStill()
        await consume(rows)
      }),
    firstEventAt: () => data.findFirstEvent(request, at),
    now: () => request.now ?? now(),
    onPlan: (plan) => logPlan(request.logger, plan),
    listRelations: () => listRelations(data, at),
    readSizes: data.readSizes,
    describeState: async () => {
      await data.requireStill(at, signal)
      return describeState(joinMoments(at))
    },
  }
}

const describeState = (moment: Moment): DataState => ({
  version: nameMoment(moment),
  hidesRows: moment.isHiding,
})

/**
 * Reads the data of several projects. The rows of those on one shard are of one moment. On several, the other shards may be read a
 * moment later: one of many projects changes again and again.
 */
const readAcross = <Result>(
  cluster: Cluster,
  findData: FindData,
  request: RunningRequest,
  read: (openData: OpenShards) => Promise<Result>,
): Promise<Result> =>
  readInTime(
    request,
    () => MOMENT_OF_EACH_SHARD,
    (_at, running, signal) =>
      read((projects) => openShards(cluster, findData, projects, running, signal)),
  )

/** Each shard is asked for its moment when its data is opened. */
const MOMENT_OF_EACH_SHARD: Moments<true> = {
  getLast: () => true,
  read: () => Promise.resolve(true),
}

/** Opens the data of projects that live on the same shards. */
async function openShards(
  cluster: Cluster,
  findData: FindData,
  projects: readonly [StoredProject, ...StoredProject[]],
  request: RunningRequest,
  signal: AbortSignal,
): Promise<ShardsData> {
  const [first] = projects
  const data = findData(
    first,
    projects.map(({ id }) => id),
  )
  const at = await waitForMoment(data.createMoments(signal), signal)
  const reader = data.createReader(request, at)
  return {
    group: data.group,
    run: (statement) => reader.query(statement),
    listRelations: () => listRelations(data, at),
    firstEventAt: (ids) =>
      findEarliest(locate(cluster, first), ({ store }) =>
        findFirstEventTimeOfAny(store.reader, ids),
      ),
  }
}

/** Creates the responses that are given again, over the connection for lookups: slow queries cannot block it. */
function openResponseCache(options: ServiceOptions, findData: FindData): ResponseCache {
  const { config, now, instruments } = options
  const responses = createResponseCache({
    maxBytes: config.cacheMb * 1_000_000,
    readVersion: (project) => findData(project).changes.readVersion(project.id),
    getLastVersion: (project) => findData(project).changes.getLastVersion(project.id),
    isCurrent: (project, version) => findData(project).changes.isCurrent(project.id, version),
    hasEventsFrom: (project, moment) => findData(project).hasEventsFrom(moment),
    readsRollups: (project) => findData(project).areRollupsTrusted(),
    now,
  })
  instruments?.http.watchResponses(responses.countBytes)
  return responses
}

/** How many queries wait at once. Each keeps a body of up to 64 kB in memory. */
const MAX_WAITING = 256

/** How many responses are streamed at once: per project, and in all. Others wait for a place. */
export const STREAMS: PlaceLimits = {
  perKey: 2,
  inAll: 4,
  waiting: 64,
  owner: 'project',
  leastPace: LEAST_PACE,
}

/** How many exports run at once, in the same way. They may last for hours. */
export const EXPORTS: PlaceLimits = STREAMS

/** How many responses are streamed to viewers at once. They have a queue of their own: API keys keep their places. */
const VIEWER_STREAMS: PlaceLimits = {
  perKey: 1,
  inAll: 2,
  waiting: 32,
  owner: 'public dashboard',
  leastPace: LEAST_PACE,
}

/** Creates what public dashboards need beside the use cases of the query API. */
const createShares = ({ cluster, config, now }: ServiceOptions): ShareDependencies => ({
  ...createPublicReaders({ reader: cluster.home.store.lookups }, now),
  limits: config.shareLimits,
  streams: createQueryQueue({ ...VIEWER_STREAMS, timeoutMs: config.queryTimeoutMs }),
})
