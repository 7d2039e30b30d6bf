/** Creates the query API over the stores of a cluster. */
import { createResponseCache, type ResponseCache } from '../../analytics/cache/responses.js'
import type { StreamDependencies } from '../../analytics/operation.js'
import { createAuthenticator } from '../../auth/authenticate.js'
import { openKeyring } from '../../auth/keyring.js'
import { createPublicReaders } from '../../auth/public-readers.js'
import { LEAST_PACE } from '../../http/formats/reader-pace.js'
import type { RunningRequest } from '../../http/query/context.js'
import { createQueryQueue, type PlaceLimits } from '../../http/query/queue/query-queue.js'
import type { ShareDependencies } from '../../http/share/read-share.js'
import { ALL_RELATIONS, FACTS } from '../../model/relations.js'
import type { StoredProject } from '../../projects/project.js'
import type { QueryUsage } from '../../usage/query-usage.js'
import type { ApiDependencies } from './api-routes.js'
import { countChecks } from './count-checks.js'
import { createFindData, type FindData, type ReadStore } from './read-stores.js'
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
    openData: (project, request) => openData(findData, now, project, request),
    responses: openResponseCache(options, findData),
    presentExplanation: (explanation) => explanation,
    countQuery: usage.count,
    queue,
    streams: createQueryQueue({ ...STREAMS, timeoutMs: config.queryTimeoutMs }),
    exports: createQueryQueue({ ...EXPORTS, timeoutMs: config.queryTimeoutMs }),
    now,
    rateLimit: config.rateLimit,
    shares: createShares(options),
  }
}

/** Opens the data of a project for a request. */
function openData(
  findData: FindData,
  now: () => Date,
  project: StoredProject,
  request: RunningRequest,
): StreamDependencies {
  const data = findData(project)
  const reader = data.createReader(request)
  return {
    group: data.group,
    run: (statement) => reader.query(statement),
    stream: data.createStreamer(request),
    firstEventAt: () => data.findFirstEvent(request),
    now: () => request.now ?? now(),
    listRelations: () => (data.areRollupsTrusted() ? ALL_RELATIONS : FACTS),
    readSizes: data.readSizes,
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
    onResponse: instruments?.http.onResponse,
  })
  instruments?.http.watchResponses(responses.countBytes)
  return responses
}

/** How many queries wait at once. Each keeps a body of up to 64 kB in memory. */
const MAX_WAITING = 256

/** How many responses are streamed at once: of a project, and of all. Others wait for a place. */
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
