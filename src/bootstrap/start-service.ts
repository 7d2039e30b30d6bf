/** Starts the service over an open store. */
import { createAnswers, type Answers } from '../analytics/cache/answers.js'
import { queryAnalytics } from '../analytics/query-analytics.js'
import { createAuthenticator } from '../auth/authenticate.js'
import { openKeyring } from '../auth/keyring.js'
import { watchChanges } from '../changes/watch-changes.js'
import type { Connection } from '../clickhouse/connection.js'
import { withLowPriority } from '../clickhouse/connection-wrappers.js'
import { createQueryRunner } from '../clickhouse/run.js'
import type { Config, Role } from '../config/config.js'
import type { SpecName } from '../contract/spec.js'
import type { ReadProject, RequestScope, RunQuery } from '../http/query/api-handlers.js'
import { createQueryQueue } from '../http/query/query-queue.js'
import { createStoppingError } from '../http/server/graceful-shutdown.js'
import { cacheProbe } from '../http/server/health.js'
import { compileContract } from '../http/validation/contract.js'
import { createCollect } from '../ingest/collect/collect.js'
import { createFindProject } from '../ingest/collect/find-project.js'
import { createWaitingWork, type InboxView } from '../ingest/collect/waiting-work.js'
import { watchDisk, type DiskWatch } from '../ingest/inbox/disk-space.js'
import { createInboxWriter } from '../ingest/inbox/inbox-writer.js'
import type { Logger } from '../lib/log.js'
import { ALL_RELATIONS, FACTS } from '../model/relations.js'
import type { Instruments } from '../telemetry/instruments.js'
import type { Traces } from '../telemetry/traces.js'
import { findFirstEventTime, hasEventsFrom } from '../projects/event-times.js'
import { createSizesReader } from '../projects/project-sizes.js'
import { presentProject } from '../projects/present.js'
import {
  createApp,
  type ApiDependencies,
  type AppDependencies,
  type CollectorDependencies,
} from './app.js'
import { listenEarly, type EarlyServer } from './early-server.js'
import { countChecks } from './metrics.js'
import type { OpenedStore } from './open-store.js'
import { watchRollups, type RollupTrust } from './rollup-trust.js'

export interface ServiceOptions extends Pick<AppDependencies, 'pages' | 'getLoaderState'> {
  readonly config: Config
  /** The caller closes it after the service has stopped. */
  readonly opened: Pick<OpenedStore, 'store'>
  readonly logger: Logger
  readonly now: () => Date
  readonly instruments?: Instruments | undefined
  readonly traces?: Traces | undefined
  /** What the loader of this process last saw of the stream. If left out, any amount of events may wait. */
  readonly readInbox?: () => InboxView
  /** A server that listens already; if left out, one is started. */
  readonly server?: EarlyServer
}

export interface RunningService {
  /** The URL of the service, e.g. `http://127.0.0.1:8080`. */
  readonly address: string
  /** Finishes pending requests and stores accepted events, then stops listening; takes at most 6 seconds. */
  stop(): Promise<void>
}

/**
 * Starts the service. The application takes its requests only once the contracts are compiled, so the first one is not
 * slower than others.
 *
 * @throws Error if a contract does not compile; the system's error if the address cannot be bound
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { config, opened, logger, instruments, traces, pages, getLoaderState } = options
  const { role } = config
  const server = options.server ?? (await listenEarly({ config, logger, instruments }))
  const { shutdown } = server
  const rollups =
    role === 'collector' ? undefined : await watchRollups(opened.store.lookups, logger)
  const disk = role === 'api' ? undefined : watchDisk(opened.store.lookups, logger)
  if (disk !== undefined) instruments?.store.watchDisk(disk.readFreeBytes)
  const app = createApp({
    api: rollups && createApi(options, rollups),
    collector: disk && createCollector(options, disk, shutdown.stopping),
    isReady: cacheProbe((timeoutMs) => opened.store.lookups.ping(timeoutMs)),
    contract: await compileContract(config, CONTRACTS[role]),
    shutdown,
    logger,
    observer: instruments?.http,
    startSpan: traces?.startRequest,
    ...(pages === undefined ? {} : { pages }),
    ...(getLoaderState === undefined ? {} : { getLoaderState }),
  })
  server.handOver(app)
  return {
    address: server.address,
    stop: async () => {
      await server.stop()
      rollups?.stop()
      disk?.stop()
    },
  }
}

/** The contracts that a process with this role serves. */
const CONTRACTS: Readonly<Record<Role, readonly SpecName[]>> = {
  all: ['openapi', 'collector'],
  api: ['openapi'],
  collector: ['collector'],
}

/** Creates the use cases of the query API. Every query has a deadline and ends when its client disconnects. */
function createApi(options: ServiceOptions, rollups: RollupTrust): ApiDependencies {
  const { config, now, instruments } = options
  const { store } = options.opened
  const createReader = ({ timeoutMs, yieldsCpu, ...scope }: RequestScope): Connection => {
    const reader = yieldsCpu ? withLowPriority(store.reader) : store.reader
    return { ...reader, query: createQueryRunner({ ...store, reader }, timeoutMs, scope) }
  }
  const authenticator = createAuthenticator({
    store: { reader: store.lookups },
    keyring: openKeyring(store.lookups, now),
    now,
  })
  const queue = createQueryQueue({
    perKey: config.queriesPerKey,
    inAll: config.queries,
    waiting: MAX_WAITING,
    timeoutMs: config.queryTimeoutMs,
  })
  instruments?.http.watchQueries(() => queue.count())
  const readSizes = createSizesReader(store.lookups, now)
  const runQuery: RunQuery = (request, project, scope, onPlan, facts) => {
    const reader = createReader(scope)
    return queryAnalytics(request, project, {
      run: (statement) => reader.query(statement),
      firstEventAt: async (id) => (facts.firstEventAt = await findFirstEventTime(reader, id)),
      now,
      onPlan,
      listRelations: () => (rollups.isTrusted() ? ALL_RELATIONS : FACTS),
      readSizes,
    })
  }
  const readProject: ReadProject = async (project, scope) =>
    presentProject(project, await findFirstEventTime(createReader(scope), project.id))
  return {
    authenticate: countChecks(authenticator.authenticate, 'key', instruments?.store),
    recall: authenticator.recall,
    runQuery,
    answers: openAnswers(options, rollups),
    readProject,
    queue,
    rateLimit: config.rateLimit,
  }
}

/** Creates the answers that are given again, over the connection for lookups: slow queries cannot block it. */
function openAnswers(options: ServiceOptions, rollups: RollupTrust): Answers {
  const { config, now, instruments } = options
  const { lookups } = options.opened.store
  const answers = createAnswers({
    maxBytes: config.cacheMb * 1_000_000,
    ...watchChanges(lookups, now),
    hasEventsFrom: (projectId, moment) => hasEventsFrom(lookups, projectId, moment),
    readsRollups: () => rollups.isTrusted(),
    now,
    onAnswer: instruments?.http.onAnswer,
  })
  instruments?.http.watchAnswers(answers.countBytes)
  return answers
}

/** How many queries wait at once. Each keeps a body of up to 64 kB in memory. */
const MAX_WAITING = 256

/**
 * Creates the use cases of the collector. Writes still pending when the shutdown grace period ends are rejected
 * with SERVICE_UNAVAILABLE.
 */
function createCollector(
  { config, opened: { store }, now, instruments, readInbox }: ServiceOptions,
  disk: DiskWatch,
  stopping: AbortSignal,
): CollectorDependencies {
  const writer = createInboxWriter(store.writer)
  stopping.addEventListener('abort', () => writer.rejectPending(createStoppingError()), {
    once: true,
  })
  const waiting =
    readInbox === undefined || config.maxWaitingValues === 0
      ? undefined
      : createWaitingWork(config.maxWaitingValues, readInbox)
  return {
    findProject: countChecks(createFindProject(store.tokenLookups), 'token', instruments?.store),
    collect: createCollect(async (lines) => {
      disk.requireSpace()
      await writer.write(lines)
    }, waiting),
    waiting,
    now,
    maxEventAgeDays: config.maxEventAgeDays,
    limits: config.eventLimits,
    trustedProxies: config.trustedProxies,
  }
}
