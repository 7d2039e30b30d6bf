/** Runs the service over an open store, until it is stopped. */
import { queryAnalytics } from './analytics/query-analytics.js'
import { createApp, type AppDependencies } from './app.js'
import { createAuthenticator } from './auth/authenticate.js'
import { openKeyring } from './auth/keyring.js'
import type { Connection } from './clickhouse/connection.js'
import type { Service as OpenedStore } from './clickhouse/open.js'
import { createRun } from './clickhouse/run.js'
import type { Config } from './config.js'
import type { Caller } from './http/caller.js'
import { openContract } from './http/contract.js'
import { createShutdown } from './http/drain.js'
import type { Query, ReadProject } from './http/operations.js'
import { listen } from './http/server.js'
import { warmUp } from './http/warm-up.js'
import type { Logger } from './log.js'
import { firstEventAt } from './projects/first-event.js'
import { presentProject } from './projects/present.js'
import { cachedProbe } from './readiness.js'

export interface ServiceOptions {
  readonly config: Config
  /** Stays open when the service stops: whoever opened it closes it. */
  readonly opened: Pick<OpenedStore, 'store'>
  readonly logger: Logger
  readonly now: () => Date
}

export interface RunningService {
  /** Where it answers, e.g. `http://127.0.0.1:8080`. */
  readonly address: string
  /** Answers what has been asked, then stops listening; within 6 seconds. */
  stop(): Promise<void>
}

const PROBE_TIMEOUT_MS = 1_000

/**
 * Starts the service; when it answers at all it is ready.
 *
 * @throws Error when an operation does not work; the system's error when the address is not free.
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { config, opened, logger, now } = options
  const { store } = opened
  const { shutdown, steps } = createShutdown()
  const authenticator = createAuthenticator({
    store: { reader: store.lookUps },
    keyring: openKeyring(config.dataDir),
    now,
  })
  const dependencies: AppDependencies = {
    ...operations(options),
    authenticate: (header) => authenticator.authenticate(header),
    isReady: cachedProbe(() => store.lookUps.ping(PROBE_TIMEOUT_MS)),
    contract: openContract(config),
    shutdown,
    logger,
    rateLimit: config.rateLimit,
  }
  await warmUp(
    createApp({
      ...dependencies,
      rateLimit: 0,
      authenticate: () => Promise.resolve(nobody(now())),
      logger: logger.child(
        { during: 'warm-up' },
        { level: logger.isLevelEnabled('error') ? 'error' : logger.level },
      ),
    }),
  )
  const { host, port } = config
  const server = await listen(createApp(dependencies), { host, port, logger })
  return {
    address: server.address,
    stop: () => server.stop(steps),
  }
}

/** The use cases behind the operations, each within its deadline. */
function operations({ config, opened: { store }, now }: ServiceOptions): {
  readonly query: Query
  readonly readProject: ReadProject
} {
  const readerUntil = (gone: AbortSignal): Connection => ({
    ...store.reader,
    query: createRun(store, config.queryTimeout, gone),
  })
  return {
    query: (request, project, gone, onPlan) => {
      const reader = readerUntil(gone)
      return queryAnalytics(request, project, {
        run: (statement) => reader.query(statement),
        firstEventAt: (projectId) => firstEventAt(reader, projectId),
        now,
        onPlan,
      })
    },
    readProject: async (project, gone) =>
      presentProject(project, await firstEventAt(readerUntil(gone), project.id)),
  }
}

/** The caller of the warm-up: reads a project without events. */
const nobody = (now: Date): Caller => ({
  principal: { keyId: 'warm-up', projectId: 'warm-up' },
  project: {
    id: 'warm-up',
    name: 'Warm-up',
    domain: 'example.com',
    token: 'warm-up',
    createdAt: now,
    hasPublicDashboard: false,
    excludedIps: [],
    excludedCountries: [],
    retentionDays: null,
  },
})
