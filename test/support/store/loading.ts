/** The functions for loads, deletions and rebuilds, with the same context as in the service. */
import { createLoaderContext } from '../../../src/bootstrap/open-store.js'
import type { Connection } from '../../../src/clickhouse/connection.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { toCluster, type Cluster } from '../../../src/cluster/cluster.js'
import * as projectDeletion from '../../../src/deletion/delete-project.js'
import { finishDeletions } from '../../../src/deletion/deletion-steps.js'
import * as userDeletion from '../../../src/deletion/delete-users.js'
import * as demo from '../../../src/demo/top-up.js'
import type { Geoip } from '../../../src/ingest/enrichment/geoip.js'
import * as imports from '../../../src/ingest/import/import-events.js'
import type * as options from '../../../src/ingest/import/import-options.js'
import * as loader from '../../../src/ingest/loader/loader.js'
import type { LoaderContext } from '../../../src/ingest/loader/loader-context.js'
import { createLoaderMonitor, type LoaderMonitor } from '../../../src/ingest/loader/loader-state.js'
import * as streaming from '../../../src/ingest/loader/streaming-loader.js'
import { checkRollups as check } from '../../../src/rollups/check.js'
import { ensureRollups as ensure } from '../../../src/rollups/ensure-rollups.js'
import * as paired from '../../../src/rollups/paired-projects.js'
import { rebuildRollups as rebuild } from '../../../src/rollups/rebuild.js'
import type { MonthsOptions } from '../../../src/rollups/process-months.js'

/** Tests feed events of fixed days, however long ago those are. */
const MAX_EVENT_AGE_DAYS = 36_500

/** Deletions of projects do not wait until services have noticed that the API keys ended. */
const WAIT_MS = 0

/** No service watches the changes of most tests. */
const NOTICE_MS = 0

export const createContext = (geoip?: Geoip): LoaderContext => ({
  ...createLoaderContext(MAX_EVENT_AGE_DAYS, geoip),
  noticeMs: NOTICE_MS,
  finishDeletions: (writer, options) =>
    finishDeletions(writer, { waitMs: WAIT_MS, noticeMs: NOTICE_MS, ...options }),
})

const CONTEXT = createContext()

export const loadBatch = (writer: Connection, batch: string) =>
  loader.loadBatch(writer, batch, CONTEXT)
export const loadStream = (writer: Connection) => loader.loadStream(writer, CONTEXT)
export const loadWaiting = (writer: Connection, geoip?: Geoip) =>
  loader.loadWaiting(writer, createContext(geoip))
export const resumeLoads = (writer: Connection) => loader.resumeLoads(writer, CONTEXT)
export const finishInterruptedWork = (writer: Connection) =>
  loader.finishInterruptedWork(writer, CONTEXT)

export const startStreamingLoader = (
  options: Omit<streaming.StreamingLoaderOptions, 'context' | 'monitor'> & {
    readonly monitor?: LoaderMonitor
  },
): streaming.StreamingLoader =>
  streaming.startStreamingLoader({ monitor: createLoaderMonitor(), ...options, context: CONTEXT })

export interface ImportOptions extends Omit<options.ImportOptions, 'loader'> {
  readonly geoip?: Geoip | undefined
}
export const importEvents = (
  store: Store,
  source: AsyncIterable<Buffer>,
  { geoip, ...options }: ImportOptions,
) => imports.importEvents(store, source, { ...options, loader: createContext(geoip) })

export const topUpDemo = (target: Store | Cluster, options: Omit<demo.TopUpOptions, 'getLoader'>) =>
  demo.topUpDemo('home' in target ? target : toCluster(target), {
    ...options,
    getLoader: () => CONTEXT,
  })

export const deleteUsers = (
  store: Store,
  projectId: string,
  userIds: readonly string[],
  loader = CONTEXT,
) =>
  userDeletion.deleteUsersFromShards([{ name: 'main', store, loader }], projectId, userIds, {
    check: () => Promise.resolve(),
  })
export const deleteUser = (store: Store, projectId: string, userId: string, loader = CONTEXT) =>
  deleteUsers(store, projectId, [userId], loader)
export const deleteProject = (store: Store, projectId: string, waitMs = WAIT_MS) =>
  projectDeletion.deleteProject(store, projectId, CONTEXT, waitMs)

type Months = Omit<MonthsOptions, 'finishInterruptedWork' | 'changeNoticeMs'>
export const ensureRollups = (store: Store, options: Pick<Months, 'onMonth'> = {}) =>
  ensure(store, { ...options, changeNoticeMs: NOTICE_MS, finishInterruptedWork })
export const rebuildRollups = (writer: Connection, options: Months) =>
  rebuild(writer, { ...options, changeNoticeMs: NOTICE_MS, finishInterruptedWork })
export const checkRollups = (writer: Connection, options: Months) =>
  check(writer, { ...options, finishInterruptedWork })
export const pairLargeProjects = (store: Pick<Store, 'admin' | 'writer'>) =>
  paired.pairLargeProjects(store, { changeNoticeMs: NOTICE_MS, finishInterruptedWork })
