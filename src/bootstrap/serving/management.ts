/** Serves management: beside the other operations, or on a port of its own. */
import type { ShardsData } from '../../analytics/across/read-projects.js'
import { runAcrossProjects } from '../../analytics/across/run-across-projects.js'
import { createAdminAuthenticator } from '../../auth/authenticate-admin.js'
import { openSigningKey } from '../../auth/signing-key.js'
import { locate, type Cluster } from '../../cluster/cluster.js'
import { findEarliest } from '../../cluster/shard-reads.js'
import type { Asker, ManagementApi } from '../../http/management/management-api.js'
import { buildManagementRoutes } from '../../http/management/routes.js'
import { startTurn } from '../../http/query/context.js'
import type { Authenticate } from '../../http/query/handlers.js'
import { logPlan } from '../../http/query/plan-log.js'
import type { Turn } from '../../http/query/queue/query-queue.js'
import { handleError } from '../../http/server/error-response.js'
import { createShutdown } from '../../http/server/graceful-shutdown.js'
import { listen } from '../../http/server/listen.js'
import { addRoutes, rejectUnknownPath } from '../../http/server/routes.js'
import type { Contract } from '../../http/validation/contract.js'
import { createLookups } from '../../lib/lookups.js'
import { findFirstEventTimeOfAny } from '../../projects/event-times.js'
import type { StoredProject } from '../../projects/project.js'
import type { ApiDependencies } from './api-routes.js'
import { createShell } from './app-shell.js'
import type { ServiceOptions } from './service-options.js'

/** Creates what the operations of management need. */
export const createManagement = (
  { cluster, config, now, onOperation = () => undefined }: ServiceOptions,
  api: ApiDependencies,
): ManagementApi => ({
  admins: createAdminAuthenticator(cluster.home.store, now),
  cluster,
  openSigningKey: keepBriefly(() =>
    openSigningKey({ store: cluster.home.store, dataDir: config.dataDir }, now()),
  ),
  queryProjects: (request, projects, asker) =>
    api.queue.run(asker.keyId, asker.signal, (turn) =>
      runAcrossProjects(request, projects, {
        now,
        openData: ({ id }) => openShards(cluster, api, requireOne(projects, id), asker, turn),
        onPlan: (plan) => logPlan(asker.logger, plan),
      }),
    ),
  onOperation,
  now,
  defaultWidth: config.defaultWidth,
  rateLimit: config.rateLimit,
})

function requireOne(projects: readonly StoredProject[], id: string): StoredProject {
  const found = projects.find((project) => project.id === id)
  if (found === undefined) throw new TypeError(`the project ${id} was not asked for`)
  return found
}

/** Opens the data of a project, and of all others on the same shards. */
function openShards(
  cluster: Cluster,
  api: ApiDependencies,
  project: StoredProject,
  { keyId, ...asker }: Asker,
  turn: Pick<Turn, 'leftMs' | 'isExtra'>,
): ShardsData {
  const principal = { keyId, projectId: project.id }
  const running = startTurn({ ...asker, principal, project, scopes: ['read'] }, turn)
  const { group, run, listRelations } = api.openData(project, running)
  return {
    group,
    run,
    listRelations,
    firstEventAt: (ids) =>
      findEarliest(locate(cluster, project), ({ store }) =>
        findFirstEventTimeOfAny(store.reader, ids),
      ),
  }
}

/** Returns a function that opens a value again only after `FRESH_MS`, or when that has failed. */
function keepBriefly<Value>(open: () => Promise<Value>): () => Promise<Value> {
  const lookups = createLookups<{ readonly value: Value }>({
    now: () => performance.now(),
    maxFound: 1,
    maxMissing: 0,
  })
  return async () => {
    const found = await lookups.find('value', async () => ({ value: await open() }))
    if (found === undefined) throw new Error('the value was not opened')
    return found.value
  }
}

/**
 * Serves management on a port of its own.
 *
 * @throws the operating system's error, such as EADDRINUSE, if the address cannot be bound
 */
export async function listenForManagement(
  { config, logger, instruments, traces }: ServiceOptions,
  api: ManagementApi,
  contract: Contract,
  authenticateKey: Authenticate | undefined,
): Promise<{ readonly address: string; readonly stop: () => Promise<void> }> {
  const { shutdown, steps } = createShutdown()
  const app = createShell({
    collector: undefined,
    trustedProxies: config.trustedProxies,
    logger,
    shutdown,
    observer: instruments?.http,
    startSpan: traces?.startRequest,
  })
  addRoutes(app, buildManagementRoutes(api, contract, shutdown.stopping, authenticateKey))
  app.use(rejectUnknownPath, handleError)
  const port = config.managementPort ?? 0
  const { address, stop } = await listen(app, { host: config.host, port, logger })
  return { address, stop: () => stop(steps) }
}
