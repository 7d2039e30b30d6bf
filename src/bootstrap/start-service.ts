/** Runs the service over an open store, until it is stopped. */
import { queryAnalytics } from '../analytics/query-analytics.js'
import {
  createApp,
  type ApiDependencies,
  type AppDependencies,
  type CollectorDependencies,
} from './app.js'
import { createAuthenticator } from '../auth/authenticate.js'
import { openKeyring } from '../auth/keyring.js'
import type { Connection } from '../clickhouse/connection.js'
import type { OpenedStore as OpenedStore } from './open-store.js'
import { createQueryRunner } from '../clickhouse/run.js'
import { createCollect } from '../ingest/collect/collect.js'
import { createFindProject } from '../ingest/collect/find-project.js'
import type { Config } from '../config/config.js'
import { openContract } from '../http/validation/contract.js'
import { createShutdown, stoppingError } from '../http/server/graceful-shutdown.js'
import type { Query, ReadProject } from '../http/query/api-handlers.js'
import { listen } from '../http/server/listen.js'
import { warmUp } from '../http/validation/warm-up.js'
import { createInboxWriter } from '../ingest/inbox/inbox-writer.js'
import type { Logger } from '../lib/log.js'
import { firstEventAt } from '../projects/first-event.js'
import { presentProject } from '../projects/present.js'
import type { StoredProject } from '../projects/project.js'
import { cachedProbe } from './readiness.js'
import { partsOf } from '../config/roles.js'

export interface ServiceOptions extends Pick<AppDependencies, 'pages'> {
  readonly config: Config
  /** Stays open when the service stops: whoever opened it closes it. */
  readonly opened: Pick<OpenedStore, 'store'>
  readonly logger: Logger
  readonly now: () => Date
}

export interface RunningService {
  /** Where it answers, e.g. `http://127.0.0.1:8080`. */
  readonly address: string
  /** Answers what has been asked and keeps what has been sent, then stops listening; within 6 seconds. */
  stop(): Promise<void>
}

const PROBE_TIMEOUT_MS = 1_000

/**
 * Starts the service; when it answers at all it is ready.
 *
 * @throws Error when an operation does not work; the system's error when the address is not free.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { config, opened, logger, pages } = options
  const { store } = opened
  const { shutdown, steps } = createShutdown()
  const parts = partsOf(config.role)
  const dependencies: AppDependencies = {
    api: parts.has('api') ? answering(options) : undefined,
    collector: parts.has('collector') ? collecting(options, shutdown.stopping) : undefined,
    isReady: cachedProbe(() => store.lookups.ping(PROBE_TIMEOUT_MS)),
    contract: openContract(config),
    shutdown,
    logger,
    ...(pages === undefined ? {} : { pages }),
  }
  await warmUp(createApp(forWarmUp(dependencies, options)), parts)
  const { host, port } = config
  const server = await listen(createApp(dependencies), { host, port, logger })
  return {
    address: server.address,
    stop: () => server.stop(steps),
  }
}

/** The use cases behind the questions, each within its deadline. */
function answering({ config, opened: { store }, now }: ServiceOptions): ApiDependencies {
  const readerUntil = (gone: AbortSignal): Connection => ({
    ...store.reader,
    query: createQueryRunner(store, config.queryTimeout, gone),
  })
  const authenticator = createAuthenticator({
    store: { reader: store.lookups },
    keyring: openKeyring(config.dataDir),
    now,
  })
  const query: Query = (request, project, gone, onPlan) => {
    const reader = readerUntil(gone)
    return queryAnalytics(request, project, {
      run: (statement) => reader.query(statement),
      firstEventAt: (projectId) => firstEventAt(reader, projectId),
      now,
      onPlan,
    })
  }
  const readProject: ReadProject = async (project, gone) =>
    presentProject(project, await firstEventAt(readerUntil(gone), project.id))
  return {
    authenticate: (header) => authenticator.authenticate(header),
    query,
    readProject,
    rateLimit: config.rateLimit,
  }
}

/** The use case behind the events. Who still waits when the grace of a stop is over is told so. */
function collecting(
  { config, opened: { store }, now }: ServiceOptions,
  stopping: AbortSignal,
): CollectorDependencies {
  const writer = createInboxWriter(store.writer)
  stopping.addEventListener('abort', () => writer.rejectPending(stoppingError()), { once: true })
  return {
    findProject: createFindProject(store.lookups),
    collect: createCollect(writer.write),
    now,
    trustedProxies: config.trustedProxies,
  }
}

/** For an application of which any request is let pass, and that keeps no event. */
function forWarmUp(
  { api, collector, ...dependencies }: AppDependencies,
  { logger, now }: ServiceOptions,
): AppDependencies {
  const project = nobodys(now())
  const principal = { keyId: project.id, projectId: project.id }
  return {
    ...dependencies,
    api: api && {
      ...api,
      rateLimit: 0,
      authenticate: () => Promise.resolve({ principal, project }),
    },
    collector: collector && {
      ...collector,
      findProject: () => Promise.resolve(project),
      collect: createCollect(() => Promise.resolve()),
    },
    logger: logger.child(
      { during: 'warm-up' },
      { level: logger.isLevelEnabled('error') ? 'error' : logger.level },
    ),
  }
}

/** A project without events. */
const nobodys = (now: Date): StoredProject => ({
  id: 'warm-up',
  name: 'Warm-up',
  domain: 'example.com',
  token: 'warm-up',
  createdAt: now,
  hasPublicDashboard: false,
  excludedIps: [],
  excludedCountries: [],
  retentionDays: null,
})
