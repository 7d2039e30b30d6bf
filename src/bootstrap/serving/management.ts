/** Serves management: beside the other operations, or on a port of its own. */
import { runAcrossProjects } from '../../analytics/across/run-across-projects.js'
import { createAdminAuthenticator } from '../../auth/authenticate-admin.js'
import { openSigningKey } from '../../auth/signing-key.js'
import type { AcrossResponse } from '../../contract/across-projects.js'
import type { ManagementApi } from '../../http/management/management-api.js'
import { createUploadGate } from '../../http/management/receive-upload.js'
import { buildManagementRoutes, limitAdmins } from '../../http/management/routes.js'
import { buildManagementMcp } from '../../http/mcp/post-management-mcp.js'
import { startTurn } from '../../http/query/context.js'
import type { Authenticate } from '../../http/query/handlers.js'
import { logPlan } from '../../http/query/plan-log.js'
import { handleError } from '../../http/server/error-response.js'
import { createShutdown } from '../../http/server/graceful-shutdown.js'
import { listen } from '../../http/server/listen.js'
import { addRoutes, rejectUnknownPath } from '../../http/server/routes.js'
import type { Contract } from '../../http/validation/contract.js'
import { createLookups } from '../../lib/lookups.js'
import type { StoredProject } from '../../projects/project.js'
import type { ApiDependencies } from './api-routes.js'
import { createShell } from './app-shell.js'
import type { ServiceOptions } from './service-options.js'

/** Opens the data of projects that live on the same shards. */
type OpenData = Parameters<Parameters<ApiDependencies['readAcross']>[1]>[0]

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
  queryProjects: (request, projects, { keyId, ...asker }) => {
    const [project] = projects
    const run = (openData: OpenData): Promise<AcrossResponse> =>
      runAcrossProjects(request, projects, {
        now,
        openData: (some) => openData(requireProjects(projects, some)),
        onPlan: (plan) => logPlan(asker.logger, plan),
      })
    // An organization without projects: nothing is read.
    if (project === undefined)
      return run(() => Promise.reject(new TypeError('there is no project')))
    return api.queue.run(keyId, asker.signal, (turn) => {
      const principal = { keyId, projectId: project.id }
      const running = startTurn({ ...asker, principal, project, scopes: ['read'] }, turn)
      return api.readAcross(running, run)
    })
  },
  uploads: createUploadGate(),
  onOperation,
  now,
  defaultWidth: config.defaultWidth,
  rateLimit: config.rateLimit,
})

/** Returns the stored projects with these ids. */
function requireProjects(
  projects: readonly StoredProject[],
  some: readonly Pick<StoredProject, 'id'>[],
): readonly [StoredProject, ...StoredProject[]] {
  const ids = new Set(some.map(({ id }) => id))
  const [first, ...others] = projects.filter(({ id }) => ids.has(id))
  if (first === undefined) throw new TypeError('these projects were not asked for')
  return [first, ...others]
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
  const { stopping } = shutdown
  const limit = limitAdmins(api)
  addRoutes(app, {
    ...buildManagementRoutes(api, contract, limit, stopping, authenticateKey),
    '/mcp': { post: buildManagementMcp(api, contract, limit, stopping) },
  })
  app.use(rejectUnknownPath, handleError)
  const port = config.managementPort ?? 0
  const { address, stop } = await listen(app, { host: config.host, port, logger })
  return { address, stop: () => stop(steps) }
}
